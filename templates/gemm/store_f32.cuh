// D in FP32, any n: one result per store.
#pragma once

namespace fp8jit {

/// Stores columns `offset` and `offset` + 1; `left` columns of the row follow `offset`.
__device__ inline void storePair(void *d, long long offset, float first, float second, int left) {
  float *const target = static_cast<float *>(d) + offset;
  if (left > 0) {
    target[0] = first;
  }
  if (left > 1) {
    target[1] = second;
  }
}

} // namespace fp8jit
