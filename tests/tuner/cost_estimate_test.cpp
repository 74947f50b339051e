// The estimate against the worked example that its formulas come with, and its sense of direction.
#include "tuner/cost_estimate.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace fp8jit::testing {

static const GpuProfile &l40s() {
  return *findProfileByArch("89");
}

static GemmProblem gemmOf(std::int64_t m, std::int64_t n, std::int64_t k) {
  GemmProblem problem;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  return problem;
}

static GemmConfig tile128() {
  return {
      .tileM = 128, .tileN = 128, .tileK = 128, .warpsM = 2, .warpsN = 4, .stages = 3, .groupM = 8};
}

TEST(CostEstimateTest, ReproducesTheWorkedExampleOfAnL40S) {
  // 1024 x 4096 x 4096 with 128x128x128, 3 stages, 256 threads at 2.3 GHz; times in microseconds.
  const CostEstimate cost = estimateCost(gemmOf(1024, 4096, 4096), tile128(), l40s());

  EXPECT_EQ(cost.tiles, 256);
  EXPECT_EQ(cost.kBlocks, 32);
  EXPECT_EQ(cost.waves, 2);
  EXPECT_EQ(cost.mmaCycles, 2560);
  EXPECT_NEAR(cost.promotionCycles, 41, 0.5);
  EXPECT_EQ(cost.smemCycles, 896);
  // The published L2 efficiency is rounded to two digits.
  EXPECT_NEAR(cost.l2Cycles, 2432, 0.01 * 2432);
  EXPECT_NEAR(cost.stepCycles, 2601, 1);
  EXPECT_NEAR(cost.computeNs / 1000, 74.6, 0.01 * 74.6);
  EXPECT_NEAR(cost.dramNs / 1000, 38.4, 0.01 * 38.4);
  EXPECT_NEAR(cost.totalNs / 1000, 81.6, 0.01 * 81.6);
}

TEST(CostEstimateTest, DoesNotFallWhenTheProblemGrows) {
  for (const Config &config : candidateConfigs(gemmOf(512, 1024, 1024), l40s())) {
    for (const GemmProblem &small :
         {gemmOf(64, 512, 512), gemmOf(512, 1024, 1024), gemmOf(2048, 4096, 7168)}) {
      const double before = estimateCost(small, config, l40s()).totalNs;
      GemmProblem taller = small;
      taller.m += 256;
      GemmProblem wider = small;
      wider.n += 256;
      GemmProblem deeper = small;
      deeper.k += 256;

      for (const GemmProblem &larger : {taller, wider, deeper}) {
        EXPECT_GE(estimateCost(larger, config, l40s()).totalNs, before)
            << printConfig(config) << ": m " << small.m << " to " << larger.m << ", n " << small.n
            << " to " << larger.n << ", k " << small.k << " to " << larger.k;
      }
    }
  }
}

TEST(CostEstimateTest, HalfTheSmsAreNeverFasterThanTheLastWaveExplains) {
  GpuProfile half = l40s();
  half.smCount /= 2;

  for (const Config &config : candidateConfigs(gemmOf(1024, 4096, 4096), l40s())) {
    EXPECT_LE(estimateCost(gemmOf(1024, 4096, 4096), config, l40s()).totalNs,
              1.05 * estimateCost(gemmOf(1024, 4096, 4096), config, half).totalNs)
        << printConfig(config);
  }
}

TEST(CostEstimateTest, PrefersLowTilesForFewRows) {
  const GemmProblem problem = gemmOf(16, 4096, 4096);

  const std::vector<RankedConfig> ranked =
      rankConfigs(problem, candidateConfigs(problem, l40s()), l40s());

  EXPECT_LE(std::get<GemmConfig>(ranked.front().config).tileM, 32);
}

TEST(CostEstimateTest, PrefersLargeTilesForLargeProblems) {
  const GemmProblem problem = gemmOf(8192, 8192, 8192);

  const std::vector<RankedConfig> ranked =
      rankConfigs(problem, candidateConfigs(problem, l40s()), l40s());

  const auto &best = std::get<GemmConfig>(ranked.front().config);
  EXPECT_GE(best.tileM * best.tileN, 128 * 128) << printConfig(best);
}

TEST(RankConfigsTest, SortsByEstimateAndKeepsAll) {
  const GemmProblem problem = gemmOf(300, 1536, 384);
  const std::vector<Config> configs = candidateConfigs(problem, l40s());

  const std::vector<RankedConfig> ranked = rankConfigs(problem, configs, l40s());

  ASSERT_EQ(ranked.size(), configs.size());
  EXPECT_TRUE(std::is_sorted(
      ranked.begin(), ranked.end(),
      [](const RankedConfig &a, const RankedConfig &b) { return a.modelNs < b.modelNs; }));
  for (const Config &config : configs) {
    EXPECT_EQ(std::count_if(ranked.begin(), ranked.end(),
                            [&](const RankedConfig &other) { return other.config == config; }),
              1);
  }
}

TEST(CostEstimateTest, QuantizationIsAtLeastAsSlowAsItsTraffic) {
  QuantProblem problem;
  problem.m = 4096;
  problem.n = 7168;
  for (const ScaleUnit unit :
       {ScaleUnit::Tensor, ScaleUnit::Row, ScaleUnit::Block1x128, ScaleUnit::Block128x128}) {
    problem.s = unit;
    const double reads = unit == ScaleUnit::Tensor ? 2 : 1;
    const double bytes = 4096.0 * 7168.0 * (2 * reads + 1);
    for (const Config &config : candidateConfigs(problem, l40s())) {
      const double time = estimateCost(problem, config, l40s()).totalNs;

      EXPECT_GT(time, bytes / l40s().dramBytesPerNs) << printConfig(config);
      EXPECT_LT(time, 20 * bytes / l40s().dramBytesPerNs) << printConfig(config);
    }
  }
}

} // namespace fp8jit::testing
