// Scales sa f32 [m], sb f32 [n]: applied once, D = fl(sum · fl(sa[row]·sb[column])).
#pragma once

#include "gemm/promote_add.cuh"

namespace fp8jit {

/// Multiplies the finished sums by the scales of their row and column.
__device__ inline void applyFinalScales(Sums &sum, const GemmParams &params,
                                        const LanePlace &place) {
  float scaleB[kMmaN][2];
#pragma unroll
  for (int j = 0; j < kMmaN; ++j) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int column = j * 8 + e;
      scaleB[j][e] = column < place.columnsLeft ? __ldg(params.sb + place.column + column) : 0.0F;
    }
  }
#pragma unroll
  for (int i = 0; i < kMmaM; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = i * 16 + half * 8;
      const float scaleA = row < place.rowsLeft ? __ldg(params.sa + place.row + row) : 0.0F;
#pragma unroll
      for (int j = 0; j < kMmaN; ++j) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          float &value = sum.tile[i][j][half * 2 + e];
          value = __fmul_rn(value, __fmul_rn(scaleA, scaleB[j][e]));
        }
      }
    }
  }
}

} // namespace fp8jit
