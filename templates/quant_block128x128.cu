// q = E4M3 codes of fl(X·S), one scale per tile of 128 rows and 128 columns.
//
// X: [m, kN] row major; q: [m, kN]; s, amax: [ceil(m/128), ceil(kN/128)]. One block holds one tile
// in registers: one read of X, one write of q. Tiles at the edges cover what is left.
#include "quant/reduce.cuh"
#include "quant/vector.cuh"
#include "slot/quant_config.cuh"
#include "slot/scale_source.cuh"
#include "slot/x.cuh"

namespace fp8jit {

constexpr unsigned kTilesPerRow = kN == 0 ? 1 : (kN - 1) / 128 + 1;
constexpr int kThreadsPerRow = 128 / kVector;
constexpr int kRowsPerPass = kConfig.threads / kThreadsPerRow;
constexpr int kPasses = 128 / kRowsPerPass;

static_assert(kConfig.unitsPerBlock == 1, "a block holds one tile");
static_assert(kConfig.threads % kThreadsPerRow == 0 && 128 % kRowsPerPass == 0,
              "every pass covers whole rows of the tile");
static_assert(kN % kVector == 0, "a vector does not cross the end of a row");

extern "C" __global__ void __launch_bounds__(kConfig.threads)
    fp8jit_quantize(const __grid_constant__ QuantParams params) {
  const int rowInTile = threadIdx.x / kThreadsPerRow;
  const int columnInTile = threadIdx.x % kThreadsPerRow * kVector;
  const long long row = blockIdx.x / kTilesPerRow * 128LL;
  const int column = blockIdx.x % kTilesPerRow * 128 + columnInTile;
  const long long rowsLeft = column < kN ? params.m - row - rowInTile : 0;
  const long long first = (row + rowInTile) * kN + column;

  Vector vectors[kPasses] = {};
  float amax = 0.0F;
#pragma unroll
  for (int pass = 0; pass < kPasses; ++pass) {
    const long long rowOffset = pass * kRowsPerPass;
    if (rowOffset < rowsLeft) {
      vectors[pass] = loadVector(params.x, first + rowOffset * kN);
    }
    amax = largest(amax, vectors[pass]);
  }
  amax = groupMax<kConfig.threads>(amax);

  const float multiplier = unitMultiplier(params, blockIdx.x, amax);
#pragma unroll
  for (int pass = 0; pass < kPasses; ++pass) {
    const long long rowOffset = pass * kRowsPerPass;
    if (rowOffset < rowsLeft) {
      storeCodes(params.q, first + rowOffset * kN, vectors[pass], multiplier);
    }
  }
  if (threadIdx.x == 0) {
    publishUnit(params, blockIdx.x, amax, multiplier);
  }
}

} // namespace fp8jit
