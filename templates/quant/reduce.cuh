// Maxima over the threads that share a unit.
#pragma once

namespace fp8jit {

/// The maximum over groups of `Lanes` neighbouring lanes (a power of two up to 32), in every lane.
/// All lanes of the warp take part.
template <int Lanes>
__device__ inline float laneMax(float value) {
#pragma unroll
  for (int distance = Lanes / 2; distance > 0; distance /= 2) {
    value = fmaxf(value, __shfl_xor_sync(0xffffffffU, value, distance));
  }
  return value;
}

/// The maximum over `Threads` neighbouring threads, in each of them: some lanes of a warp, or the
/// whole block. All threads of the block take part.
template <int Threads>
__device__ inline float groupMax(float value) {
  if constexpr (Threads <= 32) {
    return laneMax<Threads>(value);
  } else {
    __shared__ float warpMax[Threads / 32];
    value = laneMax<32>(value);
    if (threadIdx.x % 32 == 0) {
      warpMax[threadIdx.x / 32] = value;
    }
    __syncthreads(); // every warp's maximum is in shared memory
#pragma unroll
    for (int warp = 0; warp < Threads / 32; ++warp) {
      value = fmaxf(value, warpMax[warp]);
    }
    return value;
  }
}

} // namespace fp8jit
