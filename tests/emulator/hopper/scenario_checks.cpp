// Runs of a scenario in all modes.
#include "tests/emulator/hopper/scenario_checks.h"

#include <cstdio>
#include <ostream>

namespace fp8jit::testing {

void expectPasses(const Scenario &scenario, const std::string &ptx) {
  ASSERT_FALSE(ptx.empty()) << scenario.file << ": no such file, or no such site";
  for (const Mode &mode : allModes()) {
    SCOPED_TRACE(mode.name());
    const RunResult result = runScenario(scenario, ptx, mode);
    ASSERT_EQ(result.status, CUDA_SUCCESS) << result.report;
    EXPECT_EQ(result.report, "");
    EXPECT_EQ(result.difference, "");
  }
}

void expectReported(const Scenario &scenario, const Mutation &mutation) {
  SCOPED_TRACE(mutation.name());
  const std::string ptx = mutate(readPtx(scenario), mutation);
  ASSERT_FALSE(ptx.empty()) << "the site or the instruction is not in " << scenario.file;
  for (const Mode &mode : allModes()) {
    const RunResult result = runScenario(scenario, ptx, mode);
    if (result.status == CUDA_SUCCESS) {
      continue;
    }
    const std::string &site = mutation.at.empty() ? mutation.site : mutation.at;
    EXPECT_NE(result.report.find(mutation.found), std::string::npos)
        << "expected '" << mutation.found << "', found " << result.report;
    EXPECT_TRUE(namesSite(result.report, ptx, site))
        << "expected a line of '" << site << "', found " << result.report;
    std::printf("%s: %s: %s\n", scenario.name, mutation.name().c_str(), mode.name().c_str());
    return;
  }
  ADD_FAILURE() << "not reported in any mode";
}

std::string scenarioName(const ::testing::TestParamInfo<Scenario> &info) {
  return info.param.name;
}

void PrintTo(const Scenario &scenario, std::ostream *stream) {
  *stream << scenario.name;
}

} // namespace fp8jit::testing
