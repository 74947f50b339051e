// The selected warp functions equal the scalar model bit for bit, whatever the operands.
#include "emulator/tensor/mma.h"
#include "tests/emulator/tensor/form_cases.h"

#include "gtest/gtest.h"

namespace fp8jit::emulator::testing {
namespace {

class MmaFormTest : public ::testing::TestWithParam<FormCase> {};
class MmaInPlaceTest : public ::testing::TestWithParam<FormCase> {};

} // namespace

/// The forms that name C and D apart.
static std::vector<FormCase> mmaForms() {
  std::vector<FormCase> forms = formCases();
  std::erase_if(forms, [](const FormCase &form) { return form.isWgmma(); });
  return forms;
}

TEST_P(MmaFormTest, EqualsTheScalarModel) {
  constexpr int kProblemsPerMix = 12; // mma_million_test.cpp has a million outputs per form
  ProblemSource source(GetParam().shape);

  for (const Mix mix : kMixes) {
    for (int i = 0; i < kProblemsPerMix; ++i) {
      const WarpProblem problem = source.next(mix);
      ASSERT_EQ(selectedResult(GetParam(), problem), scalarResult(GetParam(), problem))
          << "mix " << static_cast<int>(mix) << ", problem " << i;
    }
  }
}

TEST_P(MmaFormTest, PortableCodeEqualsTheScalarModel) {
  ProblemSource source(GetParam().shape);
  const WarpProblem problem = source.next(Mix::AllCodes);

  EXPECT_EQ(selectedResult(GetParam(), problem, true), scalarResult(GetParam(), problem));
}

TEST_P(MmaInPlaceTest, MayWriteOverTheAccumulators) {
  const FormCase form = GetParam();
  ProblemSource source(form.shape);
  const WarpProblem problem = source.next(Mix::Finite);
  const MmaFunction function = selectMma(form.shape, form.arch);

  EXPECT_EQ(runWarp(function, form.shape, problem, true),
            runWarp(function, form.shape, problem, false));
}

INSTANTIATE_TEST_SUITE_P(Forms, MmaInPlaceTest, ::testing::ValuesIn(mmaForms()),
                         [](const auto &test) { return nameOf(test.param); });
INSTANTIATE_TEST_SUITE_P(Forms, MmaFormTest, ::testing::ValuesIn(formCases()),
                         [](const auto &test) { return nameOf(test.param); });

TEST(SelectMmaTest, KnowsWhatATargetLacks) {
  constexpr MmaAccumulator kF16 = MmaAccumulator::F16;
  constexpr MmaFormat kBf16 = MmaFormat::BF16;

  EXPECT_EQ(selectMma({.k = 8}, "89"), nullptr);
  EXPECT_EQ(selectMma({.n = 16}, "89"), nullptr);
  EXPECT_EQ(selectMma({}, "80"), nullptr);
  EXPECT_EQ(selectMma({.k = 16, .a = kBf16, .b = MmaFormat::F16}, "89"), nullptr);
  EXPECT_EQ(selectMma({.k = 16, .a = kBf16, .b = kBf16, .accumulator = kF16}, "89"), nullptr);
  EXPECT_EQ(selectMma({}, "75"), nullptr);
}

TEST(SelectMmaTest, LetsNewTargetsUseTheRulesOfOldOnes) {
  const MmaShape half{.k = 16, .a = MmaFormat::F16, .b = MmaFormat::F16};

  EXPECT_EQ(selectMma(half, "80"), selectMma(half, "89"));
  EXPECT_EQ(selectMma(half, "90a"), selectMma(half, "100a"));
  EXPECT_NE(selectMma(half, "89"), selectMma(half, "90"));
  EXPECT_EQ(selectMma({}, "90"), selectMma({}, "103a"));
}

TEST(SelectWgmmaTest, ServesOnlyTheTargetThatHasIt) {
  const MmaShape shape{.m = 64, .n = 128};

  EXPECT_NE(selectWgmma(shape, "90a"), nullptr);
  EXPECT_EQ(selectWgmma(shape, "90"), nullptr);
  EXPECT_EQ(selectWgmma(shape, "100a"), nullptr);
  EXPECT_EQ(selectWgmma({.m = 64, .n = 12}, "90a"), nullptr);
  EXPECT_EQ(selectWgmma({.m = 64, .n = 264}, "90a"), nullptr);
  EXPECT_EQ(selectWgmma({.m = 64, .n = 8, .k = 16}, "90a"), nullptr);
}

TEST(SelectWgmmaTest, KeepsColumnsApart) {
  const FormCase form{"90a", {.m = 64, .n = 24}};
  ProblemSource source(form.shape);
  std::vector<WarpProblem> columns(3);
  std::vector<WarpResult> expected;
  for (WarpProblem &problem : columns) {
    problem = source.next(Mix::AllCodes); // some blocks go the scalar path
    problem.a = columns[0].a;
    expected.push_back(scalarResult(form, problem));
  }

  EXPECT_EQ(runWarpgroupWarp(selectWgmma(form.shape, "90a"), form.shape, columns), expected);
}

TEST(SelectWgmmaTest, IgnoresTheOldValueUnlessItAccumulates) {
  const FormCase form{"90a", {.m = 64, .n = 8}};
  ProblemSource source(form.shape);
  WarpProblem problem = source.next(Mix::Finite);
  const std::vector<WarpResult> result =
      runWarpgroupWarp(selectWgmma(form.shape, "90a"), form.shape, {problem}, false);
  problem.c = {};

  EXPECT_EQ(result[0], scalarResult(form, problem));
}

} // namespace fp8jit::emulator::testing
