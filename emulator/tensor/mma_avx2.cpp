// FP8 mma.sync of one warp with AVX2. Per group of 16 products and per output:
//   pass 1  E = the largest exponent, from byte sums of the operands' exponents;
//   pass 2  S = sum of truncated terms: the float product of two FP8 significands is exact, so is
//           its scaling by 2^(F - E), and the conversion to integers truncates as the model does.
// A zero operand has the exponent -128 in pass 1, so that its saturated sums stay below every real
// one. NaN and infinity among A and B take the scalar path; C may be anything.
//
// Compiled for AVX2: uses no inline function that other files share (see avx2_rows.h).
#include "emulator/tensor/mma_avx2.h"

#include "emulator/tensor/avx2_rows.h"
#include "emulator/tensor/mma_portable.h"
#include "emulator/tensor/step_rules.h"

#if defined(__AVX2__) && defined(__F16C__)

namespace fp8jit::emulator {
namespace {

constexpr int kGroup = 16;     // products per step, and bytes of k per register row
constexpr int kBelowAll = -20; // below every biased exponent, and still a power of two as a float

/// How to read one FP8 format.
struct Fp8Layout {
  int fractionBits;
  int bias;
  int alignShift;      ///< right shift that moves the code from the top byte to f32's fields
  int fieldMask;       ///< sign, exponent and fraction after that shift
  float exponentScale; ///< 2^(127 - bias)
  char firstSpecial;   ///< smallest magnitude code that is NaN or infinity
};

constexpr Fp8Layout layoutOf(MmaFormat format) {
  return format == MmaFormat::E4M3
             ? Fp8Layout{3, 7, 4, static_cast<int>(0x87f00000), 0x1p120F, 0x7f}
             : Fp8Layout{2, 15, 3, static_cast<int>(0x8fe00000), 0x1p112F, 0x7c};
}

/// Decoded operands of one group: values as floats, exponents (field at least 1, biased) as bytes.
struct alignas(32) GroupOperands {
  float a[kRows][kGroup];
  float b[kGroup][8];
  __m128i aExponents[kGroup];   ///< [k][row]
  long long bExponents[kGroup]; ///< [k][column], eight bytes
};

} // namespace

static __m256 decodeEight(__m128i codes, const Fp8Layout &layout) {
  const __m256i top = _mm256_slli_epi32(_mm256_cvtepu8_epi32(codes), 24);
  const __m256i fields = _mm256_and_si256(_mm256_srai_epi32(top, layout.alignShift),
                                          _mm256_set1_epi32(layout.fieldMask));
  return _mm256_mul_ps(_mm256_castsi256_ps(fields), _mm256_set1_ps(layout.exponentScale));
}

static __m128i exponentBytes(__m128i codes, const Fp8Layout &layout) {
  const __m128i magnitude = _mm_and_si128(codes, _mm_set1_epi8(0x7f));
  const char fieldMask = static_cast<char>(0x7f >> layout.fractionBits);
  const __m128i field =
      _mm_and_si128(_mm_srli_epi16(magnitude, layout.fractionBits), _mm_set1_epi8(fieldMask));
  const __m128i isZero = _mm_cmpeq_epi8(magnitude, _mm_setzero_si128());
  return _mm_blendv_epi8(_mm_max_epu8(field, _mm_set1_epi8(1)), _mm_set1_epi8(-128), isZero);
}

/// All ones in every byte of `codes` that is NaN or infinity, or-ed into `seen`.
static __m128i noteSpecials(__m128i seen, __m128i codes, const Fp8Layout &layout) {
  const __m128i magnitude = _mm_and_si128(codes, _mm_set1_epi8(0x7f));
  const __m128i atLeast = _mm_max_epu8(magnitude, _mm_set1_epi8(layout.firstSpecial));
  return _mm_or_si128(seen, _mm_cmpeq_epi8(atLeast, magnitude));
}

/// One perfect shuffle of the bytes of `count` vectors; log2(count) of them transpose [count][16].
template <int kCount>
static void shuffleBytes(__m128i (&rows)[kCount]) {
  __m128i shuffled[kCount];
#pragma GCC unroll 8
  for (int i = 0; i < kCount / 2; ++i) {
    shuffled[2 * i] = _mm_unpacklo_epi8(rows[i], rows[i + kCount / 2]);
    shuffled[2 * i + 1] = _mm_unpackhi_epi8(rows[i], rows[i + kCount / 2]);
  }
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) {
    rows[i] = shuffled[i];
  }
}

