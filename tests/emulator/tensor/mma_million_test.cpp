// A million outputs of every form: the vector code against the scalar model.
#include "tests/emulator/tensor/form_cases.h"

#include "gtest/gtest.h"

namespace fp8jit::emulator::testing {
namespace {

class MmaMillionTest : public ::testing::TestWithParam<FormCase> {};

} // namespace

TEST_P(MmaMillionTest, EqualsTheScalarModel) {
  constexpr int kOutputs = 16 * 8;
  constexpr int kProblemsPerMix = 1'000'000 / kOutputs / static_cast<int>(std::size(kMixes)) + 1;
  ProblemSource source(GetParam().shape);

  for (const Mix mix : kMixes) {
    for (int i = 0; i < kProblemsPerMix; ++i) {
      const WarpProblem problem = source.next(mix);
      ASSERT_EQ(selectedResult(GetParam(), problem), scalarResult(GetParam(), problem))
          << "mix " << static_cast<int>(mix) << ", problem " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, MmaMillionTest, ::testing::ValuesIn(formCases()),
                         [](const auto &test) { return nameOf(test.param); });

} // namespace fp8jit::emulator::testing
