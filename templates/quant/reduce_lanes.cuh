// A unit belongs to neighbouring lanes of one warp.
#pragma once

#include "slot/quant_config.cuh"

namespace fp8jit {

/// The maximum over the lanes of a unit, in each of them. All lanes of the warp take part.
__device__ inline float unitMax(float value) {
#pragma unroll
  for (int distance = kConfig.threadsPerUnit() / 2; distance > 0; distance /= 2) {
    value = fmaxf(value, __shfl_xor_sync(0xffffffffU, value, distance));
  }
  return value;
}

} // namespace fp8jit
