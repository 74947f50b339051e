// X in BF16: two elements in a word of 4 bytes, or one in a word of 2.
#pragma once

#include "quant/vector.cuh"

namespace fp8jit {

/// Element `i` of a vector, widened exactly.
__device__ inline float elementOf(const Vector &x, int i) {
  return __uint_as_float(i % 2 == 0 ? x.words[i / 2] << 16 : x.words[i / 2] & 0xffff0000U);
}

/// In each half the largest magnitude of `amax` and the vector, with any sign; NaN is ignored.
__device__ inline unsigned largest(unsigned amax, const Vector &x) {
#pragma unroll
  for (const unsigned word : x.words) { // PTX ISA, "max" of bf16x2
    asm("max.xorsign.abs.bf16x2 %0, %0, %1;" : "+r"(amax) : "r"(word));
  }
  return amax;
}

/// The magnitude that largest() has found.
__device__ inline float magnitudeOf(unsigned amax) {
  return __uint_as_float(max(amax << 16 & 0x7fff0000U, amax & 0x7fff0000U));
}

} // namespace fp8jit
