// The race checks driven by hand: for each missing edge a sequence that is reported with both lines
// and the edge that is missing, beside its corrected twin.
#include "tests/emulator/exec/race_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fp8jit::emulator::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A report of the access at line `later` against the one at line `earlier`.
auto namesLines(unsigned earlier, unsigned later, const std::string &says) {
  return AllOf(HasSubstr("PTX line " + std::to_string(later) + ": nop"),
               HasSubstr("at PTX line " + std::to_string(earlier) + ": nop"), HasSubstr(says));
}

constexpr std::uint32_t kStage = 1024, kFull = 0, kEmpty = 8; // of memory, of mbarriers

TEST(RaceCheckerTest, ReportsALoadThatNoBarrierOrdersBehindTheStore) {
  RaceBench bench;

  bench.store(bench.warp(0), 10, 64);
  bench.load(bench.warp(1), 11, 64);

  EXPECT_THAT(bench.report(), namesLines(10, 11, "no barrier orders the two"));
  EXPECT_THAT(bench.report(), HasSubstr("shared offset 0x40"));
  EXPECT_THAT(bench.report(), HasSubstr("written by warp 0 (threads 0 to 31)"));
  EXPECT_THAT(bench.report(), HasSubstr("thread (32,0,0)"));
}

TEST(RaceCheckerTest, AcceptsALoadBehindABarrier) {
  RaceBench bench;

  bench.store(bench.warp(0), 10, 64);
  bench.sync({0, 1});
  bench.load(bench.warp(1), 11, 64);

  EXPECT_EQ(bench.report(), "");
}

TEST(RaceCheckerTest, AcceptsLanesOfOneWarp) {
  RaceBench bench;

  bench.store(bench.warp(0), 10, 64);
  bench.load(bench.warp(0), 11, 64);
  bench.store(bench.warp(0), 12, 64);

  EXPECT_EQ(bench.report(), "");
}

TEST(RaceCheckerTest, ReportsAStoreOverAStageThatAnotherWarpStillReads) {
  RaceBench bench;

  bench.store(bench.warp(0), 10, 64);
  bench.sync({0, 1});
  bench.load(bench.warp(1), 11, 64);
  bench.store(bench.warp(0), 12, 64); // the second barrier of the ring is missing

  EXPECT_THAT(bench.report(), namesLines(11, 12, "read by warp 1"));
}

TEST(RaceCheckerTest, AcceptsARingWithBothBarriers) {
  RaceBench bench;

  for (unsigned turn = 0; turn < 3; ++turn) {
    bench.store(bench.warp(0), 10, 64);
    bench.sync({0, 1});
    bench.load(bench.warp(1), 11, 64);
    bench.sync({0, 1});
  }

  EXPECT_EQ(bench.report(), "");
}

TEST(RaceCheckerTest, ReportsTheOneReaderOfManyThatDidNotArrive) {
  RaceBench bench;
  for (unsigned w = 1; w < 8; ++w) {
    bench.load(bench.warp(w), 20 + w, 64);
    bench.race.barrierArrive(bench.warp(w), w == 5 ? 2 : 1);
  }
  bench.race.barrierArrive(bench.warp(0), 1);
  bench.race.barrierClose(bench.blocks[0], 1, {0});

  bench.store(bench.warp(0), 10, 64);

  EXPECT_THAT(bench.report(), namesLines(25, 10, "read by warp 5"));
}

TEST(RaceCheckerTest, ReportsWarpGroupsThatUseDifferentNamedBarriers) {
  RaceBench bench;
  bench.store(bench.warp(0), 10, 64);
  bench.pass(0, 4, 1);

  bench.load(bench.warp(4), 11, 64);
  EXPECT_EQ(bench.report(), "");

  bench.sync({5, 6}, 2); // not the barrier at which warp 0 arrived
  bench.load(bench.warp(5), 12, 64);
  EXPECT_THAT(bench.report(), namesLines(10, 12, "no barrier orders the two"));
}

TEST(RaceCheckerTest, WhatFollowsAnArrivalIsNotReleasedByIt) {
  RaceBench bench;

  bench.race.barrierArrive(bench.warp(0), 1);
  bench.store(bench.warp(0), 10, 64);
  bench.race.barrierArrive(bench.warp(1), 1);
  bench.race.barrierClose(bench.blocks[0], 1, {1});
  bench.load(bench.warp(1), 11, 64);

  EXPECT_THAT(bench.report(), namesLines(10, 11, "no barrier"));
}

