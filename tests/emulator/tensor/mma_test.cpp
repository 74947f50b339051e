// The selected warp functions equal the scalar model bit for bit, whatever the operands.
#include "emulator/tensor/mma.h"
#include "emulator/tensor/scalar_model.h"
#include "emulator/tensor/step_rules.h"
#include "tests/emulator/tensor/warp_harness.h"

#include "gtest/gtest.h"

#include <random>
#include <span>
#include <string>

namespace fp8jit::emulator::testing {
namespace {

struct FormCase {
  const char *name;
  MmaShape shape;
};

void PrintTo(const FormCase &form, std::ostream *out) {
  *out << form.name;
}

constexpr MmaAccumulator kF32 = MmaAccumulator::F32;
constexpr MmaAccumulator kF16 = MmaAccumulator::F16;

constexpr FormCase kFormCases[] = {
    {"E4m3K32F32", {.k = 32, .a = MmaFormat::E4M3, .b = MmaFormat::E4M3, .accumulator = kF32}},
    {"E5m2K32F32", {.k = 32, .a = MmaFormat::E5M2, .b = MmaFormat::E5M2, .accumulator = kF32}},
    {"E4m3E5m2K32F32", {.k = 32, .a = MmaFormat::E4M3, .b = MmaFormat::E5M2, .accumulator = kF32}},
    {"E5m2E4m3K32F32", {.k = 32, .a = MmaFormat::E5M2, .b = MmaFormat::E4M3, .accumulator = kF32}},
    {"E4m3K32F16", {.k = 32, .a = MmaFormat::E4M3, .b = MmaFormat::E4M3, .accumulator = kF16}},
    {"E5m2K32F16", {.k = 32, .a = MmaFormat::E5M2, .b = MmaFormat::E5M2, .accumulator = kF16}},
    {"E4m3K16F32", {.k = 16, .a = MmaFormat::E4M3, .b = MmaFormat::E4M3, .accumulator = kF32}},
    {"E5m2K16F16", {.k = 16, .a = MmaFormat::E5M2, .b = MmaFormat::E5M2, .accumulator = kF16}},
    {"F16K16F32", {.k = 16, .a = MmaFormat::F16, .b = MmaFormat::F16, .accumulator = kF32}},
    {"F16K16F16", {.k = 16, .a = MmaFormat::F16, .b = MmaFormat::F16, .accumulator = kF16}},
    {"Bf16K16F32", {.k = 16, .a = MmaFormat::BF16, .b = MmaFormat::BF16, .accumulator = kF32}},
};

/// What a random problem is made of; each stresses another part of the arithmetic.
enum class Mix { AllCodes, Finite, Narrow, Sparse, Subnormal, Cancelling, SpecialAccumulator };
constexpr Mix kMixes[] = {
    Mix::AllCodes,          Mix::Finite, Mix::Narrow, Mix::Sparse, Mix::Subnormal, Mix::Cancelling,
    Mix::SpecialAccumulator};

class MmaFormTest : public ::testing::TestWithParam<FormCase> {};

/// Random problems with a fixed seed.
class ProblemSource {
public:
  explicit ProblemSource(const MmaShape &shape) : shape_(shape) {}

  WarpProblem next(Mix mix) {
    WarpProblem problem;
    for (auto &row : problem.a) {
      fill(std::span(row), shape_.a, mix);
    }
    for (auto &column : problem.b) {
      fill(std::span(column), shape_.b, mix);
    }
    for (auto &row : problem.c) {
      for (std::uint32_t &value : row) {
        value = accumulator(mix);
      }
    }
    return problem;
  }

private:
  void fill(std::span<std::uint16_t> codes, MmaFormat format, Mix mix) {
    for (std::size_t k = 0; k < static_cast<std::size_t>(shape_.k); ++k) {
      codes[k] = code(format, mix);
      if (mix == Mix::Cancelling && k % 2 == 1) {
        codes[k] = codes[k - 1]; // equal pairs against random signs
      }
    }
  }

  std::uint16_t code(MmaFormat format, Mix mix) {
    const bool isByte = format == MmaFormat::E4M3 || format == MmaFormat::E5M2;
    const std::uint32_t raw = static_cast<std::uint32_t>(random_()) & (isByte ? 0xffU : 0xffffU);
    const std::uint32_t sign = raw & (isByte ? 0x80U : 0x8000U);
    const std::uint32_t infinity = format == MmaFormat::E4M3   ? 0x7fU
                                   : format == MmaFormat::E5M2 ? 0x7cU
                                   : format == MmaFormat::F16  ? 0x7c00U
                                                               : 0x7f80U;
    const std::uint32_t one = format == MmaFormat::E4M3   ? 0x38U
                              : format == MmaFormat::E5M2 ? 0x3cU
                              : format == MmaFormat::F16  ? 0x3c00U
                                                          : 0x3f80U;
    const std::uint32_t finite = (raw & ~sign) % infinity;
    switch (mix) {
    case Mix::AllCodes:
      return static_cast<std::uint16_t>(raw);
    case Mix::Narrow:
    case Mix::Cancelling:
      return static_cast<std::uint16_t>(sign | (one - one / 8 + finite % (one / 4)));
    case Mix::Sparse:
      return static_cast<std::uint16_t>(random_() % 4 == 0 ? sign | finite : sign);
    case Mix::Subnormal:
      return static_cast<std::uint16_t>(sign | finite % (infinity / 16));
    case Mix::Finite:
    case Mix::SpecialAccumulator:
      return static_cast<std::uint16_t>(sign | finite);
    }
    return 0;
  }

