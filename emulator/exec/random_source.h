// Reproducible random numbers of one cluster. Main type: RandomSource.
#pragma once

#include <cstdint>

namespace fp8jit::emulator {

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014): the
/// same numbers on every machine.
class RandomSource {
public:
  /// Numbers that depend on the seed of the launch and on the cluster alone.
  void seed(std::uint64_t launchSeed, std::uint64_t cluster) {
    state_ = launchSeed * 0xd1342543de82ef95ULL + cluster;
    next();
  }

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  /// From 0 to `count` - 1; `count` > 0 and far below 2^64.
  std::uint64_t below(std::uint64_t count) { return next() % count; }

private:
  std::uint64_t state_ = 0;
};

} // namespace fp8jit::emulator
