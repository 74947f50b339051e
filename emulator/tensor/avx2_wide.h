// Decoding of f16, bf16 and tf32 operands with AVX2: values as floats, exponents in 16 bits.
// Numbers of bf16 and tf32 far from one, NaN and infinity are not taken: the caller computes them
// by the scalar model. Internal functions only (see avx2_rows.h).
#pragma once

#include "emulator/tensor/avx2_rows.h"

#if defined(__AVX2__) && defined(__F16C__)

namespace fp8jit::emulator {
namespace {

constexpr short kZeroExponent = -8192; ///< below every sum of two real ones

/// How to read one format, and which exponent fields the vector code takes (besides zero): products
/// of these, and their scaling, stay within f32's normal range.
struct WideLayout {
  int fractionBits; ///< of a 16-bit code; 23 of tf32
  int bias;
  short firstField, lastField;
};

constexpr WideLayout wideLayoutOf(MmaFormat format) {
  return format == MmaFormat::F16
             ? WideLayout{10, 15, 0, 30}
             : WideLayout{format == MmaFormat::BF16 ? 7 : 23, 127, 127 - 50, 127 + 60};
}

/// Decoded A of one step: values and exponents of 16 rows.
template <int kGroup>
struct alignas(32) WideRows {
  float values[kRows][kGroup];
  short exponents[kRows][kGroup];
};

/// Decoded B of one step: values and exponents of eight columns.
template <int kGroup>
struct alignas(32) WideColumns {
  float values[kGroup][8];
  __m128i exponents[kGroup];
};

/// Exponents of eight numbers with exponent fields `field`; all ones in `outside` where the vector
/// code cannot take one.
inline __m128i checkedExponents(__m128i field, __m128i isZero, const WideLayout &layout,
                                __m128i &outside) {
  const __m128i isLow = _mm_cmpgt_epi16(_mm_set1_epi16(layout.firstField), field);
  const __m128i isHigh = _mm_cmpgt_epi16(field, _mm_set1_epi16(layout.lastField));
  outside = _mm_or_si128(outside, _mm_or_si128(isHigh, _mm_andnot_si128(isZero, isLow)));
  const __m128i exponent = _mm_sub_epi16(_mm_max_epi16(field, _mm_set1_epi16(1)),
                                         _mm_set1_epi16(static_cast<short>(layout.bias)));
  return _mm_blendv_epi8(exponent, _mm_set1_epi16(kZeroExponent), isZero);
}

/// Decodes eight 16-bit codes.
template <MmaFormat kFormat>
inline __m256 decodeHalves(__m128i codes, __m128i &exponents, __m128i &outside) {
  constexpr WideLayout kLayout = wideLayoutOf(kFormat);
  const __m128i magnitude = _mm_and_si128(codes, _mm_set1_epi16(0x7fff));
  const __m128i isZero = _mm_cmpeq_epi16(magnitude, _mm_setzero_si128());
  exponents =
      checkedExponents(_mm_srli_epi16(magnitude, kLayout.fractionBits), isZero, kLayout, outside);
  if constexpr (kFormat == MmaFormat::F16) {
    return _mm256_cvtph_ps(codes);
  }
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(codes), 16));
}

/// Decodes eight tf32 numbers.
inline __m256 decodeWords(__m256i words, __m128i &exponents, __m128i &outside) {
  constexpr WideLayout kLayout = wideLayoutOf(MmaFormat::TF32);
  const __m256i kept = _mm256_and_si256(words, _mm256_set1_epi32(static_cast<int>(0xffffe000)));
  const __m256i magnitude = _mm256_and_si256(kept, _mm256_set1_epi32(0x7fffffff));
  const __m256i isZero = _mm256_cmpeq_epi32(magnitude, _mm256_setzero_si256());
  const __m256i field = _mm256_srli_epi32(magnitude, kLayout.fractionBits);
  exponents = checkedExponents(
      _mm_packs_epi32(_mm256_castsi256_si128(field), _mm256_extracti128_si256(field, 1)),
      _mm_packs_epi32(_mm256_castsi256_si128(isZero), _mm256_extracti128_si256(isZero, 1)), kLayout,
      outside);
  return _mm256_castsi256_ps(kept);
}

