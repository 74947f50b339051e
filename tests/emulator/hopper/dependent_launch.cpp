// dependent_launch.cu: a grid and its programmatic dependent in one stream.
#include "tests/emulator/hopper/scenario.h"

namespace fp8jit::testing {

static std::string runDependentLaunch(Device &device) {
  constexpr int kCount = 1000;
  const std::vector<float> factor = {2, 3, 5, 7};
  std::vector<float> expected(kCount);
  for (int i = 0; i < kCount; ++i) {
    const auto index = static_cast<std::size_t>(i);
    expected[index] = static_cast<float>(kCount - i) * factor[index % 4];
  }
  const CUdeviceptr x = device.upload(std::vector<float>(kCount));
  const CUdeviceptr factors = device.upload(factor);
  const CUdeviceptr y = device.upload(std::vector<float>(kCount));

  device.launch("writeNumbers", {.gridX = 8}, x, kCount);
  device.launch("scaleReversed", {.gridX = 3, .isDependent = true}, x, factors, y, kCount);

  return firstDifference(device.download<float>(y, kCount), expected);
}

Scenario dependentLaunchScenario() {
  return {
      "DependentLaunch",
      "dependent_launch.ptx",
      runDependentLaunch,
      {
          removed("griddepcontrol.wait", "first grid has ended",
                  "which the launch ahead in the stream wrote"),
          removed("bar.sync", "factors are ready", "no barrier orders the two",
                  "first grid has ended"),
      },
      {
          // The dependent grid then starts when the first has ended: slower, and right.
          removed("griddepcontrol.launch_dependents", "dependents may start", ""),
      },
  };
}

} // namespace fp8jit::testing
