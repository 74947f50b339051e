// X in FP32: one element in a word of 4 bytes.
#pragma once

#include "quant/vector.cuh"

namespace fp8jit {

/// Element `i` of a vector.
__device__ inline float elementOf(const Vector &x, int i) {
  return __uint_as_float(x.words[i]);
}

/// The largest magnitude of `amax` and the vector; NaN is ignored.
__device__ inline unsigned largest(unsigned amax, const Vector &x) {
#pragma unroll
  for (const unsigned word : x.words) {
    amax = __float_as_uint(fmaxf(__uint_as_float(amax), fabsf(__uint_as_float(word))));
  }
  return amax;
}

/// The magnitude that largest() has found.
__device__ inline float magnitudeOf(unsigned amax) {
  return __uint_as_float(amax);
}

} // namespace fp8jit
