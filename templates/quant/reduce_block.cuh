// A unit belongs to the block.
#pragma once

#include "slot/quant_config.cuh"

namespace fp8jit {

/// The maximum of magnitudes over the block, in each of its threads; they order as their bits do.
__device__ inline float unitMax(float value) {
  __shared__ unsigned warpMax[kConfig.threads / 32];
  const unsigned largest = __reduce_max_sync(0xffffffffU, __float_as_uint(value));
  if (threadIdx.x % 32 == 0) {
    warpMax[threadIdx.x / 32] = largest;
  }
  __syncthreads(); // every warp's maximum is in shared memory
  return __uint_as_float(
      __reduce_max_sync(0xffffffffU, warpMax[threadIdx.x % (kConfig.threads / 32)]));
}

} // namespace fp8jit
