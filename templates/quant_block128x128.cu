// Codes with one scale per tile of 128 rows and 128 columns; a block holds a tile in registers.
// X: [m, kN] row major; q: [m, kN]; s, amax: [ceil(m/128), ceil(kN/128)]. X is read once.
#include "quant/codes.cuh"
#include "slot/quant_config.cuh"
#include "slot/reduce.cuh"
#include "slot/scale_source.cuh"

namespace fp8jit {

constexpr unsigned kTilesPerRow = kN == 0 ? 1 : (kN - 1) / 128 + 1;
constexpr int kTileVectors = 128 / kVector;           // of a row of the tile
constexpr int kRows = kConfig.threads / kTileVectors; // of a pass of the block over its tile
constexpr int kPasses = 128 / kRows;
constexpr long long kPassVectors = 1LL * kRows * kRowVectors; // between the vectors of a thread
static_assert(kRows * kPasses == 128, "every pass covers whole rows of the tile");

extern "C" __global__ void __launch_bounds__(kConfig.threads)
    fp8jit_quantize(const __grid_constant__ QuantParams params) {
  const unsigned row = blockIdx.x / kTilesPerRow * 128 + threadIdx.x / kTileVectors;
  const int column = blockIdx.x % kTilesPerRow * kTileVectors + threadIdx.x % kTileVectors;
  const int rowsLeft = column < kRowVectors && row < params.m ? params.m - row : 0;
  const long long first = static_cast<long long>(row) * kRowVectors + column;
  Vector vectors[kPasses] = {};
  unsigned packed = 0;
#pragma unroll
  for (int pass = 0; pass < kPasses; ++pass) {
    if (pass * kRows < rowsLeft) {
      vectors[pass] = static_cast<const Vector *>(params.x)[first + pass * kPassVectors];
    }
    packed = largest(packed, vectors[pass]);
  }
  const float amax = unitMax(magnitudeOf(packed));
  const float s = unitMultiplier(params, blockIdx.x, amax);
#pragma unroll
  for (int pass = 0; pass < kPasses; ++pass) {
    if (pass * kRows < rowsLeft) {
      reinterpret_cast<Codes *>(params.q)[first + pass * kPassVectors] = codesOf(vectors[pass], s);
    }
  }
  if (threadIdx.x == 0) {
    publish(params, blockIdx.x, amax, s);
  }
}

} // namespace fp8jit
