// D in FP32, n even and D 8-byte aligned: two results per store.
#pragma once

namespace fp8jit {

/// Stores columns `offset` and `offset` + 1; `left` columns of the row follow `offset`.
__device__ inline void storePair(void *d, long long offset, float first, float second, int left) {
  if (left > 0) {
    *reinterpret_cast<float2 *>(static_cast<float *>(d) + offset) = make_float2(first, second);
  }
}

} // namespace fp8jit
