// The scalar model on hand-computed cases: truncation, alignment, special values, rounding.
#include "emulator/tensor/scalar_model.h"

#include "gtest/gtest.h"

#include <bit>
#include <cstdint>
#include <vector>

namespace fp8jit::emulator {
namespace {

constexpr StepRule kF32Rule{
    .groupSize = 16, .fractionBits = 13, .output = StepOutput::F32Truncate13};
constexpr StepRule kF16Rule{.groupSize = 16, .fractionBits = 13, .output = StepOutput::F16Nearest};

// E4M3 codes.
constexpr std::uint32_t kOne = 0x38, kMinusOne = 0xb8, kTwo = 0x40, kNan = 0x7f, kMax = 0x7e;
// E5M2 codes.
constexpr std::uint32_t kOne5 = 0x3c, kInf5 = 0x7c, kMinusInf5 = 0xfc;

struct SpecialCase {
  const char *what;
  std::vector<std::uint32_t> a, b;
  std::uint32_t c, expected;
};

} // namespace

static std::uint32_t bitsOf(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

static std::uint32_t stepE4M3(float c, const std::vector<std::uint32_t> &a,
                              const std::vector<std::uint32_t> &b,
                              const StepRule &rule = kF32Rule) {
  return accumulateStep(bitsOf(c), a, b, MmaFormat::E4M3, MmaFormat::E4M3, rule);
}

TEST(ScalarModelTest, AddsSmallIntegersExactly) {
  EXPECT_EQ(stepE4M3(3.0F, {kOne, kTwo, kMinusOne}, {kTwo, kTwo, kOne}), bitsOf(8.0F));
}

TEST(ScalarModelTest, CutsTheAccumulatorToThirteenFractionBits) {
  const std::vector<std::uint32_t> zeros(16, 0);

  const std::uint32_t d =
      accumulateStep(0x3f8fffff, zeros, zeros, MmaFormat::E4M3, MmaFormat::E4M3, kF32Rule);

  EXPECT_EQ(d, 0x3f8ffc00U);
}

TEST(ScalarModelTest, TruncatesMagnitudesTowardZero) {
  // 2^14 leaves 2^1 as the last bit kept, so that +1 and -1 both vanish.
  EXPECT_EQ(stepE4M3(16384.0F, {kOne}, {kOne}), bitsOf(16384.0F));
  EXPECT_EQ(stepE4M3(16384.0F, {kMinusOne}, {kOne}), bitsOf(16384.0F));
  EXPECT_EQ(stepE4M3(16384.0F, {kTwo}, {kMinusOne}), bitsOf(16382.0F));
}

TEST(ScalarModelTest, AlignsToTheUnnormalisedProductExponent) {
  // 1.75 · 1.75 = 3.0625 has the exponent 0 although it is above 2: 2^-13 survives beside it.
  const std::uint32_t x = 0x3e;                      // 1.75
  const float c = std::bit_cast<float>(0x39000000U); // 2^-13

  const std::uint32_t d =
      stepE4M3(c, {x}, {x}, {.fractionBits = 13, .output = StepOutput::F32Truncate23});

  EXPECT_EQ(d, bitsOf(3.0625F + c));
}

TEST(ScalarModelTest, GivesPositiveZeroForAnExactZero) {
  EXPECT_EQ(stepE4M3(-0.0F, {kOne, kMinusOne}, {kOne, kOne}), 0U);
  EXPECT_EQ(stepE4M3(-0.0F, {0x80}, {kOne}), 0U);
}

TEST(ScalarModelTest, FollowsTheRulesForSpecialValues) {
  const std::uint32_t inf = 0x7f800000;
  const std::uint32_t minusInf = 0xff800000;
  const SpecialCase cases[] = {
      {"inf times one", {kInf5}, {kOne5}, 0, inf},
      {"minus inf times one", {kMinusInf5}, {kOne5}, 0, minusInf},
      {"inf times zero", {kInf5}, {0}, 0, kNanF32},
      {"inf minus inf", {kInf5, kMinusInf5}, {kOne5, kOne5}, 0, kNanF32},
      {"inf product against minus inf accumulator", {kInf5}, {kOne5}, minusInf, kNanF32},
      {"inf accumulator", {kOne5}, {kOne5}, inf, inf},
      {"nan accumulator", {kOne5}, {kOne5}, 0xffc00001, kNanF32},
      {"nan operand", {0x7e}, {0}, 0, kNanF32},
  };
  for (const SpecialCase &test : cases) {
    EXPECT_EQ(accumulateStep(test.c, test.a, test.b, MmaFormat::E5M2, MmaFormat::E5M2, kF32Rule),
              test.expected)
        << test.what;
  }
  EXPECT_EQ(stepE4M3(0.0F, {kNan}, {kOne}), kNanF32);
  EXPECT_EQ(accumulateStep(0, std::vector<std::uint32_t>{kNan}, std::vector<std::uint32_t>{0},
                           MmaFormat::E4M3, MmaFormat::E4M3, kF16Rule),
            kNanF16);
}

TEST(ScalarModelTest, OverflowsToInfinity) {
  const std::vector<std::uint32_t> huge(16, kMax);

  EXPECT_EQ(accumulateStep(0x7f7fffff, huge, huge, MmaFormat::E4M3, MmaFormat::E4M3, kF32Rule),
            0x7f7ffc00U);
  EXPECT_EQ(accumulateStep(0, huge, huge, MmaFormat::E4M3, MmaFormat::E4M3, kF16Rule), 0x7c00U);
}

TEST(ScalarModelTest, RoundsF16ToNearestEven) {
  // 2048 + 1 is a tie in f16 and goes to the even 2048; 2048 + 3 goes up to 2052.
  const std::uint32_t c = 0x6800; // 2048
  const std::vector<std::uint32_t> one{kOne};
  const std::vector<std::uint32_t> three{0x44};

  EXPECT_EQ(accumulateStep(c, one, one, MmaFormat::E4M3, MmaFormat::E4M3, kF16Rule), 0x6800U);
  EXPECT_EQ(accumulateStep(c, three, one, MmaFormat::E4M3, MmaFormat::E4M3, kF16Rule), 0x6802U);
}

TEST(ScalarModelTest, ChainsGroupsInOrderOfK) {
  // The first group leaves 2^14; what the second adds is below the last bit kept.
  std::vector<std::uint32_t> a(32, 0);
  std::vector<std::uint32_t> b(32, 0);
  a[0] = b[0] = 0x70; // 128 · 128 = 2^14
  a[16] = b[16] = kOne;
  a[17] = b[17] = kOne;

  const std::uint32_t d = dotProduct(0, a, b, MmaFormat::E4M3, MmaFormat::E4M3, kF32Rule);

  EXPECT_EQ(d, bitsOf(16384.0F));
}

} // namespace fp8jit::emulator
