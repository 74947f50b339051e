// The list of scenarios, and how one is run.
#include "tests/emulator/hopper/scenario.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace fp8jit::testing {

const std::vector<Scenario> &allScenarios() {
  static const std::vector<Scenario> scenarios = {
      bulkRingScenario(),        tileStencilScenario(),  clusterMulticastScenario(),
      gemmCooperativeScenario(), gemmPingPongScenario(), mapPatchScenario(),
      dependentLaunchScenario(), splitKScenario(),       registerOperandScenario(),
  };
  return scenarios;
}

std::string readPtx(const Scenario &scenario) {
  std::ifstream file(std::string(FP8JIT_HOPPER_KERNELS "/") + scenario.file);
  return {std::istreambuf_iterator<char>(file), {}};
}

RunResult runScenario(const Scenario &scenario, const std::string &ptx, const Mode &mode) {
  ::testing::internal::CaptureStderr(); // reports of expected faults
  RunResult result;
  {
    Device device(ptx, mode);
    const std::string difference = scenario.run(device);
    result.status = device.status();
    result.difference = result.status == CUDA_SUCCESS ? difference : "";
  }
  result.report = ::testing::internal::GetCapturedStderr();
  return result;
}

std::uint8_t fp8Code(int value, int mantissaBits) {
  if (value == 0) {
    return 0;
  }
  const int bias = mantissaBits == 3 ? 7 : 15;
  const int exponent = std::ilogb(std::abs(value));
  const int mantissa = (std::abs(value) << mantissaBits >> exponent) - (1 << mantissaBits);
  const int sign = value < 0 ? 0x80 : 0;
  return static_cast<std::uint8_t>(sign | ((exponent + bias) << mantissaBits) | mantissa);
}

std::uint16_t bf16Code(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

} // namespace fp8jit::testing
