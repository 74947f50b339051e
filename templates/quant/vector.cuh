// Vectors of X in registers, and their codes.
#pragma once

#include "slot/quant_config.cuh"
#include "slot/x.cuh"

namespace fp8jit {

static_assert(kConfig.isValid(), "the configuration breaks a rule of QuantConfig::isValid");

constexpr int kVector = kConfig.vectorBytes / kElementBytes; // elements of X per load
constexpr int kWords = (kConfig.vectorBytes + 3) / 4;

struct Vector {
  unsigned words[kWords];
};

/// Loads 16, 8, 4 or 2 bytes, aligned to their number, into words.
template <int Bytes>
__device__ inline void loadWords(unsigned *words, const void *source) {
  if constexpr (Bytes == 16) {
    const uint4 value = __ldg(static_cast<const uint4 *>(source));
    words[0] = value.x, words[1] = value.y, words[2] = value.z, words[3] = value.w;
  } else if constexpr (Bytes == 8) {
    const uint2 value = __ldg(static_cast<const uint2 *>(source));
    words[0] = value.x, words[1] = value.y;
  } else if constexpr (Bytes == 4) {
    words[0] = __ldg(static_cast<const unsigned *>(source));
  } else {
    words[0] = __ldg(static_cast<const unsigned short *>(source));
  }
}

/// Loads kVector elements from `index` on, a multiple of kVector.
__device__ inline Vector loadVector(const void *x, long long index) {
  Vector vector;
  loadWords<kConfig.vectorBytes>(vector.words,
                                 static_cast<const char *>(x) + index * kElementBytes);
  return vector;
}

/// The largest magnitude of `amax` and the vector; NaN is ignored.
__device__ inline float largest(float amax, const Vector &vector) {
#pragma unroll
  for (int e = 0; e < kVector; ++e) {
    amax = fmaxf(amax, fabsf(elementOf(vector.words, e)));
  }
  return amax;
}

/// Two E4M3 codes, `low` in the low byte: nearest even, saturating, NaN is 0x7F. PTX ISA 9.7.9.22
/// (cvt).
__device__ inline unsigned encodePair(float low, float high) {
  unsigned short codes;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(high), "f"(low));
  return codes;
}

/// The codes of elements 2i and 2i + 1 of fl(x·multiplier).
__device__ inline unsigned scaledPair(const Vector &vector, int i, float multiplier) {
  const float low = __fmul_rn(elementOf(vector.words, 2 * i), multiplier);
  const float high = kVector > 1 ? __fmul_rn(elementOf(vector.words, 2 * i + 1), multiplier) : 0.0F;
  return encodePair(low, high);
}

/// Stores 8, 4, 2 or 1 bytes of words, aligned to their number.
template <int Bytes>
__device__ inline void storeBytes(unsigned char *target, const unsigned *words) {
  if constexpr (Bytes == 8) {
    *reinterpret_cast<uint2 *>(target) = make_uint2(words[0], words[1]);
  } else if constexpr (Bytes == 4) {
    *reinterpret_cast<unsigned *>(target) = words[0];
  } else if constexpr (Bytes == 2) {
    *reinterpret_cast<unsigned short *>(target) = static_cast<unsigned short>(words[0]);
  } else {
    *target = static_cast<unsigned char>(words[0]);
  }
}

/// Stores the codes of the vector from `index` on, a multiple of kVector.
__device__ inline void storeCodes(unsigned char *q, long long index, const Vector &vector,
                                  float multiplier) {
  unsigned words[(kVector + 3) / 4] = {};
#pragma unroll
  for (int pair = 0; pair < (kVector + 1) / 2; ++pair) {
    words[pair / 2] |= scaledPair(vector, pair, multiplier) << (pair % 2 * 16);
  }
  storeBytes<kVector>(q + index, words);
}

} // namespace fp8jit