/// Decodes one group; false if an operand is NaN or infinity.
template <MmaShape kShape>
static bool decodeGroup(const MmaRegisters &registers, int group, GroupOperands &operands) {
  constexpr Fp8Layout kA = layoutOf(kShape.a);
  constexpr Fp8Layout kB = layoutOf(kShape.b);
  __m128i specials = _mm_setzero_si128();
  __m128i aExponents[kRows];
  for (int row = 0; row < kRows; ++row) {
    const std::uint32_t *words = registers.a[2 * group + row / 8] + row % 8 * 4;
    const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(words));
    specials = noteSpecials(specials, codes, kA);
    aExponents[row] = exponentBytes(codes, kA);
    _mm256_store_ps(operands.a[row], decodeEight(codes, kA));
    _mm256_store_ps(operands.a[row] + 8, decodeEight(_mm_srli_si128(codes, 8), kA));
  }
  for (int round = 0; round < 4; ++round) {
    shuffleBytes(aExponents);
  }
  __m128i bCodes[8];
  for (int column = 0; column < 8; ++column) {
    const std::uint32_t *words = registers.b[group] + column * 4;
    bCodes[column] = _mm_loadu_si128(reinterpret_cast<const __m128i *>(words));
    specials = noteSpecials(specials, bCodes[column], kB);
  }
  for (int round = 0; round < 3; ++round) {
    shuffleBytes(bCodes);
  }
  for (int k = 0; k < kGroup; ++k) {
    operands.aExponents[k] = aExponents[k];
  }
  for (int pair = 0; pair < kGroup / 2; ++pair) {
    _mm256_store_ps(operands.b[2 * pair], decodeEight(bCodes[pair], kB));
    _mm256_store_ps(operands.b[2 * pair + 1], decodeEight(_mm_srli_si128(bCodes[pair], 8), kB));
    _mm_storeu_si128(reinterpret_cast<__m128i *>(&operands.bExponents[2 * pair]),
                     exponentBytes(bCodes[pair], kB));
  }
  return _mm_movemask_epi8(specials) == 0;
}

/// Pass 1: the largest biased product exponent of every output, [row][column]; not above 0 where
/// every product is zero.
static void largestExponents(const GroupOperands &operands, __m256i (&largest)[4]) {
  __m256i spread[4]; // repeats the bytes of four rows eight times each
  for (int quad = 0; quad < 4; ++quad) {
    const char r = static_cast<char>(4 * quad);
    const __m128i low =
        _mm_unpacklo_epi64(_mm_set1_epi8(r), _mm_set1_epi8(static_cast<char>(r + 1)));
    const __m128i high = _mm_unpacklo_epi64(_mm_set1_epi8(static_cast<char>(r + 2)),
                                            _mm_set1_epi8(static_cast<char>(r + 3)));
    spread[quad] = _mm256_set_m128i(high, low);
    largest[quad] = _mm256_set1_epi8(-128);
  }
#pragma GCC unroll 16
  for (int k = 0; k < kGroup; ++k) {
    const __m256i a = _mm256_broadcastsi128_si256(operands.aExponents[k]);
    const __m256i b = _mm256_set1_epi64x(operands.bExponents[k]);
#pragma GCC unroll 4
    for (int quad = 0; quad < 4; ++quad) {
      const __m256i sums = _mm256_adds_epi8(_mm256_shuffle_epi8(a, spread[quad]), b);
      largest[quad] = _mm256_max_epi8(largest[quad], sums);
    }
  }
}

