// FP8 mma.sync and wgmma of one warp with AVX2, on FP8 units. The largest exponents come from byte
// sums of the operands' exponents, four rows by eight columns at a time; the rest is avx2_step.h.
// NaN and infinity among A and B take the scalar path; C may be anything.
//
// Compiled for AVX2: uses no inline function that other files share (see avx2_rows.h).
#include "emulator/tensor/mma_avx2.h"

#include "emulator/tensor/avx2_fp8.h"
#include "emulator/tensor/avx2_step.h"
#include "emulator/tensor/mma_portable.h"
#include "emulator/tensor/step_rules.h"

#if defined(__AVX2__) && defined(__F16C__)

namespace fp8jit::emulator {
namespace {

constexpr int kChunk = 16; // codes of a row in one fragment register

/// Decoded A of one step: values and exponents of 16 rows.
template <int kGroup>
struct alignas(32) RowOperands {
  float values[kRows][kGroup];
  __m128i exponents[kGroup]; ///< [k][row]
};

/// Decoded B of one step: values and exponents of eight columns.
template <int kGroup>
struct alignas(32) ColumnOperands {
  float values[kGroup][8];
  long long exponents[kGroup]; ///< [k][column], eight bytes
};

} // namespace

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

/// Decodes A of step `group`; false if an operand is NaN or infinity.
template <int kGroup>
static bool decodeRows(const std::uint32_t *const *registers, int group, const Fp8Layout &layout,
                       RowOperands<kGroup> &operands) {
  __m128i specials = _mm_setzero_si128();
  for (int k = 0; k < kGroup; k += kChunk) {
    const std::uint32_t *const *halves = registers + 2 * (group * kGroup + k) / kChunk;
    __m128i exponents[kRows];
    for (int row = 0; row < kRows; ++row) {
      const __m128i codes = loadChunk(halves[row / 8], row % 8);
      specials = noteSpecials(specials, codes, layout);
      exponents[row] = exponentBytes(codes, layout);
      _mm256_store_ps(operands.values[row] + k, decodeEight(codes, layout));
      _mm256_store_ps(operands.values[row] + k + 8, decodeEight(_mm_srli_si128(codes, 8), layout));
    }
    for (int round = 0; round < 4; ++round) {
      shuffleBytes(exponents);
    }
    for (int i = 0; i < kChunk; ++i) {
      operands.exponents[k + i] = exponents[i];
    }
  }
  return _mm_movemask_epi8(specials) == 0;
}

/// Decodes B of step `group`; false if an operand is NaN or infinity.
template <int kGroup>
static bool decodeColumns(const std::uint32_t *const *registers, int group, const Fp8Layout &layout,
                          ColumnOperands<kGroup> &operands) {
  __m128i specials = _mm_setzero_si128();
  for (int k = 0; k < kGroup; k += kChunk) {
    const std::uint32_t *lanes = registers[(group * kGroup + k) / kChunk];
    __m128i codes[8];
    for (int column = 0; column < 8; ++column) {
      codes[column] = loadChunk(lanes, column);
      specials = noteSpecials(specials, codes[column], layout);
    }
    for (int round = 0; round < 3; ++round) {
      shuffleBytes(codes);
    }
    for (int pair = 0; pair < kChunk / 2; ++pair) { // two k of eight columns each
      float(*values)[8] = operands.values + k + 2 * pair;
      _mm256_store_ps(values[0], decodeEight(codes[pair], layout));
      _mm256_store_ps(values[1], decodeEight(_mm_srli_si128(codes[pair], 8), layout));
      _mm_storeu_si128(reinterpret_cast<__m128i *>(operands.exponents + k + 2 * pair),
                       exponentBytes(codes[pair], layout));
    }
  }
  return _mm_movemask_epi8(specials) == 0;
}

/// The largest product exponent of every output, [row][column].
template <int kGroup>
static void largestExponents(const RowOperands<kGroup> &a, const ColumnOperands<kGroup> &b,
                             __m256i (&largest)[4]) {
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
    const __m256i rows = _mm256_broadcastsi128_si256(a.exponents[k]);
    const __m256i columns = _mm256_set1_epi64x(b.exponents[k]);
#pragma GCC unroll 4
    for (int quad = 0; quad < 4; ++quad) {
      const __m256i sums = _mm256_adds_epi8(_mm256_shuffle_epi8(rows, spread[quad]), columns);
      largest[quad] = _mm256_max_epi8(largest[quad], sums);
    }
  }
}

