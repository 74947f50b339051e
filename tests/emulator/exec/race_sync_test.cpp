// The edges of the race checks: cp.async, clusters, atomics and flags, initialisation of mbarriers.
#include "tests/emulator/exec/race_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fp8jit::emulator::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kData = 512, kFlag = 1024, kBarrier = 8;

/// cp.async of group `group` into kData by warp 0, line 10.
void issueCopy(RaceBench &bench, std::uint32_t group) {
  const Warp &warp = bench.warp(0);
  bench.race.accessAsync(warp, bench.at(10), bench.race.stampCopy(warp, group), bench.blocks[0],
                         RaceAccess::Write, kData, 16);
}

TEST(RaceCopyTest, NeedsTheWaitAndThenTheBarrier) {
  struct Case {
    bool waits, syncs;
    const char *says;
  };
  for (const Case &tested : {Case{false, true, "no cp.async.wait_group"},
                             Case{true, false, "no cp.async.wait_group"}, Case{true, true, ""}}) {
    RaceBench bench;

    issueCopy(bench, 3);
    if (tested.waits) {
      bench.race.copyWait(bench.warp(0), 4);
    }
    if (tested.syncs) {
      bench.sync({0, 1});
    }
    bench.load(bench.warp(1), 11, kData);

    EXPECT_THAT(bench.report(), HasSubstr(tested.says));
    EXPECT_EQ(bench.report().empty(), *tested.says == '\0');
  }
}

TEST(RaceCopyTest, AWaitThatLeavesTheGroupPendingIsNotEnough) {
  RaceBench bench;

  issueCopy(bench, 3);
  bench.race.copyWait(bench.warp(0), 3);
  bench.load(bench.warp(0), 11, kData);

  EXPECT_THAT(bench.report(), HasSubstr("by the cp.async of warp 0"));
}

TEST(RaceCopyTest, IsOfTheGenericProxy) {
  RaceBench bench;
  issueCopy(bench, 0);
  bench.race.copyWait(bench.warp(0), 1);

  bench.multiply(bench.warp(0), 11, kData, 16);
  EXPECT_THAT(bench.report(), HasSubstr("no fence.proxy.async"));

  RaceBench corrected;
  issueCopy(corrected, 0);
  corrected.race.copyWait(corrected.warp(0), 1);
  corrected.race.fenceAsync(corrected.warp(0));
  corrected.multiply(corrected.warp(0), 11, kData, 16);
  EXPECT_EQ(corrected.report(), "");
}

TEST(RaceCopyTest, AnMbarrierMayTrackIt) {
  RaceBench bench;
  bench.initBarrier(kBarrier);

  issueCopy(bench, 0);
  bench.race.mbarrierArriveCopies(bench.warp(0), bench.blocks[0], kBarrier, 0);
  bench.complete(kBarrier);
  bench.leave(bench.warp(1), 11, kBarrier);
  bench.load(bench.warp(1), 12, kData);

  EXPECT_EQ(bench.report(), "");
}

TEST(RaceClusterTest, APeersMemoryNeedsTheClusterBarrier) {
  const std::uint32_t offset = kData;
  struct Case {
    bool syncs;
    Semantics semantics;
    const char *says;
  };
  for (const Case &tested : {Case{false, Semantics::None, "of block rank 1 at PTX line 10"},
                             Case{true, Semantics::Relaxed, "of block rank 1 at PTX line 10"},
                             Case{true, Semantics::None, ""}}) {
    RaceBench bench;

    bench.race.access(bench.warp(2, 1), bench.at(10), bench.blocks[0], RaceAccess::Write, &offset,
                      1, 4);
    if (tested.syncs) {
      bench.syncCluster(tested.semantics);
    }
    bench.load(bench.warp(0), 11, kData);

    EXPECT_THAT(bench.report(), HasSubstr(tested.says));
    EXPECT_EQ(bench.report().empty(), *tested.says == '\0');
  }
}

TEST(RaceClusterTest, ABarrierOfOneBlockDoesNotOrderAnother) {
  RaceBench bench;
  const std::uint32_t offset = kData;

  bench.race.access(bench.warp(0, 1), bench.at(10), bench.blocks[0], RaceAccess::Write, &offset, 1,
                    4);
  bench.sync({0, 1}, 0, 1);
  bench.sync({0, 1}, 0, 0);
  bench.load(bench.warp(0), 11, kData);

  EXPECT_THAT(bench.report(), HasSubstr("no barrier orders the two"));
}

TEST(RaceMbarrierTest, ItsInitialisationHasToBeVisible) {
  RaceBench bench;
  bench.race.mbarrierInit(bench.warp(0), bench.at(10), bench.blocks[0], kBarrier);

  bench.arrive(bench.warp(1), 11, kBarrier);
  EXPECT_THAT(bench.report(), HasSubstr("initialised at PTX line 10: nop, and no barrier"));
}

TEST(RaceMbarrierTest, ARelaxedClusterArrivalPublishesItBehindItsFence) {
  for (const bool hasFence : {false, true}) {
    RaceBench bench;
    bench.race.mbarrierInit(bench.warp(0, 1), bench.at(10), bench.blocks[1], kBarrier);
    if (hasFence) {
      bench.race.fenceMbarrierInit(bench.warp(0, 1));
    }
    bench.syncCluster(Semantics::Relaxed);

    bench.race.mbarrierArrive(bench.warp(0), bench.at(11), bench.blocks[1], kBarrier,
                              Semantics::None);

    EXPECT_EQ(bench.report().empty(), hasFence) << bench.report();
  }
}

