// One step of the scalar model for a row of eight outputs: align, truncate, add, round.
//   E  comes from the caller (the largest exponent of the products) and the accumulator;
//   S  = sum of truncated terms: the float product of two operands is exact, so is its scaling by
//        2^(F - E), and the conversion to integers truncates as the model does;
//   F = 13: all sums fit in 32 bits and in a float. F = 24, 25: a term has up to 27 bits; the sums
//        of eight fit in 32 bits, the total is kept in doubles, then cut to the 24 bits of an f32.
// Internal functions only (see avx2_rows.h). Operands are decoded floats whose exponents lie within
// ±64, so that no scaling leaves f32's normal range; C may be anything.
#pragma once

#include "emulator/tensor/avx2_rows.h"

#if defined(__AVX2__) && defined(__F16C__)

namespace fp8jit::emulator {
namespace {

/// A largest product exponent that is not above this means that every product is zero.
constexpr int kNoProduct = -110;

/// 2^exponent of 8 lanes, exponents biased by 127 already.
inline __m256 powerOfTwo(__m256i field) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(field, 23));
}

/// `rounded`, but C itself where that is infinite and the canonical NaN where it is NaN: what a
/// step with ordinary operands makes of such a C.
inline __m256 keepSpecials(__m256 rounded, __m256 c) {
  const __m256i magnitude = _mm256_and_si256(_mm256_castps_si256(c), _mm256_set1_epi32(0x7fffffff));
  const __m256i isInfinite = _mm256_cmpeq_epi32(magnitude, _mm256_set1_epi32(0x7f800000));
  const __m256i isNan = _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32(0x7f800000));
  return blend(blend(rounded, c, isInfinite), broadcastBits(kNanF32), isNan);
}

/// Exponent of the accumulator; for a zero f16 one that is below all others.
template <bool kIsF16>
inline __m256i accumulatorExponent(__m256 c) {
  const __m256i magnitude = _mm256_and_si256(_mm256_castps_si256(c), _mm256_set1_epi32(0x7fffffff));
  const __m256i exponent =
      _mm256_max_epi32(_mm256_sub_epi32(_mm256_srli_epi32(magnitude, 23), _mm256_set1_epi32(127)),
                       _mm256_set1_epi32(kIsF16 ? -14 : -126));
  if constexpr (!kIsF16) {
    return exponent;
  }
  const __m256i isZero = _mm256_cmpeq_epi32(magnitude, _mm256_setzero_si256());
  return _mm256_blendv_epi8(exponent, _mm256_set1_epi32(-64), isZero);
}

/// `sums` plus kCount truncated terms.
template <int kCount>
inline __m256i addTerms(__m256i sums, const float *a, const float (*b)[8], __m256 scale) {
#pragma GCC unroll 32
  for (int k = 0; k < kCount; ++k) {
    const __m256 product = _mm256_mul_ps(_mm256_broadcast_ss(a + k), _mm256_load_ps(b[k]));
    sums = _mm256_add_epi32(sums, _mm256_cvttps_epi32(_mm256_mul_ps(product, scale)));
  }
  return sums;
}

/// Four sums cut to 24 significant bits; for a second rounding to f16 the last of them is set if
/// anything was cut (round to odd).
template <bool kIsF16>
inline __m128 cutSums(__m256d sums) {
  const __m256i bits = _mm256_castpd_si256(sums);
  const __m256i beyond = _mm256_set1_epi64x((1LL << 29) - 1); // of the 52 fraction bits, 23 stay
  __m256i kept = _mm256_andnot_si256(beyond, bits);
  if constexpr (kIsF16) {
    const __m256i isExact =
        _mm256_cmpeq_epi64(_mm256_and_si256(bits, beyond), _mm256_setzero_si256());
    kept = _mm256_or_si256(kept, _mm256_andnot_si256(isExact, _mm256_set1_epi64x(1LL << 29)));
  }
  return _mm256_cvtpd_ps(_mm256_castsi256_pd(kept));
}

/// S cut to the bits that the rounding of kRule can use, as floats.
template <StepRule kRule>
inline __m256 sumTerms(const float *a, const float (*b)[8], __m256 scale, __m256 c) {
  __m256i sums = _mm256_cvttps_epi32(_mm256_mul_ps(c, scale));
  if constexpr (kRule.fractionBits == 13) {
    const __m256 exact = _mm256_cvtepi32_ps(addTerms<kRule.groupSize>(sums, a, b, scale));
    constexpr bool kIsCut = kRule.output == StepOutput::F32Truncate13; // |S| <= 2^21 fits a float
    return kIsCut ? _mm256_and_ps(exact, broadcastBits(0xfffffc00)) : exact;
  }
  constexpr bool kIsF16 = kRule.output == StepOutput::F16Nearest;
  constexpr int kChunk = kRule.groupSize < 8 ? kRule.groupSize : 8;
  __m256d low = _mm256_setzero_pd();
  __m256d high = _mm256_setzero_pd();
#pragma GCC unroll 4
  for (int k = 0; k < kRule.groupSize; k += kChunk) {
    sums = addTerms<kChunk>(sums, a + k, b + k, scale);
    low = _mm256_add_pd(low, _mm256_cvtepi32_pd(_mm256_castsi256_si128(sums)));
    high = _mm256_add_pd(high, _mm256_cvtepi32_pd(_mm256_extracti128_si256(sums, 1)));
    sums = _mm256_setzero_si256();
  }
  return _mm256_set_m128(cutSums<kIsF16>(high), cutSums<kIsF16>(low));
}

/// What is left of C where every product is zero: its exponent may be too small for the scaling.
template <StepRule kRule>
inline __m256 withoutProducts(__m256 c) {
  constexpr bool kIsCut = kRule.output == StepOutput::F32Truncate13;
  const __m256 cut = kIsCut ? _mm256_and_ps(c, broadcastBits(0xfffffc00)) : c;
  const __m256 isZero = _mm256_cmp_ps(cut, _mm256_setzero_ps(), _CMP_EQ_OQ);
  return _mm256_andnot_ps(isZero, cut); // -0 becomes +0
}

/// One step: `a` has kRule.groupSize factors of the row, b[k] the eight columns', `products` the
/// largest exponents of the products.
template <StepRule kRule>
inline __m256 stepRow(const float *a, const float (*b)[8], __m256i products, __m256 c) {
  constexpr bool kIsF16 = kRule.output == StepOutput::F16Nearest;
  constexpr int kFraction = kRule.fractionBits;
  const __m256i exponent = _mm256_max_epi32(products, accumulatorExponent<kIsF16>(c));
  const __m256 scale = powerOfTwo(_mm256_sub_epi32(_mm256_set1_epi32(127 + kFraction), exponent));
  const __m256 unscale = powerOfTwo(_mm256_add_epi32(_mm256_set1_epi32(127 - kFraction), exponent));
  __m256 value = _mm256_mul_ps(sumTerms<kRule>(a, b, scale, c), unscale);
  if constexpr (kIsF16) {
    value = _mm256_cvtph_ps(_mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
  } else {
    const __m256i hasProducts = _mm256_cmpgt_epi32(products, _mm256_set1_epi32(kNoProduct));
    value = blend(withoutProducts<kRule>(c), value, hasProducts);
  }
  return keepSpecials(value, c);
}

} // namespace
} // namespace fp8jit::emulator

#endif