/// All steps of eight columns. Nothing is written before C is read: D may alias it.
template <StepRule kRule, int kSteps>
[[gnu::noinline]] static void computeBlock(const RowOperands<kRule.groupSize> (&a)[kSteps],
                                           const ColumnOperands<kRule.groupSize> (&b)[kSteps],
                                           const MmaRegisters &registers) {
  constexpr bool kIsF16 = kRule.output == StepOutput::F16Nearest;
  __m256 values[kRows];
  for (int row = 0; row < kRows; ++row) {
    values[row] = loadRow<kIsF16>(registers, row);
  }
  for (int step = 0; step < kSteps; ++step) {
    __m256i largest[4];
    largestExponents(a[step], b[step], largest);
    for (int quad = 0; quad < 4; ++quad) {
      const __m128i low = _mm256_castsi256_si128(largest[quad]);
      const __m128i high = _mm256_extracti128_si256(largest[quad], 1);
      const __m128i rows[4] = {low, _mm_srli_si128(low, 8), high, _mm_srli_si128(high, 8)};
      for (int i = 0; i < 4; ++i) {
        const int row = 4 * quad + i;
        values[row] = stepRow<kRule>(a[step].values[row], b[step].values,
                                     _mm256_cvtepi8_epi32(rows[i]), values[row]);
      }
    }
  }
  for (int row = 0; row < kRows; ++row) {
    storeRow<kIsF16>(registers, row, values[row]);
  }
}

template <MmaShape kShape, StepRule kRule>
static void fp8Mma(const MmaRegisters &registers) {
  constexpr int kSteps = kShape.k / kRule.groupSize;
  RowOperands<kRule.groupSize> a[kSteps];
  ColumnOperands<kRule.groupSize> b[kSteps];
  bool isOrdinary = true;
  for (int step = 0; step < kSteps; ++step) {
    isOrdinary &= decodeRows(registers.a, step, fp8LayoutOf(kShape.a), a[step]);
    isOrdinary &= decodeColumns(registers.b, step, fp8LayoutOf(kShape.b), b[step]);
  }
  if (isOrdinary) {
    computeBlock<kRule, kSteps>(a, b, registers);
  } else {
    computeMma(registers, kShape, kRule);
  }
}

/// One step of 32 products; A is decoded once.
template <MmaShape kShape, StepRule kRule>
static void fp8Wgmma(const WgmmaOperands &operands) {
  RowOperands<kRule.groupSize> a[1];
  ColumnOperands<kRule.groupSize> b[1];
  const bool isOrdinary = decodeRows(operands.a, 0, fp8LayoutOf(kShape.a), a[0]);
  for (int block = 0; block < operands.n / 8; ++block) {
    const MmaRegisters registers = blockOf(operands, block, kShape.accumulator);
    if (decodeColumns(registers.b, 0, fp8LayoutOf(kShape.b), b[0]) && isOrdinary) {
      computeBlock<kRule, 1>(a, b, registers);
    } else {
      computeMma(registers, kShape, kRule);
    }
  }
}

template <TensorCore kCore, int kDepth, MmaFormat kA, MmaFormat kB, MmaAccumulator kAccumulator>
static constexpr VectorForm fp8Form() {
  constexpr MmaShape kShape{.k = kDepth, .a = kA, .b = kB, .accumulator = kAccumulator};
  constexpr StepRule kRule = *findStepRule(kShape, kCore);
  static_assert(kDepth % kRule.groupSize == 0 && kRule.groupSize % kChunk == 0);
  VectorForm form{kShape, kRule, {.mma = fp8Mma<kShape, kRule>}};
  if constexpr (kCore == TensorCore::Warpgroup) {
    form.functions.wgmma = fp8Wgmma<kShape, kRule>;
  }
  return form;
}

/// Every mix of formats for one unit, k and accumulator.
template <TensorCore kCore, int kDepth, MmaAccumulator kAccumulator>
static constexpr FormatMixes fp8Forms() {
  return {{fp8Form<kCore, kDepth, MmaFormat::E4M3, MmaFormat::E4M3, kAccumulator>(),
           fp8Form<kCore, kDepth, MmaFormat::E4M3, MmaFormat::E5M2, kAccumulator>(),
           fp8Form<kCore, kDepth, MmaFormat::E5M2, MmaFormat::E4M3, kAccumulator>(),
           fp8Form<kCore, kDepth, MmaFormat::E5M2, MmaFormat::E5M2, kAccumulator>()}};
}

static constexpr FormatMixes kForms[] = {
    fp8Forms<TensorCore::Ada, 32, MmaAccumulator::F32>(),
    fp8Forms<TensorCore::Ada, 32, MmaAccumulator::F16>(),
    fp8Forms<TensorCore::Ada, 16, MmaAccumulator::F32>(),
    fp8Forms<TensorCore::Ada, 16, MmaAccumulator::F16>(),
    fp8Forms<TensorCore::BlackwellRtx, 32, MmaAccumulator::F32>(),
    fp8Forms<TensorCore::BlackwellRtx, 32, MmaAccumulator::F16>(),
    fp8Forms<TensorCore::Warpgroup, 32, MmaAccumulator::F32>(),
    fp8Forms<TensorCore::Warpgroup, 32, MmaAccumulator::F16>(),
};

VectorFunctions findAvx2Fp8(const MmaShape &shape, const StepRule &rule) {
  for (const FormatMixes &mixes : kForms) {
    const VectorFunctions functions = findForm(mixes.forms, shape, rule);
    if (functions.mma != nullptr) {
      return functions;
    }
  }
  return {};
}

} // namespace fp8jit::emulator

#else

namespace fp8jit::emulator {

VectorFunctions findAvx2Fp8(const MmaShape &, const StepRule &) {
  return {};
}

} // namespace fp8jit::emulator

#endif
