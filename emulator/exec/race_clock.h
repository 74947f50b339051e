// Vector clocks of the race checks. Main types: RaceClock, RaceOrder, RaceStamp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fp8jit::emulator {

/// A point of one component's history: what has happened there up to `clock`. Clocks count from 1
/// and stay at kMaxClock when they reach it, which can only hide races, never invent them.
struct RaceStamp {
  static constexpr std::uint32_t kMaxClock = (1U << 28) - 1;

  std::uint32_t component = 0;
  std::uint32_t clock = 0; ///< 0: nothing
};

/// How far each component's history is known; components that are absent are not known at all.
class RaceClock {
public:
  std::uint32_t at(std::uint32_t component) const {
    return component < ticks_.size() ? ticks_[component] : 0;
  }
  bool covers(const RaceStamp &stamp) const { return at(stamp.component) >= stamp.clock; }
  bool isEmpty() const { return ticks_.empty(); }
  void clear() { ticks_.clear(); }

  /// Knows `stamp` from now on.
  void raise(const RaceStamp &stamp) {
    if (stamp.component >= ticks_.size()) {
      ticks_.resize(stamp.component + 1, 0);
    }
    ticks_[stamp.component] = std::max(ticks_[stamp.component], stamp.clock);
  }

  /// Knows what `other` knows, too.
  void join(const RaceClock &other) {
    const std::size_t count = other.ticks_.size();
    if (ticks_.size() < count) {
      ticks_.resize(count, 0);
    }
    std::uint32_t *to = ticks_.data();
    const std::uint32_t *from = other.ticks_.data();
    for (std::size_t i = 0; i < count; ++i) {
      to[i] = std::max(to[i], from[i]);
    }
  }

private:
  std::vector<std::uint32_t> ticks_;
};

/// What a warp knows, or what waits in a synchronisation object to be acquired.
struct RaceOrder {
  RaceClock all;          ///< C: everything that happens before
  RaceClock asyncVisible; ///< P: the part of it that the async proxy sees

  void join(const RaceOrder &other) {
    all.join(other.all);
    asyncVisible.join(other.asyncVisible);
  }
  void raise(const RaceStamp &stamp) {
    all.raise(stamp);
    asyncVisible.raise(stamp);
  }
  bool isEmpty() const { return all.isEmpty(); }
  void clear() {
    all.clear();
    asyncVisible.clear();
  }
};

} // namespace fp8jit::emulator
