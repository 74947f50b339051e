// A kernel with its inputs, its expected results and the faults that the emulator must find in it.
// Main type: Scenario.
#pragma once

#include "tests/emulator/hopper/device.h"
#include "tests/emulator/hopper/mutation.h"

#include <random>
#include <string>
#include <vector>

namespace fp8jit::testing {

struct Scenario {
  /// Letters, for names of tests.
  const char *name;
  /// Its PTX in kernels/.
  const char *file;
  /// Uploads inputs, launches, and compares with results computed on the host by the definition:
  /// returns the first difference or nothing. Of no meaning if the device failed.
  std::string (*run)(Device &device);
  std::vector<Mutation> mutations;
  /// Mutations that hardware allows, or that no check can see: the comment at each says why. They
  /// pass in every mode.
  std::vector<Mutation> allowed;
};

/// All of them, in the order of the README.
const std::vector<Scenario> &allScenarios();

Scenario bulkRingScenario();
Scenario tileStencilScenario();
Scenario clusterMulticastScenario();
Scenario gemmCooperativeScenario();
Scenario gemmPingPongScenario();
Scenario mapPatchScenario();
Scenario dependentLaunchScenario();
Scenario splitKScenario();
Scenario registerOperandScenario();

/// The PTX of a scenario.
std::string readPtx(const Scenario &scenario);

/// What a run did.
struct RunResult {
  CUresult status = CUDA_SUCCESS;
  std::string report;     ///< what the emulator printed: findings, or why the run failed
  std::string difference; ///< of the results; empty if they are right or the run failed
};

/// Runs `ptx` as the kernels of a scenario.
RunResult runScenario(const Scenario &scenario, const std::string &ptx, const Mode &mode);

/// `count` whole numbers from `low` to `high`, as T.
template <typename T>
std::vector<T> randomIntegers(std::size_t count, int low, int high, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<T> values(count);
  for (T &value : values) {
    const unsigned span = static_cast<unsigned>(high - low + 1);
    value = static_cast<T>(low + static_cast<int>(generator() % span));
  }
  return values;
}

/// The code of a whole number from -8 to 8 as E4M3 or E5M2 (`mantissaBits` 3 or 2); exact.
std::uint8_t fp8Code(int value, int mantissaBits);
/// The code of `value` in bf16, rounded to nearest even; not for NaN.
std::uint16_t bf16Code(float value);

} // namespace fp8jit::testing
