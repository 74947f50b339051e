// The parts of a tuning run that need no device.
#include "generator/problem_text.h"
#include "tuner/tuning.h"

#include <gtest/gtest.h>

namespace fp8jit::testing {

TEST(ChooseFastestTest, TakesTheFastest) {
  EXPECT_EQ(chooseFastest({30, 10, 20}, 0.01), 1);
  EXPECT_EQ(chooseFastest({0, 0, 5}, 0.01), 2);
}

TEST(ChooseFastestTest, TakesTheBetterRankWithinTheTieBand) {
  EXPECT_EQ(chooseFastest({100.9, 100, 99.95}, 0.01), 0);
  EXPECT_EQ(chooseFastest({102, 100.5, 100}, 0.01), 1);
}

TEST(ChooseFastestTest, FindsNothingWhereNothingWasTimed) {
  EXPECT_EQ(chooseFastest({}, 0.01), -1);
  EXPECT_EQ(chooseFastest({0, 0}, 0.01), -1);
}

TEST(MedianTest, OfOddEvenAndNoValues) {
  EXPECT_EQ(medianOf({3, 1, 2}), 2);
  EXPECT_EQ(medianOf({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(medianOf({}), 0);
}

TEST(ReasonAgainstTest, NamesSpillsAndAdvisories) {
  StoredBinary binary;
  binary.entries = {{.name = "gemm"}};
  EXPECT_EQ(reasonAgainst(binary), "");

  binary.log = "ptxas info    : (C7504) Potential Performance Loss: something\n";
  EXPECT_NE(reasonAgainst(binary).find("Potential Performance Loss"), std::string::npos)
      << reasonAgainst(binary);

  binary.entries[0].spillBytes = 8;
  EXPECT_EQ(reasonAgainst(binary), "gemm spills 8 bytes of registers");
}

TEST(TrialSizesTest, StayInTheBucketAndHaveARemainder) {
  const std::pair<std::int64_t, std::int64_t> expected[] = {
      {1, 1}, {2, 2}, {3, 3}, {8, 7}, {16, 13}, {64, 59}, {128, 123}, {256, 251}, {4096, 273}};
  for (const auto &[m, checkM] : expected) {
    GemmProblem problem;
    problem.m = m;
    problem.n = problem.k = 128;

    const TrialSizes sizes = trialSizes(problem, 1 << 30, 1 << 30);

    EXPECT_EQ(sizes.checkM, checkM) << m;
    EXPECT_EQ(sizes.timeM, bucketUpperEdge(m)) << m;
  }
}

TEST(TrialSizesTest, ShrinkForLargeProblems) {
  GemmProblem problem;
  problem.m = 1 << 20;
  problem.n = problem.k = 16384;

  const TrialSizes sizes = trialSizes(problem, 1 << 30, 64 << 20);

  EXPECT_EQ(sizes.checkM, 19);
  EXPECT_GE(sizes.timeM, sizes.checkM);
  EXPECT_LE(sizes.timeM * (problem.k + 4 * problem.n), 64 << 20);
}

} // namespace fp8jit::testing
