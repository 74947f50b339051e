// mma.sync and wgmma of one warp on f16, bf16 and tf32 with AVX2, and FP8 mma.sync of targets that
// convert it to f16. Operands that the vector code does not take (avx2_wide.h) go the scalar path.
//
// Compiled for AVX2: uses no inline function that other files share (see avx2_rows.h).
#include "emulator/tensor/avx2_fp8.h"
#include "emulator/tensor/avx2_step.h"
#include "emulator/tensor/avx2_wide.h"
#include "emulator/tensor/mma_avx2.h"
#include "emulator/tensor/mma_portable.h"
#include "emulator/tensor/step_rules.h"

#if defined(__AVX2__) && defined(__F16C__)

namespace fp8jit::emulator {
namespace {

/// FP8 operands as f16: fragment registers for each of the two passes over k.
struct alignas(32) HalfRegisters {
  std::uint32_t a[2][kMaxMmaRegisters][32];
  std::uint32_t b[2][2][32];
};

} // namespace

/// Rounds C plus the products of StepPath::HalfUnits; f16 results are rounded when stored.
static __m256 addLast(__m256 c, __m256 products) {
  const __m256 sum = _mm256_add_ps(c, products);
  const __m256 isNan = _mm256_cmp_ps(sum, sum, _CMP_UNORD_Q);
  return _mm256_blendv_ps(sum, broadcastBits(kNanF32), isNan);
}

/// All steps of eight columns. Nothing is written before C is read: D may alias it.
template <StepRule kRule, int kSteps>
[[gnu::noinline]] static void computeBlock(const WideRows<kRule.groupSize> (&a)[kSteps],
                                           const WideColumns<kRule.groupSize> (&b)[kSteps],
                                           const MmaRegisters &registers) {
  constexpr bool kIsF16 = kRule.output == StepOutput::F16Nearest;
  constexpr bool kAddsLast = kRule.path == StepPath::HalfUnits;
  __m256 values[kRows];
  for (int row = 0; row < kRows; ++row) {
    const __m256 c = loadRow<kIsF16>(registers, row);
    __m256 value = kAddsLast ? _mm256_setzero_ps() : c;
    for (int step = 0; step < kSteps; ++step) {
      value = stepRow<kRule>(a[step].values[row], b[step].values,
                             largestExponents(a[step], b[step], row), value);
    }
    values[row] = kAddsLast ? addLast(c, value) : value;
  }
  for (int row = 0; row < kRows; ++row) {
    storeRow<kIsF16>(registers, row, values[row]);
  }
}

template <MmaShape kShape, StepRule kRule>
static void wideMma(const MmaRegisters &registers) {
  constexpr int kSteps = kShape.k / kRule.groupSize;
  WideRows<kRule.groupSize> a[kSteps];
  WideColumns<kRule.groupSize> b[kSteps];
  bool isOrdinary = true;
  for (int step = 0; step < kSteps; ++step) {
    isOrdinary &= decodeRows<kShape.a>(registers.a, step, a[step]);
    isOrdinary &= decodeColumns<kShape.b>(registers.b, step, b[step]);
  }
  if (isOrdinary) {
    computeBlock<kRule, kSteps>(a, b, registers);
  } else {
    computeMma(registers, kShape, kRule);
  }
}

/// One step over all of k; A is decoded once.
template <MmaShape kShape, StepRule kRule>
static void wideWgmma(const WgmmaOperands &operands) {
  WideRows<kRule.groupSize> a[1];
  WideColumns<kRule.groupSize> b[1];
  const bool isOrdinary = decodeRows<kShape.a>(operands.a, 0, a[0]);
  for (int block = 0; block < operands.n / 8; ++block) {
    const MmaRegisters registers = blockOf(operands, block, kShape.accumulator);
    if (decodeColumns<kShape.b>(registers.b, 0, b[0]) && isOrdinary) {
      computeBlock<kRule, 1>(a, b, registers);
    } else {
      computeMma(registers, kShape, kRule);
    }
  }
}

/// Converts 16 FP8 codes of a row: the first two bytes of every word for the first pass, the others
/// for the second. Returns `seen` with NaN and infinity noted.
static __m128i convertChunk(__m128i codes, const Fp8Layout &layout, std::uint32_t *first,
                            std::uint32_t *second, __m128i seen) {
  const __m128i split = _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
  const __m128i ordered = _mm_shuffle_epi8(codes, split);
  const __m256 low = decodeEight(ordered, layout);
  const __m256 high = decodeEight(_mm_srli_si128(ordered, 8), layout);
  _mm_storeu_si128(reinterpret_cast<__m128i *>(first), _mm256_cvtps_ph(low, 0));
  _mm_storeu_si128(reinterpret_cast<__m128i *>(second), _mm256_cvtps_ph(high, 0));
  return noteSpecials(seen, codes, layout);
}

/// Fills `halves` from the FP8 operands of `kDepth` elements; false if one is NaN or infinity.
template <int kDepth>
static bool convertOperands(const MmaRegisters &registers, const Fp8Layout &layoutA,
                            const Fp8Layout &layoutB, HalfRegisters &halves) {
  __m128i specials = _mm_setzero_si128();
  for (int chunk = 0; chunk < kDepth / 16; ++chunk) {
    for (int row = 0; row < 8; ++row) {
      for (int r = 2 * chunk; r < 2 * chunk + 2; ++r) {
        specials = convertChunk(loadChunk(registers.a[r], row), layoutA, halves.a[0][r] + 4 * row,
                                halves.a[1][r] + 4 * row, specials);
      }
      specials = convertChunk(loadChunk(registers.b[chunk], row), layoutB,
                              halves.b[0][chunk] + 4 * row, halves.b[1][chunk] + 4 * row, specials);
    }
  }
  return _mm_movemask_epi8(specials) == 0;
}

/// FP8 by StepPath::HalfUnits: one step per pass.
template <MmaShape kShape, StepRule kRule>
static void halfUnitsMma(const MmaRegisters &registers) {
  HalfRegisters halves;
  if (!convertOperands<kShape.k>(registers, fp8LayoutOf(kShape.a), fp8LayoutOf(kShape.b), halves)) {
    computeMma(registers, kShape, kRule);
    return;
  }
  WideRows<kRule.groupSize> a[2];
  WideColumns<kRule.groupSize> b[2];
  for (int pass = 0; pass < 2; ++pass) {
    const std::uint32_t *const rows[] = {halves.a[pass][0], halves.a[pass][1], halves.a[pass][2],
                                         halves.a[pass][3]};
    const std::uint32_t *const columns[] = {halves.b[pass][0], halves.b[pass][1]};
    decodeRows<MmaFormat::F16>(rows, 0, a[pass]); // every finite FP8 is an ordinary f16
    decodeColumns<MmaFormat::F16>(columns, 0, b[pass]);
  }
  computeBlock<kRule, 2>(a, b, registers);
}

template <TensorCore kCore, int kDepth, MmaFormat kFormat, MmaAccumulator kAccumulator>
static constexpr VectorForm wideForm() {
  constexpr MmaShape kShape{.k = kDepth, .a = kFormat, .b = kFormat, .accumulator = kAccumulator};
  constexpr StepRule kRule = *findStepRule(kShape, kCore);
  static_assert(kDepth % kRule.groupSize == 0 && kRule.groupSize % perChunk(kFormat) == 0);
  VectorForm form{kShape, kRule, {.mma = wideMma<kShape, kRule>}};
  if constexpr (kRule.groupSize == kDepth && kDepth == 2 * perChunk(kFormat)) {
    form.functions.wgmma = wideWgmma<kShape, kRule>;
  }
  return form;
}

template <int kDepth, MmaFormat kA, MmaFormat kB, MmaAccumulator kAccumulator>
static constexpr VectorForm halfUnitsForm() {
  constexpr MmaShape kShape{.k = kDepth, .a = kA, .b = kB, .accumulator = kAccumulator};
  constexpr StepRule kRule = *findStepRule(kShape, TensorCore::Hopper);
  static_assert(kDepth == 2 * kRule.groupSize);
  return {kShape, kRule, {.mma = halfUnitsMma<kShape, kRule>}};
}

/// FP8 on f16 units: every mix of formats for one k and accumulator.
template <int kDepth, MmaAccumulator kAccumulator>
static constexpr FormatMixes halfUnitsForms() {
  return {{halfUnitsForm<kDepth, MmaFormat::E4M3, MmaFormat::E4M3, kAccumulator>(),
           halfUnitsForm<kDepth, MmaFormat::E4M3, MmaFormat::E5M2, kAccumulator>(),
           halfUnitsForm<kDepth, MmaFormat::E5M2, MmaFormat::E4M3, kAccumulator>(),
           halfUnitsForm<kDepth, MmaFormat::E5M2, MmaFormat::E5M2, kAccumulator>()}};
}

static constexpr FormatMixes kHalfUnitsForms[] = {
    halfUnitsForms<32, MmaAccumulator::F32>(),
    halfUnitsForms<32, MmaAccumulator::F16>(),
    halfUnitsForms<16, MmaAccumulator::F32>(),
    halfUnitsForms<16, MmaAccumulator::F16>(),
};

static constexpr VectorForm kForms[] = {
    wideForm<TensorCore::Ampere, 16, MmaFormat::F16, MmaAccumulator::F32>(),
    wideForm<TensorCore::Ampere, 16, MmaFormat::F16, MmaAccumulator::F16>(),
    wideForm<TensorCore::Ampere, 16, MmaFormat::BF16, MmaAccumulator::F32>(),
    wideForm<TensorCore::Ampere, 8, MmaFormat::F16, MmaAccumulator::F32>(),
    wideForm<TensorCore::Ampere, 8, MmaFormat::F16, MmaAccumulator::F16>(),
    wideForm<TensorCore::Ampere, 8, MmaFormat::BF16, MmaAccumulator::F32>(),
    wideForm<TensorCore::Ampere, 8, MmaFormat::TF32, MmaAccumulator::F32>(),
    wideForm<TensorCore::Ampere, 4, MmaFormat::TF32, MmaAccumulator::F32>(),
    wideForm<TensorCore::Hopper, 16, MmaFormat::F16, MmaAccumulator::F32>(),
    wideForm<TensorCore::Hopper, 16, MmaFormat::F16, MmaAccumulator::F16>(),
    wideForm<TensorCore::Hopper, 16, MmaFormat::BF16, MmaAccumulator::F32>(),
    wideForm<TensorCore::Hopper, 8, MmaFormat::F16, MmaAccumulator::F32>(),
    wideForm<TensorCore::Hopper, 8, MmaFormat::F16, MmaAccumulator::F16>(),
    wideForm<TensorCore::Hopper, 8, MmaFormat::BF16, MmaAccumulator::F32>(),
    wideForm<TensorCore::Hopper, 8, MmaFormat::TF32, MmaAccumulator::F32>(),
    wideForm<TensorCore::Hopper, 4, MmaFormat::TF32, MmaAccumulator::F32>(),
};

VectorFunctions findAvx2Wide(const MmaShape &shape, const StepRule &rule) {
  for (const FormatMixes &mixes : kHalfUnitsForms) {
    const VectorFunctions functions = findForm(mixes.forms, shape, rule);
    if (functions.mma != nullptr) {
      return functions;
    }
  }
  return findForm(kForms, shape, rule);
}

} // namespace fp8jit::emulator

#else

namespace fp8jit::emulator {

VectorFunctions findAvx2Wide(const MmaShape &, const StepRule &) {
  return {};
}

} // namespace fp8jit::emulator

#endif