/// Exponent of the accumulator in units of biased product exponents; kBelowAll where an f16 is
/// zero.
template <MmaShape kShape>
static __m256i accumulatorExponent(__m256 c) {
  constexpr int kBias = layoutOf(kShape.a).bias + layoutOf(kShape.b).bias;
  const __m256i magnitude = _mm256_and_si256(_mm256_castps_si256(c), _mm256_set1_epi32(0x7fffffff));
  const __m256i field = _mm256_srli_epi32(magnitude, 23);
  if constexpr (kShape.accumulator == MmaAccumulator::F32) {
    return _mm256_add_epi32(_mm256_max_epi32(field, _mm256_set1_epi32(1)),
                            _mm256_set1_epi32(kBias - 127));
  } else {
    const __m256i clamped = _mm256_max_epi32(field, _mm256_set1_epi32(127 - 14));
    const __m256i isZero = _mm256_cmpeq_epi32(magnitude, _mm256_setzero_si256());
    return _mm256_blendv_epi8(_mm256_add_epi32(clamped, _mm256_set1_epi32(kBias - 127)),
                              _mm256_set1_epi32(kBelowAll), isZero);
  }
}

/// Rounds S·2^(E - F) to the accumulator's format, kept as f32.
template <MmaShape kShape>
static __m256 roundSums(__m256i sums, __m256 unscale, __m256 c, __m256i hasProducts) {
  const __m256 exact = _mm256_cvtepi32_ps(sums); // |S| <= 2^20
  if constexpr (kShape.accumulator == MmaAccumulator::F16) {
    const __m256 value = _mm256_mul_ps(exact, unscale);
    return _mm256_cvtph_ps(_mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
  }
  const __m256 kept = _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(0xfffffc00)));
  const __m256 value = _mm256_mul_ps(_mm256_and_ps(exact, kept), unscale);
  // Without products the exponent is C's own, which may be too small for the scaling: cut C.
  const __m256 cut = _mm256_and_ps(c, kept);
  const __m256 isZero = _mm256_cmp_ps(cut, _mm256_setzero_ps(), _CMP_EQ_OQ);
  return blend(_mm256_andnot_ps(isZero, cut), value, hasProducts);
}

/// One step for one row of eight outputs.
template <MmaShape kShape, StepRule kRule>
static __m256 stepRow(const GroupOperands &operands, int row, __m256i products, __m256 c) {
  constexpr int kBias = layoutOf(kShape.a).bias + layoutOf(kShape.b).bias;
  constexpr int kFraction = kRule.fractionBits;
  const __m256i exponent = _mm256_max_epi32(products, accumulatorExponent<kShape>(c));
  const __m256 scale =
      powerOfTwo(_mm256_sub_epi32(_mm256_set1_epi32(127 + kFraction + kBias), exponent));
  const __m256 unscale =
      powerOfTwo(_mm256_add_epi32(_mm256_set1_epi32(127 - kFraction - kBias), exponent));
  __m256i sums = _mm256_cvttps_epi32(_mm256_mul_ps(c, scale));
#pragma GCC unroll 16
  for (int k = 0; k < kGroup; ++k) {
    const __m256 product =
        _mm256_mul_ps(_mm256_broadcast_ss(&operands.a[row][k]), _mm256_load_ps(operands.b[k]));
    sums = _mm256_add_epi32(sums, _mm256_cvttps_epi32(_mm256_mul_ps(product, scale)));
  }
  const __m256i hasProducts = _mm256_cmpgt_epi32(products, _mm256_setzero_si256());
  const __m256 rounded = roundSums<kShape>(sums, unscale, c, hasProducts);
  return keepSpecials(rounded, c);
}