TEST(RaceMbarrierTest, CopiesNeedAFenceBehindItsInitialisation) {
  for (const bool hasFence : {false, true}) {
    RaceBench bench;
    bench.race.mbarrierInit(bench.warp(0), bench.at(10), bench.blocks[0], kBarrier);
    if (hasFence) {
      bench.race.fenceAsync(bench.warp(0));
    }
    bench.sync({0, 1});

    bench.copyIn(bench.warp(1), 11, kData, 16, kBarrier);

    EXPECT_EQ(bench.report().empty(), hasFence);
    EXPECT_THAT(bench.report(), HasSubstr(hasFence ? "" : "no fence.proxy.async or fence.mbarr"));
  }
}

TEST(RaceMbarrierTest, ARelaxedArrivalReleasesNothing) {
  RaceBench bench;
  bench.initBarrier(kBarrier);

  bench.store(bench.warp(0), 10, kData);
  bench.race.mbarrierArrive(bench.warp(0), bench.at(11), bench.blocks[0], kBarrier,
                            Semantics::Relaxed);
  bench.complete(kBarrier);
  bench.leave(bench.warp(1), 12, kBarrier);
  bench.load(bench.warp(1), 13, kData);

  EXPECT_THAT(bench.report(), HasSubstr("at PTX line 10"));
}

TEST(RaceMbarrierTest, AnArrivalInTheNextPhaseIsNotObservedYet) {
  RaceBench bench;
  bench.initBarrier(kBarrier);

  bench.arrive(bench.warp(0), 10, kBarrier);
  bench.complete(kBarrier);
  bench.store(bench.warp(0), 11, kData);
  bench.arrive(bench.warp(0), 12, kBarrier);
  bench.leave(bench.warp(1), 13, kBarrier); // of the first phase
  bench.load(bench.warp(1), 14, kData);

  EXPECT_THAT(bench.report(), HasSubstr("at PTX line 11"));
}

/// Data, then a flag by `write`; `read` of the flag, then the data. Empty if that is in order.
std::string handOver(Semantics write, Semantics read, bool writerFence, bool readerFence) {
  RaceBench bench;
  const std::uint64_t flag = RaceChecker::sharedKey(bench.blocks[0], kFlag);
  bench.store(bench.warp(0), 10, kData);
  if (writerFence) {
    bench.race.fence(bench.warp(0), Semantics::AcqRel);
  }
  bench.access(bench.warp(0), 11, RaceAccess::Update, kFlag);
  bench.race.atomicWrite(bench.warp(0), flag, write, false);
  bench.access(bench.warp(1), 12, RaceAccess::StrongRead, kFlag);
  bench.race.atomicRead(bench.warp(1), flag, read);
  if (readerFence) {
    bench.race.fence(bench.warp(1), Semantics::AcqRel);
  }
  bench.load(bench.warp(1), 13, kData);
  return bench.report();
}

TEST(RaceFlagTest, AFlagOrdersWithReleaseAndAcquireOrWithFences) {
  EXPECT_EQ(handOver(Semantics::Release, Semantics::Acquire, false, false), "");
  EXPECT_EQ(handOver(Semantics::Relaxed, Semantics::Relaxed, true, true), "");
  EXPECT_EQ(handOver(Semantics::Release, Semantics::Volatile, false, true), "");
  EXPECT_EQ(handOver(Semantics::Relaxed, Semantics::Acquire, true, false), "");
}

TEST(RaceFlagTest, AFlagWithoutThemDoesNot) {
  EXPECT_THAT(handOver(Semantics::Relaxed, Semantics::Acquire, false, false),
              HasSubstr("PTX line 13: nop"));
  EXPECT_THAT(handOver(Semantics::Release, Semantics::Relaxed, false, false),
              HasSubstr("PTX line 13: nop"));
  EXPECT_THAT(handOver(Semantics::Volatile, Semantics::Volatile, true, false),
              HasSubstr("at PTX line 10: nop"));
}

TEST(RaceFlagTest, UpdatesGoOnWithWhatEarlierOnesPublished) {
  RaceBench bench;
  const std::uint64_t counter = 0x7000;
  bench.store(bench.warp(0), 10, kData);
  bench.race.atomicWrite(bench.warp(0), counter, Semantics::Release, true);
  bench.race.atomicRead(bench.warp(1), counter, Semantics::None);
  bench.race.atomicWrite(bench.warp(1), counter, Semantics::None, true);

  bench.race.atomicRead(bench.warp(2), counter, Semantics::Acquire);
  bench.load(bench.warp(2), 11, kData);

  EXPECT_EQ(bench.report(), "");
}

TEST(RaceFlagTest, AtomicsDoNotRaceButAnOrdinaryAccessDoes) {
  RaceBench bench;
  bench.access(bench.warp(0), 10, RaceAccess::Update, kData);
  bench.access(bench.warp(1), 11, RaceAccess::Update, kData);
  bench.access(bench.warp(2), 12, RaceAccess::StrongRead, kData);
  EXPECT_EQ(bench.report(), "");

  bench.load(bench.warp(1), 13, kData);

  EXPECT_THAT(bench.report(), HasSubstr("updated by warp 0"));
}

} // namespace
} // namespace fp8jit::emulator::testing
