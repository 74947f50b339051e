// map_patch.cu: five groups of different size and pitch over two blocks.
#include "tests/emulator/hopper/scenario.h"

namespace fp8jit::testing {

/// What the kernel's Group holds.
struct PatchGroup {
  CUdeviceptr x;
  std::uint32_t rows;
  std::uint32_t pitchBytes;
};

static std::string runMapPatch(Device &device) {
  constexpr std::size_t kColumns = 32;
  const std::vector<std::size_t> rows = {5, 16, 37, 1, 20};
  std::vector<PatchGroup> groups;
  std::vector<float> expected(rows.size() * kColumns);
  for (std::size_t g = 0; g < rows.size(); ++g) {
    const std::size_t pitch = kColumns + 4 * g;
    const std::vector<float> x =
        randomIntegers<float>(rows[g] * pitch, -1000, 1000, static_cast<unsigned>(11 + g));
    for (std::size_t i = 0; i < rows[g] * kColumns; ++i) {
      expected[g * kColumns + i % kColumns] += x[i / kColumns * pitch + i % kColumns];
    }
    groups.push_back({device.upload(x), static_cast<std::uint32_t>(rows[g]),
                      static_cast<std::uint32_t>(pitch * sizeof(float))});
  }
  const CUtensorMap templateMap = device.encode(
      {.address = groups[0].x, .rows = 1, .columns = kColumns, .boxRows = 16, .boxColumns = 32});
  const CUdeviceptr groupArray = device.upload(groups);
  const CUdeviceptr slots = device.upload(std::vector<std::uint8_t>(2 * sizeof(CUtensorMap)));
  const CUdeviceptr sums = device.upload(std::vector<float>(expected.size()));
  const int groupCount = static_cast<int>(groups.size());

  device.launch("mapPatch", {.gridX = 2, .block = 32}, templateMap, groupArray, groupCount, slots,
                sums);

  return firstDifference(device.download<float>(sums, expected.size()), expected);
}

Scenario mapPatchScenario() {
  return {
      "MapPatch",
      "map_patch.ptx",
      runMapPatch,
      {
          operand("mbarrier.init", "full counts the loader", "2", "is in a deadlock",
                  "box is complete"),
          removed("fence.mbarrier_init", "barrier to the async proxy",
                  "no fence.proxy.async or fence.mbarrier_init", "loader copies"),
          removed("tensormap.cp_fenceproxy", "map is published", "finds no tensor map",
                  "loader copies"),
          removed("fence.proxy.tensormap", "map is acquired",
                  "without fence.proxy.tensormap::generic.acquire", "loader copies"),
          operand("expect_tx", "loader expects a box", "2032", "is in a deadlock"),
          operand("expect_tx", "loader expects a box", "2064", "is in a deadlock",
                  "box is complete"),
          removed("cp.async.bulk.tensor", "loader copies", "is in a deadlock", "box is complete"),
          skippedWait("box is complete", "was never written", "lanes read"),
          flippedParity("box is complete", "was never written", "lanes read"),
      },
      {},
  };
}

} // namespace fp8jit::testing