/// Transposes 8 by 8 halves: three perfect shuffles.
inline void transpose(__m128i (&rows)[8]) {
  for (int round = 0; round < 3; ++round) {
    __m128i shuffled[8];
    for (int i = 0; i < 4; ++i) {
      shuffled[2 * i] = _mm_unpacklo_epi16(rows[i], rows[i + 4]);
      shuffled[2 * i + 1] = _mm_unpackhi_epi16(rows[i], rows[i + 4]);
    }
    for (int i = 0; i < 8; ++i) {
      rows[i] = shuffled[i];
    }
  }
}

/// Elements in the 16 bytes of a row that one fragment register has.
constexpr int perChunk(MmaFormat format) {
  return format == MmaFormat::TF32 ? 4 : 8;
}

/// Decodes A of step `group`; false if the vector code cannot take an operand.
template <MmaFormat kFormat, int kGroup>
inline bool decodeRows(const std::uint32_t *const *registers, int group,
                       WideRows<kGroup> &operands) {
  constexpr int kChunk = perChunk(kFormat);
  __m128i outside = _mm_setzero_si128();
  for (int k = 0; k < kGroup; k += kChunk) {
    const std::uint32_t *const *halves = registers + 2 * (group * kGroup + k) / kChunk;
    for (int row = 0; row < kRows; ++row) {
      const __m128i codes = loadChunk(halves[row / 8], row % 8);
      float *values = operands.values[row] + k;
      short *exponents = operands.exponents[row] + k;
      __m128i decoded;
      if constexpr (kFormat == MmaFormat::TF32) {
        const __m256 four = decodeWords(_mm256_zextsi128_si256(codes), decoded, outside);
        _mm_store_ps(values, _mm256_castps256_ps128(four));
        _mm_storel_epi64(reinterpret_cast<__m128i *>(exponents), decoded);
      } else {
        _mm256_store_ps(values, decodeHalves<kFormat>(codes, decoded, outside));
        _mm_store_si128(reinterpret_cast<__m128i *>(exponents), decoded);
      }
    }
  }
  return _mm_movemask_epi8(outside) == 0;
}

/// Decodes B of step `group`; false if the vector code cannot take an operand.
template <MmaFormat kFormat, int kGroup>
inline bool decodeColumns(const std::uint32_t *const *registers, int group,
                          WideColumns<kGroup> &operands) {
  constexpr int kChunk = perChunk(kFormat);
  __m128i outside = _mm_setzero_si128();
  for (int k = 0; k < kGroup; k += kChunk) {
    const std::uint32_t *lanes = registers[(group * kGroup + k) / kChunk];
    __m128i columns[8];
    for (int column = 0; column < 8; ++column) {
      columns[column] = loadChunk(lanes, column);
    }
    if constexpr (kFormat != MmaFormat::TF32) {
      transpose(columns);
    }
    for (int i = 0; i < kChunk; ++i) {
      __m256 values;
      if constexpr (kFormat == MmaFormat::TF32) {
        const __m256i everyFourth = _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28);
        const __m256i words =
            _mm256_i32gather_epi32(reinterpret_cast<const int *>(lanes + i), everyFourth, 4);
        values = decodeWords(words, operands.exponents[k + i], outside);
      } else {
        values = decodeHalves<kFormat>(columns[i], operands.exponents[k + i], outside);
      }
      _mm256_store_ps(operands.values[k + i], values);
    }
  }
  return _mm_movemask_epi8(outside) == 0;
}

/// The largest product exponent of each output of a row; not above kNoProduct where all are zero.
template <int kGroup>
inline __m256i largestExponents(const WideRows<kGroup> &a, const WideColumns<kGroup> &b, int row) {
  __m128i largest = _mm_set1_epi16(2 * kZeroExponent);
#pragma GCC unroll 16
  for (int k = 0; k < kGroup; ++k) {
    const __m128i exponent = _mm_set1_epi16(a.exponents[row][k]);
    largest = _mm_max_epi16(largest, _mm_add_epi16(exponent, b.exponents[k]));
  }
  return _mm256_cvtepi16_epi32(largest);
}

} // namespace
} // namespace fp8jit::emulator

#endif
