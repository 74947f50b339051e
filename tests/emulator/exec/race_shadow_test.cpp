// The shadow of shared memory against a model that keeps every access of every byte.
#include "emulator/exec/race_shadow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

namespace fp8jit::emulator::testing {
namespace {

constexpr std::uint32_t kActors = 6, kBytes = 48;

struct KeptAccess {
  RaceStamp stamp;
  RaceAccess kind = RaceAccess::Read;
};

/// All accesses of each byte, and the rule of conflicts as the PTX ISA has it.
class ModelShadow {
public:
  /// The verdicts that an access of one byte may get; empty if it is in order.
  std::vector<RaceVerdict> judge(std::uint32_t byte, RaceAccess kind, const RaceOrder &order,
                                 bool isAsync) const {
    std::vector<RaceVerdict> verdicts;
    for (const KeptAccess &kept : bytes_[byte]) {
      const bool isKeptWeak = kept.kind == RaceAccess::Read || kept.kind == RaceAccess::Write;
      const bool isWeak = kind == RaceAccess::Read || kind == RaceAccess::Write;
      const bool wrote = kept.kind == RaceAccess::Write || kept.kind == RaceAccess::Update;
      const bool writes = kind == RaceAccess::Write || kind == RaceAccess::Update;
      if ((!wrote && !writes) || (!isKeptWeak && !isWeak)) {
        continue;
      }
      if (!order.all.covers(kept.stamp)) {
        verdicts.push_back(RaceVerdict::Unordered);
      } else if (isAsync && wrote && !order.asyncVisible.covers(kept.stamp)) {
        verdicts.push_back(RaceVerdict::NoProxyFence);
      }
    }
    return verdicts;
  }
  void keep(std::uint32_t byte, const KeptAccess &access) { bytes_[byte].push_back(access); }

private:
  std::array<std::vector<KeptAccess>, kBytes> bytes_;
};

/// Random accesses and edges of kActors actors until the first conflict.
class RandomRun {
public:
  explicit RandomRun(std::uint32_t seed) : random_(seed) {
    shadow_.reset(kBytes);
    for (std::uint32_t actor = 0; actor < kActors; ++actor) {
      self_[actor] = {.component = actor, .clock = 1};
      orders_[actor].all.raise(self_[actor]);
    }
  }

  /// Whether a conflict was found; fails where the shadow and the model differ.
  bool step() {
    const std::uint32_t actor = pick(kActors);
    switch (pick(8)) {
    case 0:
    case 1: // publish
      object_.join(orders_[actor]);
      ++self_[actor].clock;
      orders_[actor].all.raise(self_[actor]);
      return false;
    case 2:
    case 3:
    case 4: // acquire
      orders_[actor].join(object_);
      return false;
    case 5: // proxy fence
      orders_[actor].asyncVisible.join(orders_[actor].all);
      return false;
    default:
      return access(actor);
    }
  }

private:
  std::uint32_t pick(std::uint32_t count) { return static_cast<std::uint32_t>(random_() % count); }

  bool access(std::uint32_t actor) {
    const auto kind = static_cast<RaceAccess>(pick(4));
    const std::uint32_t size = 1U << pick(6);
    const std::uint32_t offset = pick(kBytes / std::min(size, 16U)) * std::min(size, 16U);
    const std::uint32_t bytes = std::min(size, kBytes - offset);
    // The first actors are warps, the last two stand for asynchronous work that is seen at once.
    const bool isAsync = actor >= kActors - 2;
    RaceProbe probe{
        .record = RaceRecord(self_[actor], kind, 7), .order = &orders_[actor], .isAsync = isAsync};
    std::vector<RaceVerdict> expected;
    for (std::uint32_t byte = offset; byte < offset + bytes; ++byte) {
      for (const RaceVerdict verdict : model_.judge(byte, kind, orders_[actor], isAsync)) {
        expected.push_back(verdict);
      }
      model_.keep(byte, {.stamp = self_[actor], .kind = kind});
    }
    shadow_.accessRange(offset, bytes, probe);
    if (expected.empty()) {
      EXPECT_EQ(probe.verdict, RaceVerdict::Ordered);
    } else {
      EXPECT_NE(std::find(expected.begin(), expected.end(), probe.verdict), expected.end());
      EXPECT_GE(probe.offset, offset / 16 * 16);
      EXPECT_LT(probe.offset, offset + bytes);
    }
    return !expected.empty() || probe.verdict != RaceVerdict::Ordered;
  }

  std::mt19937 random_;
  RaceShadow shadow_;
  ModelShadow model_;
  RaceOrder object_;
  std::array<RaceOrder, kActors> orders_;
  std::array<RaceStamp, kActors> self_;
};

TEST(RaceShadowTest, FindsTheFirstConflictThatAModelOfAllAccessesFinds) {
  unsigned conflicts = 0;
  unsigned steps = 0;
  for (std::uint32_t seed = 1; seed <= 4000 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    RandomRun run(seed);
    bool isDone = false;
    for (unsigned i = 0; i < 400 && !isDone; ++i, ++steps) {
      isDone = run.step();
    }
    conflicts += isDone ? 1 : 0;
  }

  EXPECT_GT(conflicts, 1000U);
  EXPECT_GT(steps, 40'000U);
}

TEST(RaceShadowTest, NeighbouringBytesOfDifferentWarpsDoNotConflict) {
  RaceShadow shadow;
  shadow.reset(16);
  std::array<RaceOrder, 2> orders;
  RaceProbe first{.record = RaceRecord({.component = 0, .clock = 1}, RaceAccess::Write, 1),
                  .order = &orders[0]};
  RaceProbe second{.record = RaceRecord({.component = 4, .clock = 1}, RaceAccess::Write, 2),
                   .order = &orders[1]};
  RaceProbe both{.record = RaceRecord({.component = 4, .clock = 1}, RaceAccess::Read, 3),
                 .order = &orders[1]};
  orders[1].all.raise({.component = 4, .clock = 1});

  shadow.access(0, 0b0001, first);
  shadow.access(0, 0b0010, second);
  EXPECT_EQ(second.verdict, RaceVerdict::Ordered);

  shadow.access(0, 0b1111, both);
  EXPECT_EQ(both.verdict, RaceVerdict::Unordered);
  EXPECT_EQ(both.offset, 0U);
  EXPECT_EQ(both.earlier.pc(), 1U);
}

TEST(RaceRecordTest, PacksItsParts) {
  const RaceRecord record({.component = 4095 * 4 + 3, .clock = RaceStamp::kMaxClock},
                          RaceAccess::Update, 123456);

  EXPECT_EQ(record.firstComponent(), 4095U * 4);
  EXPECT_EQ(record.mask(), 8U);
  EXPECT_EQ(record.clock(), RaceStamp::kMaxClock);
  EXPECT_EQ(record.kind(), RaceAccess::Update);
  EXPECT_EQ(record.pc(), 123456U);
  EXPECT_EQ(RaceRecord({.component = 0, .clock = 1}, RaceAccess::Read, 1 << 20).pc(),
            RaceRecord::kMaxPc);
}

} // namespace
} // namespace fp8jit::emulator::testing
