// Codes with one scale per tile of 128 rows and 128 columns.
// X: [m, kN] row major; q: [m, kN]; s, amax: [ceil(m/128), ceil(kN/128)]. A block holds one tile in
// registers: one read of X, one write of q. Tiles at the edges cover what is left.
#include "quant/vector.cuh"
#include "slot/quant_config.cuh"
#include "slot/reduce.cuh"
#include "slot/scale_source.cuh"

namespace fp8jit {

constexpr unsigned kTilesPerRow = kN == 0 ? 1 : (kN - 1) / 128 + 1;
constexpr int kThreadsPerRow = 128 / kVector;
constexpr int kRows = kConfig.threads / kThreadsPerRow; // of a pass of the block over its tile
constexpr int kPasses = 128 / kRows;
static_assert(kRows * kPasses == 128, "every pass covers whole rows of the tile");

extern "C" __global__ void __launch_bounds__(kConfig.threads)
    fp8jit_quantize(const __grid_constant__ QuantParams params) {
  const long long row = blockIdx.x / kTilesPerRow * 128LL + threadIdx.x / kThreadsPerRow;
  const int column = blockIdx.x % kTilesPerRow * 128 + threadIdx.x % kThreadsPerRow * kVector;
  const long long rowsLeft = column < kN ? params.m - row : 0;
  Vector vectors[kPasses] = {};
  float amax = 0.0F;
#pragma unroll
  for (int pass = 0; pass < kPasses; ++pass) {
    if (pass * kRows < rowsLeft) {
      vectors[pass] = loadVector(params.x, (row + pass * kRows) * kN + column);
    }
    amax = largest(amax, vectors[pass]);
  }
  amax = unitMax(amax);
  const float s = unitMultiplier(params, blockIdx.x, amax);
#pragma unroll
  for (int pass = 0; pass < kPasses; ++pass) {
    if (pass * kRows < rowsLeft) {
      storeCodes(params.q, (row + pass * kRows) * kN + column, vectors[pass], s);
    }
  }
  if (threadIdx.x == 0) {
    publish(params, blockIdx.x, amax, s);
  }
}

} // namespace fp8jit
