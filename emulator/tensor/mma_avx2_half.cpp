// mma.sync of one warp on f16 and bf16 with AVX2, in groups of eight products. As mma_avx2.cpp,
// with exponents in 16 bits. A term has at most 26 bits with F = 24, so that nine of them fit in
// 32; the sum is cut to the 24 bits of an f32, or marked for a second rounding, before it becomes a
// float. NaN, infinity and bf16 numbers far from one among A and B take the scalar path.
//
// Compiled for AVX2: uses no inline function that other files share (see avx2_rows.h).
#include "emulator/tensor/avx2_rows.h"
#include "emulator/tensor/mma_avx2.h"
#include "emulator/tensor/mma_portable.h"
#include "emulator/tensor/step_rules.h"

#if defined(__AVX2__) && defined(__F16C__)

namespace fp8jit::emulator {
namespace {

constexpr int kGroup = 8;
constexpr int kNoProduct = -4096; // below every sum of exponents that has a real one
constexpr short kZeroExponent = -8192;

/// How to read one 16-bit format, and which exponent fields the vector code takes (besides zero):
/// products of these, and their scaling, stay within f32's normal range.
struct HalfLayout {
  int fractionBits;
  int bias;
  short firstField, lastField;
};

constexpr HalfLayout layoutOf(MmaFormat format) {
  return format == MmaFormat::F16 ? HalfLayout{10, 15, 0, 30}
                                  : HalfLayout{7, 127, 127 - 50, 127 + 60};
}

/// Decoded operands of one group: values as floats, exponents without bias.
struct alignas(32) GroupOperands {
  float a[kRows][kGroup];
  float b[kGroup][8];
  short aExponents[kRows][kGroup];
  __m128i bExponents[kGroup]; ///< [k][column]
};

} // namespace

template <MmaFormat kFormat>
static __m256 decodeEight(__m128i codes) {
  if constexpr (kFormat == MmaFormat::F16) {
    return _mm256_cvtph_ps(codes);
  }
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(codes), 16));
}

/// Exponents of eight codes; all ones in `outside` where the vector code cannot take the operand.
template <MmaFormat kFormat>
static __m128i exponentsOf(__m128i codes, __m128i &outside) {
  constexpr HalfLayout kLayout = layoutOf(kFormat);
  const __m128i magnitude = _mm_and_si128(codes, _mm_set1_epi16(0x7fff));
  const __m128i field = _mm_srli_epi16(magnitude, kLayout.fractionBits);
  const __m128i isZero = _mm_cmpeq_epi16(magnitude, _mm_setzero_si128());
  const __m128i isLow = _mm_cmpgt_epi16(_mm_set1_epi16(kLayout.firstField), field);
  const __m128i isHigh = _mm_cmpgt_epi16(field, _mm_set1_epi16(kLayout.lastField));
  outside = _mm_or_si128(outside, _mm_or_si128(isHigh, _mm_andnot_si128(isZero, isLow)));
  const __m128i exponent = _mm_sub_epi16(_mm_max_epi16(field, _mm_set1_epi16(1)),
                                         _mm_set1_epi16(static_cast<short>(kLayout.bias)));
  return _mm_blendv_epi8(exponent, _mm_set1_epi16(kZeroExponent), isZero);
}

/// Transposes 8 by 8 halves: three perfect shuffles.
static void transpose(__m128i (&rows)[8]) {
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

/// Decodes one group; false if the vector code cannot take an operand.
template <MmaShape kShape>
static bool decodeGroup(const MmaRegisters &registers, int group, GroupOperands &operands) {
  __m128i outside = _mm_setzero_si128();
  for (int row = 0; row < kRows; ++row) {
    const std::uint32_t *words = registers.a[2 * group + row / 8] + row % 8 * 4;
    const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(words));
    _mm256_store_ps(operands.a[row], decodeEight<kShape.a>(codes));
    _mm_storeu_si128(reinterpret_cast<__m128i *>(operands.aExponents[row]),
                     exponentsOf<kShape.a>(codes, outside));
  }
  __m128i columns[8];
  for (int column = 0; column < 8; ++column) {
    const std::uint32_t *words = registers.b[group] + column * 4;
    columns[column] = _mm_loadu_si128(reinterpret_cast<const __m128i *>(words));
  }
  transpose(columns);
  for (int k = 0; k < kGroup; ++k) {
    _mm256_store_ps(operands.b[k], decodeEight<kShape.b>(columns[k]));
    operands.bExponents[k] = exponentsOf<kShape.b>(columns[k], outside);
  }
  return _mm_movemask_epi8(outside) == 0;
}

/// The largest product exponent of each output of a row; below kNoProduct where all are zero.
static __m256i largestExponents(const GroupOperands &operands, int row) {
  __m128i largest = _mm_set1_epi16(2 * kZeroExponent);
#pragma GCC unroll 8
  for (int k = 0; k < kGroup; ++k) {
    const __m128i a = _mm_set1_epi16(operands.aExponents[row][k]);
    largest = _mm_max_epi16(largest, _mm_add_epi16(a, operands.bExponents[k]));
  }
  return _mm256_cvtepi16_epi32(largest);
}

/// Exponent of the accumulator; for a zero f16 one that is below all others.
template <MmaShape kShape>
static __m256i accumulatorExponent(__m256 c) {
  constexpr int kF16 = kShape.accumulator == MmaAccumulator::F16 ? 1 : 0;
  const __m256i magnitude = _mm256_and_si256(_mm256_castps_si256(c), _mm256_set1_epi32(0x7fffffff));
  const __m256i field = _mm256_srli_epi32(magnitude, 23);
  const __m256i exponent = _mm256_max_epi32(_mm256_sub_epi32(field, _mm256_set1_epi32(127)),
                                            _mm256_set1_epi32(kF16 != 0 ? -14 : -126));
  if constexpr (kF16 == 0) {
    return exponent;
  }
  const __m256i isZero = _mm256_cmpeq_epi32(magnitude, _mm256_setzero_si256());
  return _mm256_blendv_epi8(exponent, _mm256_set1_epi32(-64), isZero);
}