/// The whole instruction. Nothing is written before all operands are read: D may alias them.
template <MmaShape kShape, StepRule kRule>
static void fp8Mma(const MmaRegisters &registers) {
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
  }
  for (int group = 0; group < kGroups; ++group) {
    __m256i largest[4];
    largestExponents(operands[group], largest);
    for (int quad = 0; quad < 4; ++quad) {
      const __m128i low = _mm256_castsi256_si128(largest[quad]);
      const __m128i high = _mm256_extracti128_si256(largest[quad], 1);
      const __m128i rows[4] = {low, _mm_srli_si128(low, 8), high, _mm_srli_si128(high, 8)};
      for (int i = 0; i < 4; ++i) {
        const int row = 4 * quad + i;
        values[row] = stepRow<kShape, kRule>(operands[group], row, _mm256_cvtepi8_epi32(rows[i]),
                                             values[row]);
      }
    }
  }
  for (int row = 0; row < kRows; ++row) {
    storeRow<kShape>(registers, row, values[row]);
  }
}

template <int kDepth, MmaFormat kA, MmaFormat kB, MmaAccumulator kAccumulator>
static constexpr VectorForm fp8Form() {
  constexpr MmaShape kShape{.k = kDepth, .a = kA, .b = kB, .accumulator = kAccumulator};
  constexpr StepRule kRule = *findStepRule(kShape, "89");
  static_assert(kRule.groupSize == kGroup && kDepth % kGroup == 0);
  return {kShape, kRule, fp8Mma<kShape, kRule>};
}

static constexpr VectorForm kForms[] = {
    fp8Form<32, MmaFormat::E4M3, MmaFormat::E4M3, MmaAccumulator::F32>(),
    fp8Form<32, MmaFormat::E4M3, MmaFormat::E5M2, MmaAccumulator::F32>(),
    fp8Form<32, MmaFormat::E5M2, MmaFormat::E4M3, MmaAccumulator::F32>(),
    fp8Form<32, MmaFormat::E5M2, MmaFormat::E5M2, MmaAccumulator::F32>(),
    fp8Form<32, MmaFormat::E4M3, MmaFormat::E4M3, MmaAccumulator::F16>(),
    fp8Form<32, MmaFormat::E4M3, MmaFormat::E5M2, MmaAccumulator::F16>(),
    fp8Form<32, MmaFormat::E5M2, MmaFormat::E4M3, MmaAccumulator::F16>(),
    fp8Form<32, MmaFormat::E5M2, MmaFormat::E5M2, MmaAccumulator::F16>(),
    fp8Form<16, MmaFormat::E4M3, MmaFormat::E4M3, MmaAccumulator::F32>(),
    fp8Form<16, MmaFormat::E4M3, MmaFormat::E5M2, MmaAccumulator::F32>(),
    fp8Form<16, MmaFormat::E5M2, MmaFormat::E4M3, MmaAccumulator::F32>(),
    fp8Form<16, MmaFormat::E5M2, MmaFormat::E5M2, MmaAccumulator::F32>(),
    fp8Form<16, MmaFormat::E4M3, MmaFormat::E4M3, MmaAccumulator::F16>(),
    fp8Form<16, MmaFormat::E4M3, MmaFormat::E5M2, MmaAccumulator::F16>(),
    fp8Form<16, MmaFormat::E5M2, MmaFormat::E4M3, MmaAccumulator::F16>(),
    fp8Form<16, MmaFormat::E5M2, MmaFormat::E5M2, MmaAccumulator::F16>(),
};

MmaFunction findAvx2Fp8Mma(const MmaShape &shape, const StepRule &rule) {
  return findForm(kForms, shape, rule);
}

} // namespace fp8jit::emulator

#else

namespace fp8jit::emulator {

MmaFunction findAvx2Fp8Mma(const MmaShape &, const StepRule &) {
  return nullptr;
}

} // namespace fp8jit::emulator

#endif
