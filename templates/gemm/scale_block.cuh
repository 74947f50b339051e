// Scales sa f32 [m, ceil(k/128)], sb f32 [ceil(n/128), ceil(k/128)]: applied at every promotion,
// sum = fma(part, fl(sa·sb), sum).
#pragma once

#include "gemm/tile.cuh"

namespace fp8jit {

static_assert(128 % kConfig.warpTileN() == 0, "the columns of a warp share one scale of B");

/// fl(sa·sb) of the lane's rows for one block of 128 k.
struct BlockScales {
  float row[kMmaM][2];
};

/// Reads the scales of block `blockK`; issued before the block's products so that they hide it.
__device__ inline BlockScales loadBlockScales(const GemmParams &params, const LanePlace &place,
                                              int blockK) {
  BlockScales scales;
  const long long blockN = place.column / 128;
  const float scaleB =
      place.columnsLeft > 0 ? __ldg(params.sb + blockN * kScaleBlocksK + blockK) : 0.0F;
  const float *rows = params.sa + place.row * kScaleBlocksK + blockK;
#pragma unroll
  for (int i = 0; i < kMmaM; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = i * 16 + half * 8;
      const float scaleA =
          row < place.rowsLeft ? __ldg(rows + static_cast<long long>(row) * kScaleBlocksK) : 0.0F;
      scales.row[i][half] = __fmul_rn(scaleA, scaleB);
    }
  }
  return scales;
}

/// Adds the scaled sum over one block of 128 k to the running sum.
__device__ inline void promote(Sums &sum, const Sums &part, const BlockScales &scales) {
#pragma unroll
  for (int i = 0; i < kMmaM; ++i) {
#pragma unroll
    for (int j = 0; j < kMmaN; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        sum.tile[i][j][e] = __fmaf_rn(part.tile[i][j][e], scales.row[i][e / 2], sum.tile[i][j][e]);
      }
    }
  }
}

/// All scales have entered at the promotions.
__device__ inline void applyFinalScales(Sums &, const GemmParams &, const LanePlace &) {}

} // namespace fp8jit
