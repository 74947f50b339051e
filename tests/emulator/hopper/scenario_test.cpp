// Every kernel passes in every mode, and a sample of its faults is reported.
#include "tests/emulator/hopper/scenario_checks.h"

namespace fp8jit::testing {
namespace {

class HopperKernelTest : public ::testing::TestWithParam<Scenario> {};

/// Every how many-th mutation is in the sample.
constexpr std::size_t kSampleStep = 5;

} // namespace

TEST_P(HopperKernelTest, PassesInEveryMode) {
  expectPasses(GetParam(), readPtx(GetParam()));
}

TEST_P(HopperKernelTest, ReportsASampleOfItsFaults) {
  const Scenario &scenario = GetParam();

  for (std::size_t i = 0; i < scenario.mutations.size(); i += kSampleStep) {
    expectReported(scenario, scenario.mutations[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(All, HopperKernelTest, ::testing::ValuesIn(allScenarios()), scenarioName);

} // namespace fp8jit::testing
