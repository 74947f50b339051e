// Scales sa f32 [1], sb f32 [1]: applied once, D = fl(sum · fl(sa·sb)).
#pragma once

#include "gemm/promote_add.cuh"

namespace fp8jit {

/// Multiplies the finished sums by the scales.
__device__ inline void applyFinalScales(Sums &sum, const GemmParams &params, const LanePlace &) {
  const float scale = __fmul_rn(__ldg(params.sa), __ldg(params.sb));
#pragma unroll
  for (int i = 0; i < kMmaM; ++i) {
#pragma unroll
    for (int j = 0; j < kMmaN; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        sum.tile[i][j][e] = __fmul_rn(sum.tile[i][j][e], scale);
      }
    }
  }
}

} // namespace fp8jit
