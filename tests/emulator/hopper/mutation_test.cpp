// All faults of all kernels; and the changes that hardware allows.
#include "tests/emulator/hopper/scenario_checks.h"

namespace fp8jit::testing {
namespace {

class HopperMutationTest : public ::testing::TestWithParam<Scenario> {};

} // namespace

TEST_P(HopperMutationTest, ReportsEveryFault) {
  for (const Mutation &mutation : GetParam().mutations) {
    expectReported(GetParam(), mutation);
  }
}

TEST_P(HopperMutationTest, AllowsWhatHardwareAllows) {
  for (const Mutation &mutation : GetParam().allowed) {
    SCOPED_TRACE(mutation.name());
    expectPasses(GetParam(), mutate(readPtx(GetParam()), mutation));
  }
}

INSTANTIATE_TEST_SUITE_P(All, HopperMutationTest, ::testing::ValuesIn(allScenarios()),
                         scenarioName);

} // namespace fp8jit::testing