/// Rounds S·2^(E - F), |S| < 2^30, to the accumulator's format, kept as f32.
template <MmaShape kShape>
static __m256 roundSums(__m256i sums, __m256 unscale) {
  const __m256i magnitude = _mm256_abs_epi32(sums);
  // Ones in all bits below the 24 most significant ones.
  __m256i beyond = _mm256_srli_epi32(magnitude, 24);
  beyond = _mm256_or_si256(beyond, _mm256_srli_epi32(beyond, 1));
  beyond = _mm256_or_si256(beyond, _mm256_srli_epi32(beyond, 2));
  beyond = _mm256_or_si256(beyond, _mm256_srli_epi32(beyond, 4));
  __m256i kept = _mm256_andnot_si256(beyond, magnitude);
  if constexpr (kShape.accumulator == MmaAccumulator::F16) {
    // Round to odd, so that the rounding to f16 sees that something was cut.
    const __m256i isExact =
        _mm256_cmpeq_epi32(_mm256_and_si256(magnitude, beyond), _mm256_setzero_si256());
    const __m256i lastKept = _mm256_add_epi32(beyond, _mm256_set1_epi32(1));
    kept = _mm256_or_si256(kept, _mm256_andnot_si256(isExact, lastKept));
  }
  const __m256 sign = _mm256_and_ps(_mm256_castsi256_ps(sums), _mm256_set1_ps(-0.0F));
  const __m256 value = _mm256_or_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(kept), unscale), sign);
  if constexpr (kShape.accumulator == MmaAccumulator::F16) {
    return _mm256_cvtph_ps(_mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
  }
  return value;
}

/// One step for one row of eight outputs.
template <MmaShape kShape, StepRule kRule>
static __m256 stepRow(const GroupOperands &operands, int row, __m256 c) {
  constexpr int kFraction = kRule.fractionBits;
  const __m256i products = largestExponents(operands, row);
  const __m256i exponent = _mm256_max_epi32(products, accumulatorExponent<kShape>(c));
  const __m256 scale = powerOfTwo(_mm256_sub_epi32(_mm256_set1_epi32(127 + kFraction), exponent));
  const __m256 unscale = powerOfTwo(_mm256_add_epi32(_mm256_set1_epi32(127 - kFraction), exponent));
  __m256i sums = _mm256_cvttps_epi32(_mm256_mul_ps(c, scale));
#pragma GCC unroll 8
  for (int k = 0; k < kGroup; ++k) {
    const __m256 product =
        _mm256_mul_ps(_mm256_broadcast_ss(&operands.a[row][k]), _mm256_load_ps(operands.b[k]));
    sums = _mm256_add_epi32(sums, _mm256_cvttps_epi32(_mm256_mul_ps(product, scale)));
  }
  __m256 rounded = roundSums<kShape>(sums, unscale);
  if constexpr (kShape.accumulator == MmaAccumulator::F32) {
    // Without products all bits of C are kept, and its exponent may be too small for the scaling;
    // adding +0 turns -0 into +0 and changes nothing else.
    const __m256i hasProducts = _mm256_cmpgt_epi32(products, _mm256_set1_epi32(kNoProduct));
    rounded = blend(_mm256_add_ps(c, _mm256_setzero_ps()), rounded, hasProducts);
  }
  return keepSpecials(rounded, c);
}

/// The whole instruction. Nothing is written before all operands are read: D may alias them.
template <MmaShape kShape, StepRule kRule>
static void halfMma(const MmaRegisters &registers) {
  constexpr int kGroups = kShape.k / kGroup;
  GroupOperands operands[kGroups];
  bool isOrdinary = true;
  for (int group = 0; group < kGroups; ++group) {
    isOrdinary = decodeGroup<kShape>(registers, group, operands[group]) && isOrdinary;
  }
  if (!isOrdinary) {
    computeMma(registers, kShape, kRule);
    return;
  }
  __m256 values[kRows];
  for (int row = 0; row < kRows; ++row) {
    values[row] = loadRow<kShape>(registers, row);
    for (int group = 0; group < kGroups; ++group) {
      values[row] = stepRow<kShape, kRule>(operands[group], row, values[row]);
    }
  }
  for (int row = 0; row < kRows; ++row) {
    storeRow<kShape>(registers, row, values[row]);
  }
}

template <MmaFormat kFormat, MmaAccumulator kAccumulator>
static constexpr VectorForm halfForm() {
  constexpr MmaShape kShape{.k = 16, .a = kFormat, .b = kFormat, .accumulator = kAccumulator};
  constexpr StepRule kRule = *findStepRule(kShape, "89");
  static_assert(kRule.groupSize == kGroup && kRule.fractionBits <= 24);
  return {kShape, kRule, halfMma<kShape, kRule>};
}

static constexpr VectorForm kForms[] = {
    halfForm<MmaFormat::F16, MmaAccumulator::F32>(),
    halfForm<MmaFormat::F16, MmaAccumulator::F16>(),
    halfForm<MmaFormat::BF16, MmaAccumulator::F32>(),
};

MmaFunction findAvx2HalfMma(const MmaShape &shape, const StepRule &rule) {
  return findForm(kForms, shape, rule);
}

} // namespace fp8jit::emulator

#else

namespace fp8jit::emulator {

MmaFunction findAvx2HalfMma(const MmaShape &, const StepRule &) {
  return nullptr;
}

} // namespace fp8jit::emulator

#endif