TEST(RaceCheckerTest, AcceptsWhatAnExitedWarpDidBeforeABarrierOfTheRest) {
  RaceBench bench;

  bench.store(bench.warp(3), 10, 64);
  bench.race.warpExit(bench.warp(3));
  bench.sync({0, 1});
  bench.load(bench.warp(1), 11, 64);

  EXPECT_EQ(bench.report(), "");
}

TEST(RaceCheckerTest, ReportsACopyOfStoresWithoutProxyFence) {
  RaceBench bench;

  bench.store(bench.warp(0), 10, 256, 16);
  bench.sync({0, 1});
  bench.copyOut(bench.warp(1), 11, 256, 64);

  EXPECT_THAT(bench.report(), namesLines(10, 11, "no fence.proxy.async lies between the two"));
}

TEST(RaceCheckerTest, ReportsAProxyFenceInFrontOfTheStore) {
  RaceBench bench;

  bench.race.fenceAsync(bench.warp(0));
  bench.store(bench.warp(0), 10, 256, 16);
  bench.sync({0, 1});
  bench.multiply(bench.warp(1), 11, 256, 64);

  EXPECT_THAT(bench.report(), namesLines(10, 11, "no fence.proxy.async"));
}

TEST(RaceCheckerTest, AcceptsAProxyFenceOfTheWriterOrOfTheReader) {
  for (const bool isWriter : {true, false}) {
    RaceBench bench;

    bench.store(bench.warp(0), 10, 256, 16);
    if (isWriter) {
      bench.race.fenceAsync(bench.warp(0));
    }
    bench.sync({0, 1});
    if (!isWriter) {
      bench.race.fenceAsync(bench.warp(1));
    }
    bench.copyOut(bench.warp(1), 11, 256, 64);

    EXPECT_EQ(bench.report(), "") << isWriter;
  }
}

TEST(RaceCheckerTest, ReportsACopyOfStoresOfAnotherWarpWithFenceButNoBarrier) {
  RaceBench bench;

  bench.store(bench.warp(0), 10, 256, 16);
  bench.race.fenceAsync(bench.warp(0));
  bench.copyOut(bench.warp(1), 11, 256, 64);

  EXPECT_THAT(bench.report(), namesLines(10, 11, "no barrier orders the two"));
}

TEST(RaceCheckerTest, ReportsAStoreOverACopyThatStillReads) {
  RaceBench bench;

  bench.copyOut(bench.warp(0), 10, 256, 64);
  bench.store(bench.warp(0), 11, 256);

  EXPECT_THAT(bench.report(), namesLines(10, 11, "no cp.async.bulk.wait_group"));
}

TEST(RaceCheckerTest, AWaitForBulkGroupsCoversTheGroupsOfItsOwnLanes) {
  RaceBench bench;
  bench.copyOut(bench.warp(0), 10, 256, 64, 0);
  bench.copyOut(bench.warp(0), 11, 512, 64, 0);
  bench.copyOut(bench.warp(0), 12, 768, 64, 7);

  bench.race.bulkWait(bench.warp(0), 1, 1, true); // lane 0: all but the latest group
  bench.store(bench.warp(0), 20, 256);
  EXPECT_EQ(bench.report(), "");

  bench.store(bench.warp(0), 21, 512);
  bench.store(bench.warp(0), 22, 768);
  EXPECT_THAT(bench.report(), namesLines(11, 21, "bulk"));
  EXPECT_THAT(bench.report(), namesLines(12, 22, "bulk"));
}

TEST(RaceCheckerTest, ReportsALoadOfACopyThatIsNotWaitedFor) {
  RaceBench bench;
  bench.initBarrier(kFull);

  bench.copyIn(bench.warp(0), 10, kStage, 128, kFull);
  bench.load(bench.warp(1), 11, kStage + 32);

  EXPECT_THAT(bench.report(), namesLines(10, 11, "no wait on that mbarrier"));
  EXPECT_THAT(bench.report(), HasSubstr("mbarrier at shared offset 0x0"));
}

TEST(RaceCheckerTest, AcceptsALoadBehindTheWait) {
  RaceBench bench;
  bench.initBarrier(kFull);

  bench.copyIn(bench.warp(0), 10, kStage, 128, kFull);
  bench.complete(kFull);
  bench.leave(bench.warp(1), 12, kFull);
  bench.load(bench.warp(1), 11, kStage + 32);

  EXPECT_EQ(bench.report(), "");
}

