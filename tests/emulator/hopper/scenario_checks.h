// What the tests of this folder ask of a scenario.
#pragma once

#include "tests/emulator/hopper/scenario.h"

namespace fp8jit::testing {

/// Runs `ptx` in all modes: no finding, right results.
void expectPasses(const Scenario &scenario, const std::string &ptx);

/// Runs the mutated PTX in the modes in turn until one reports a fault, which must be the expected
/// one; prints the mode.
void expectReported(const Scenario &scenario, const Mutation &mutation);

/// For INSTANTIATE_TEST_SUITE_P.
std::string scenarioName(const ::testing::TestParamInfo<Scenario> &info);

/// What failing parameterised tests print instead of bytes.
void PrintTo(const Scenario &scenario, std::ostream *stream);

} // namespace fp8jit::testing