  std::uint32_t accumulator(Mix mix) {
    const bool isF32 = shape_.accumulator == kF32;
    const std::uint32_t raw = static_cast<std::uint32_t>(random_());
    if (mix == Mix::SpecialAccumulator || mix == Mix::AllCodes) {
      constexpr std::uint32_t kSpecials[] = {0x7f800000, 0xff800000, 0x7fc00000, 0x80000000,
                                             0x00000001, 0x807fffff, 0x7f7fffff, 0xff7fffff,
                                             0x00800000, 0x7f000000, 0xfeffffff, 0};
      const std::uint32_t special = kSpecials[raw % std::size(kSpecials)];
      const std::uint32_t any = raw % 3 == 0 ? special : static_cast<std::uint32_t>(random_());
      return isF32 ? any : any >> 16;
    }
    if (mix == Mix::Sparse && raw % 2 == 0) {
      return raw % 4 == 0 ? 0 : (isF32 ? 0x80000000U : 0x8000U);
    }
    // Exponents near those of the products: 2^-20 to 2^20 in f32.
    return isF32 ? (raw & 0x807fffffU) | (107U + (raw >> 8) % 41U) << 23 : raw % 0x7c00U;
  }

  MmaShape shape_;
  std::mt19937_64 random_{20240607};
};

} // namespace

static WarpResult scalarResult(const MmaShape &shape, const WarpProblem &problem) {
  const StepRule *rule = findStepRule(shape, "89");
  const auto k = static_cast<std::size_t>(shape.k);
  WarpResult result;
  for (std::size_t row = 0; row < 16; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      result[row][column] =
          dotProduct(problem.c[row][column], std::span(problem.a[row]).first(k),
                     std::span(problem.b[column]).first(k), shape.a, shape.b, *rule);
    }
  }
  return result;
}

TEST_P(MmaFormTest, EqualsTheScalarModelBitForBit) {
  constexpr int kProblemsPerMix = 110; // 11 forms x 7 mixes x 110 x 128 outputs: 1.1 million
  const MmaShape shape = GetParam().shape;
  const MmaFunction function = selectMma(shape, "89");
  ASSERT_NE(function, nullptr);
  ProblemSource source(shape);

  for (const Mix mix : kMixes) {
    for (int i = 0; i < kProblemsPerMix; ++i) {
      const WarpProblem problem = source.next(mix);
      ASSERT_EQ(runWarp(function, shape, problem), scalarResult(shape, problem))
          << "mix " << static_cast<int>(mix) << ", problem " << i;
    }
  }
}

TEST_P(MmaFormTest, PortableCodeEqualsTheScalarModel) {
  const MmaShape shape = GetParam().shape;
  ProblemSource source(shape);

  const WarpProblem problem = source.next(Mix::AllCodes);

  EXPECT_EQ(runWarp(selectPortableMma(shape, "89"), shape, problem), scalarResult(shape, problem));
}

TEST_P(MmaFormTest, MayWriteOverTheAccumulators) {
  const MmaShape shape = GetParam().shape;
  ProblemSource source(shape);
  const WarpProblem problem = source.next(Mix::Finite);
  const MmaFunction function = selectMma(shape, "89");

  EXPECT_EQ(runWarp(function, shape, problem, true), runWarp(function, shape, problem, false));
}

INSTANTIATE_TEST_SUITE_P(Sm89, MmaFormTest, ::testing::ValuesIn(kFormCases),
                         [](const auto &test) { return std::string(test.param.name); });

TEST(SelectMmaTest, KnowsWhatATargetLacks) {
  EXPECT_EQ(selectMma({.k = 8}, "89"), nullptr);
  EXPECT_EQ(selectMma({.n = 16}, "89"), nullptr);
  EXPECT_EQ(selectMma({}, "80"), nullptr);
  EXPECT_EQ(selectMma({.k = 16, .a = MmaFormat::BF16, .b = MmaFormat::F16}, "89"), nullptr);
  EXPECT_EQ(
      selectMma({.k = 16, .a = MmaFormat::BF16, .b = MmaFormat::BF16, .accumulator = kF16}, "89"),
      nullptr);
}

} // namespace fp8jit::emulator::testing
