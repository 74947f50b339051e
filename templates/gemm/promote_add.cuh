// Promotion without block scales: sum = fl(sum + part).
#pragma once

#include "gemm/tile.cuh"

namespace fp8jit {

struct BlockScales {};

/// Nothing to read before a block of 128 k.
__device__ inline BlockScales loadBlockScales(const GemmParams &, const LanePlace &, int) {
  return {};
}

/// Adds the tensor core's sum over one block of 128 k to the running sum.
__device__ inline void promote(Sums &sum, const Sums &part, const BlockScales &) {
#pragma unroll
  for (int i = 0; i < kMmaM; ++i) {
#pragma unroll
    for (int j = 0; j < kMmaN; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        sum.tile[i][j][e] = __fadd_rn(sum.tile[i][j][e], part.tile[i][j][e]);
      }
    }
  }
}

} // namespace fp8jit
