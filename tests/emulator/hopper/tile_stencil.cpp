// tile_stencil.cu: a matrix whose size is no multiple of the tiles, in rows with padding.
#include "tests/emulator/hopper/scenario.h"

namespace fp8jit::testing {

static constexpr int kStencilRows = 19, kStencilColumns = 42, kStencilPitch = 48;

static float at(const std::vector<float> &x, int row, int column) {
  const bool isInside = row >= 0 && row < kStencilRows && column >= 0 && column < kStencilColumns;
  return isInside ? x[static_cast<std::size_t>(row * kStencilPitch + column)] : 0;
}

static std::string runTileStencil(Device &device) {
  constexpr float kUntouched = -77;
  const std::vector<float> x = randomIntegers<float>(kStencilRows * kStencilPitch, -1000, 1000, 2);
  std::vector<float> expected(kStencilRows * kStencilPitch, kUntouched);
  for (int r = 0; r < kStencilRows; ++r) {
    for (int c = 0; c < kStencilColumns; ++c) {
      expected[static_cast<std::size_t>(r * kStencilPitch + c)] =
          at(x, r - 1, c) + at(x, r + 1, c) + at(x, r, c - 1) + at(x, r, c + 1);
    }
  }
  MatrixMap matrix = {.address = device.upload(x),
                      .rows = kStencilRows,
                      .columns = kStencilColumns,
                      .pitchBytes = kStencilPitch * 4,
                      .boxRows = 10,
                      .boxColumns = 32,
                      .swizzle = CU_TENSOR_MAP_SWIZZLE_128B};
  const CUtensorMap xMap = device.encode(matrix);
  const CUdeviceptr y = device.upload(std::vector<float>(kStencilRows * kStencilPitch, kUntouched));
  matrix.address = y;
  matrix.boxRows = 8;
  matrix.boxColumns = 16;
  matrix.swizzle = CU_TENSOR_MAP_SWIZZLE_64B;
  const CUtensorMap yMap = device.encode(matrix);

  device.launch("tileStencil",
                {.gridX = (kStencilColumns + 15) / 16, .gridY = (kStencilRows + 7) / 8}, xMap,
                yMap);

  return firstDifference(device.download<float>(y, kStencilRows * kStencilPitch), expected);
}

Scenario tileStencilScenario() {
  return {
      "TileStencil",
      "tile_stencil.ptx",
      runTileStencil,
      {
          operand("mbarrier.init", "full counts the loader", "2", "is in a deadlock",
                  "box is complete"),
          removed("fence.mbarrier_init", "barrier to the async proxy",
                  "no fence.proxy.async or fence.mbarrier_init", "loader copies"),
          operand("expect_tx", "loader expects a box", "1264", "is in a deadlock"),
          operand("expect_tx", "loader expects a box", "1296", "is in a deadlock",
                  "box is complete"),
          replaced("mbarrier.arrive.expect_tx.shared::cta.b64 _,",
                   "mbarrier.expect_tx.relaxed.cta.shared::cta.b64", "loader expects a box",
                   "is in a deadlock", "box is complete"),
          removed("cp.async.bulk.tensor", "loader copies", "is in a deadlock", "box is complete"),
          removed("bar.sync", "barrier is ready", "no barrier lies between", "box is complete"),
          skippedWait("box is complete", "was never written", "threads read"),
          flippedParity("box is complete", "was never written", "threads read"),
          removed("fence.proxy.async", "tile to the async proxy",
                  "no fence.proxy.async lies between", "storer copies"),
          removed("bar.sync", "tile is complete", "was never written", "storer copies"),
          removed("cp.async.bulk.commit_group", "store commits", "is pending while the block",
                  "storer copies"),
          removed("cp.async.bulk.wait_group", "store is done", "is pending while the block",
                  "storer copies"),
      },
      {
          // As at the end of the bulk ring: only the read of shared memory has to be waited for.
          replaced("wait_group", "wait_group.read", "store is done", ""),
      },
  };
}

} // namespace fp8jit::testing
