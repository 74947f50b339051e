// Seeded data is the same everywhere and looks as promised.
#include "support/float_formats.h"
#include "tuner/test_data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace fp8jit::testing {

TEST(RandomTest, GivesTheSequenceOfItsAlgorithm) {
  // xoshiro256** after splitmix64 of seed 0, computed with an independent implementation.
  Random random(0);

  EXPECT_EQ(random.next(), 0x99EC5F36CB75F2B4U);
  EXPECT_EQ(random.next(), 0xBF6E1F784956452AU);
  EXPECT_EQ(random.next(), 0x1A5F849D4933E6E0U);
}

TEST(RandomTest, NormalHasMeanZeroAndDeviationOne) {
  Random random(42);
  constexpr int kDraws = 100000;
  double sum = 0;
  double squares = 0;

  for (int i = 0; i < kDraws; ++i) {
    const double value = static_cast<double>(random.normal());
    sum += value;
    squares += value * value;
  }

  // Five standard errors of the mean and of the variance.
  EXPECT_NEAR(sum / kDraws, 0, 5 / std::sqrt(kDraws));
  EXPECT_NEAR(squares / kDraws, 1, 5 * std::sqrt(2.0 / kDraws));
}

TEST(TestMatrixTest, DependsOnShapeAndSeedAlone) {
  EXPECT_EQ(makeTestMatrix(17, 130, 5), makeTestMatrix(17, 130, 5));
  EXPECT_NE(makeTestMatrix(17, 130, 5), makeTestMatrix(17, 130, 6));
  EXPECT_TRUE(makeTestMatrix(0, 130, 5).empty());
  EXPECT_TRUE(makeTestMatrix(17, 0, 5).empty());
}

TEST(TestMatrixTest, HasOutlierChannelsAndBf16Values) {
  constexpr std::int64_t kRows = 256;
  constexpr std::int64_t kCols = 192;

  const std::vector<float> values = makeTestMatrix(kRows, kCols, 7);

  int outliers = 0;
  for (std::int64_t col = 0; col < kCols; ++col) {
    double squares = 0;
    for (std::int64_t row = 0; row < kRows; ++row) {
      const float value = values[static_cast<std::size_t>(row * kCols + col)];
      EXPECT_EQ(decodeBf16(encodeBf16(value)), value);
      squares += static_cast<double>(value) * static_cast<double>(value);
    }
    const double deviation = std::sqrt(squares / kRows);
    outliers += deviation > 8 ? 1 : 0;
    EXPECT_TRUE((deviation > 0.7 && deviation < 1.3) || (deviation > 12 && deviation < 20))
        << "column " << col << ": " << deviation;
  }
  EXPECT_GE(outliers, 1);
  EXPECT_LE(outliers, 4);
}

TEST(TestOperandTest, FillsItsUnits) {
  const TestOperand operand = makeTestOperand(Format::E4M3, ScaleUnit::Block128x128, 130, 260, 3);

  EXPECT_EQ(operand.codes.size(), 130U * 260U);
  ASSERT_EQ(operand.scales.size(), 2U * 3U);
  for (const float scale : operand.scales) {
    EXPECT_GT(scale, 0);
  }
  // The largest value of each unit becomes the largest code.
  EXPECT_EQ(std::count_if(operand.codes.begin(), operand.codes.end(),
                          [](std::uint8_t code) { return (code & 0x7F) == 0x7F; }),
            0);
  EXPECT_GE(std::count_if(operand.codes.begin(), operand.codes.end(),
                          [](std::uint8_t code) { return (code & 0x7F) == 0x7E; }),
            6);
}

TEST(TestOperandTest, TheOperandsOfAProblemDiffer) {
  GemmProblem problem;
  problem.m = problem.n = problem.k = 64;

  const TestOperands operands = makeTestOperands(problem, 9);

  EXPECT_NE(operands.a.codes, operands.b.codes);
  EXPECT_EQ(operands.b.codes,
            makeTestOperand(Format::E4M3, ScaleUnit::Tensor, 64, 64, seedOfB(9)).codes);
}

} // namespace fp8jit::testing
