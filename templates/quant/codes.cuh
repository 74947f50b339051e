// The codes of a vector.
#pragma once

#include "quant/vector.cuh"
#include "slot/x.cuh"

namespace fp8jit {

/// Two E4M3 codes, `low` in the low byte: nearest even, saturating, NaN is 0x7F. PTX ISA 9.7.9.22.
__device__ inline unsigned encodePair(float low, float high) {
  unsigned short codes;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(high), "f"(low));
  return codes;
}

/// The codes of fl(x·s).
__device__ inline Codes codesOf(const Vector &x, float s) {
  Codes codes = {};
#pragma unroll
  for (int i = 0; i < kVector; i += 2) {
    const float low = __fmul_rn(elementOf(x, i), s);
    const float high = kVector > 1 ? __fmul_rn(elementOf(x, i + 1), s) : 0.0F;
    codes.words[i / 4] |= encodePair(low, high) << (i % 4 * 8);
  }
  return codes;
}

} // namespace fp8jit
