// Vectors of X in registers, and their codes.
#pragma once

#include "slot/quant_config.cuh"
#include "slot/x.cuh"

namespace fp8jit {

static_assert(kConfig.isValid(), "the configuration breaks a rule of QuantConfig::isValid");
static_assert(kVector == sizeof(Codes) && kN % kVector == 0, "rows are whole vectors");

/// kVector elements of X, loaded at once.
struct alignas(kConfig.vectorBytes) Vector {
  Word words[kConfig.vectorBytes / sizeof(Word)];
};

/// The vector of X that begins with element `first`, a multiple of kVector.
__device__ inline Vector loadVector(const void *x, long long first) {
  return static_cast<const Vector *>(x)[first / kVector];
}

/// The largest magnitude of `amax` and the vector; NaN is ignored.
__device__ inline float largest(float amax, const Vector &vector) {
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    amax = fmaxf(amax, fabsf(elementOf(vector.words, i)));
  }
  return amax;
}

/// Two E4M3 codes, `low` in the low byte: nearest even, saturating, NaN is 0x7F. PTX ISA 9.7.9.22.
__device__ inline Codes encodePair(float low, float high) {
  unsigned short codes;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(high), "f"(low));
  return static_cast<Codes>(codes);
}

/// Stores the codes of fl(x·s) for the vector that begins with element `first`.
__device__ inline void storeCodes(unsigned char *q, long long first, const Vector &vector,
                                  float s) {
  Codes codes = 0;
#pragma unroll
  for (int i = 0; i < kVector; i += 2) {
    const float low = __fmul_rn(elementOf(vector.words, i), s);
    const float high = kVector > 1 ? __fmul_rn(elementOf(vector.words, i + 1), s) : 0.0F;
    codes |= encodePair(low, high) << (8 * i);
  }
  reinterpret_cast<Codes *>(q)[first / kVector] = codes;
}

} // namespace fp8jit
