// Decoding of FP8 codes with AVX2. Internal functions only (see avx2_rows.h).
#pragma once

#include "emulator/tensor/avx2_rows.h"

#if defined(__AVX2__) && defined(__F16C__)

namespace fp8jit::emulator {
namespace {

/// How to read one FP8 format.
struct Fp8Layout {
  int fractionBits;
  int bias;
  int alignShift;      ///< right shift that moves the code from the top byte to f32's fields
  int fieldMask;       ///< sign, exponent and fraction after that shift
  float exponentScale; ///< 2^(127 - bias)
  char firstSpecial;   ///< smallest magnitude code that is NaN or infinity
};

constexpr Fp8Layout fp8LayoutOf(MmaFormat format) {
  return format == MmaFormat::E4M3
             ? Fp8Layout{3, 7, 4, static_cast<int>(0x87f00000), 0x1p120F, 0x7f}
             : Fp8Layout{2, 15, 3, static_cast<int>(0x8fe00000), 0x1p112F, 0x7c};
}

/// The values of the first eight codes.
inline __m256 decodeEight(__m128i codes, const Fp8Layout &layout) {
  const __m256i top = _mm256_slli_epi32(_mm256_cvtepu8_epi32(codes), 24);
  const __m256i fields =
      _mm256_and_si256(_mm256_sra_epi32(top, _mm_cvtsi32_si128(layout.alignShift)),
                       _mm256_set1_epi32(layout.fieldMask));
  return _mm256_mul_ps(_mm256_castsi256_ps(fields), _mm256_set1_ps(layout.exponentScale));
}

/// Exponents of sixteen codes; -128 for zeros, so that their saturated sums with others stay below
/// every real sum.
inline __m128i exponentBytes(__m128i codes, const Fp8Layout &layout) {
  const __m128i magnitude = _mm_and_si128(codes, _mm_set1_epi8(0x7f));
  const char fieldMask = static_cast<char>(0x7f >> layout.fractionBits);
  const __m128i field = _mm_and_si128(
      _mm_srl_epi16(magnitude, _mm_cvtsi32_si128(layout.fractionBits)), _mm_set1_epi8(fieldMask));
  const __m128i exponent = _mm_sub_epi8(_mm_max_epu8(field, _mm_set1_epi8(1)),
                                        _mm_set1_epi8(static_cast<char>(layout.bias)));
  const __m128i isZero = _mm_cmpeq_epi8(magnitude, _mm_setzero_si128());
  return _mm_blendv_epi8(exponent, _mm_set1_epi8(-128), isZero);
}

/// All ones in every byte of `codes` that is NaN or infinity, or-ed into `seen`.
inline __m128i noteSpecials(__m128i seen, __m128i codes, const Fp8Layout &layout) {
  const __m128i magnitude = _mm_and_si128(codes, _mm_set1_epi8(0x7f));
  const __m128i atLeast = _mm_max_epu8(magnitude, _mm_set1_epi8(layout.firstSpecial));
  return _mm_or_si128(seen, _mm_cmpeq_epi8(atLeast, magnitude));
}

} // namespace
} // namespace fp8jit::emulator

#endif