TEST(RaceCheckerTest, AWaitForOneStageDoesNotCoverAnother) {
  RaceBench bench;
  bench.initBarrier(kFull);
  bench.initBarrier(kFull + 16);
  bench.copyIn(bench.warp(0), 10, kStage, 128, kFull);
  bench.copyIn(bench.warp(0), 11, kStage + 128, 128, kFull + 16);
  bench.complete(kFull + 16);
  bench.leave(bench.warp(1), 12, kFull + 16);

  bench.multiply(bench.warp(1), 13, kStage + 128, 128);
  EXPECT_EQ(bench.report(), "");

  bench.multiply(bench.warp(1), 14, kStage, 128);
  EXPECT_THAT(bench.report(), namesLines(10, 14, "mbarrier at shared offset 0x0"));
}

/// One turn of a ring: copy, wait, wgmma of four warps, arrivals, refill.
void refill(RaceBench &bench, std::uint64_t pendingGroups) {
  bench.initBarrier(kFull);
  bench.initBarrier(kEmpty);
  bench.copyIn(bench.warp(0), 10, kStage, 256, kFull);
  bench.complete(kFull);
  for (unsigned w = 4; w < 8; ++w) {
    bench.leave(bench.warp(w), 11, kFull);
    bench.multiply(bench.warp(w), 12, kStage, 256);
    bench.multiply(bench.warp(w), 13, kStage + 512, 256);
    bench.race.wgmmaWait(bench.warp(w), pendingGroups);
    bench.arrive(bench.warp(w), 14, kEmpty);
    bench.race.wgmmaWait(bench.warp(w), 0); // too late for the arrival above
  }
  bench.complete(kEmpty);
  bench.leave(bench.warp(0), 15, kEmpty);
  bench.copyIn(bench.warp(0), 16, kStage, 256, kFull);
}

TEST(RaceCheckerTest, ReportsARefillOfAStageThatWgmmaStillReads) {
  RaceBench bench;

  refill(bench, 2);

  EXPECT_THAT(bench.report(), namesLines(12, 16, "no wgmma.wait_group"));
}

TEST(RaceCheckerTest, AcceptsARefillBehindTheWaitForTheGroup) {
  RaceBench bench;

  refill(bench, 1); // the second wgmma reads another stage

  EXPECT_EQ(bench.report(), "");
}

TEST(RaceCheckerTest, ReportsTheOneWarpOfAWarpGroupThatDidNotArrive) {
  RaceBench bench;
  bench.initBarrier(kEmpty);
  for (unsigned w = 4; w < 8; ++w) {
    bench.multiply(bench.warp(w), 12, kStage, 256);
    bench.race.wgmmaWait(bench.warp(w), 0);
    if (w != 6) {
      bench.arrive(bench.warp(w), 14, kEmpty);
    }
  }
  bench.complete(kEmpty);
  bench.leave(bench.warp(0), 15, kEmpty);

  bench.copyIn(bench.warp(0), 16, kStage, 256, kEmpty);

  EXPECT_THAT(bench.report(), namesLines(12, 16, "wgmma"));
}

TEST(RaceCheckerTest, ReportsAStoreOverAnOperandBeforeTheWgmmaWait) {
  RaceBench bench;

  bench.multiply(bench.warp(0), 12, kStage, 256);
  bench.store(bench.warp(0), 13, kStage);
  EXPECT_THAT(bench.report(), namesLines(12, 13, "no wgmma.wait_group"));

  RaceBench corrected;
  corrected.multiply(corrected.warp(0), 12, kStage, 256);
  corrected.race.wgmmaWait(corrected.warp(0), 0);
  corrected.store(corrected.warp(0), 13, kStage);
  EXPECT_EQ(corrected.report(), "");
}

TEST(RaceCheckerTest, ReportsACopyThatOverwritesStoresWithoutProxyFence) {
  RaceBench bench;
  bench.initBarrier(kFull);

  bench.store(bench.warp(0), 10, kStage);
  bench.copyIn(bench.warp(0), 11, kStage, 128, kFull);

  EXPECT_THAT(bench.report(), namesLines(10, 11, "no fence.proxy.async"));
}

TEST(RaceCheckerTest, AcceptsACopyOverBytesThatWereOnlyRead) {
  RaceBench bench;
  bench.initBarrier(kEmpty);

  bench.load(bench.warp(1), 10, kStage);
  bench.arrive(bench.warp(1), 12, kEmpty);
  bench.complete(kEmpty);
  bench.leave(bench.warp(0), 13, kEmpty);
  bench.copyIn(bench.warp(0), 11, kStage, 128, kEmpty);

  EXPECT_EQ(bench.report(), "");
}

} // namespace
} // namespace fp8jit::emulator::testing
