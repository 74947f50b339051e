// The scalar model of a tensor core: one aligned, truncating, fused sum per step. It is the oracle
// of the vector code and the slow path for operands with NaN or infinity.
//
// Model: "Accurate Models of NVIDIA Tensor Cores" (Khattak and Mikaitis, arXiv 2512.07004),
// confirmed on samples of real GPUs. Main entries: accumulateStep, dotProduct.
#pragma once

#include "emulator/tensor/mma.h"

#include <cstdint>
#include <span>

namespace fp8jit::emulator {

/// How a step rounds its exact sum to the accumulator's format.
enum class StepOutput : std::uint8_t {
  F32Truncate13, ///< f32 cut toward zero to 13 fraction bits
  F32Truncate23, ///< f32 cut toward zero to 23 fraction bits
  F16Nearest,    ///< f16, nearest even
};

/// Which units execute an instruction.
enum class StepPath : std::uint8_t {
  Direct, ///< units of the operands' own format; the first step takes C
  /// FP8 operands on f16 units: they become f16, the elements with k mod 4 < 2 are summed before
  /// the others, the chain starts at zero, and C is added at the end, rounded to nearest even.
  HalfUnits,
};

/// The parameters of one instruction on one target.
struct StepRule {
  int groupSize = 16;      ///< products summed per step; the steps of one instruction are chained
  int fractionBits = 13;   ///< bits kept below the largest exponent when terms are aligned
  int minExponent = -1000; ///< lower clamp of the alignment exponent
  StepOutput output = StepOutput::F32Truncate13;
  StepPath path = StepPath::Direct;

  bool operator==(const StepRule &) const = default;
};

/// Canonical NaN of an accumulator.
inline constexpr std::uint32_t kNanF32 = 0x7fffffff;
inline constexpr std::uint32_t kNanF16 = 0x7fff;

/// One step: round(c + sum of a[i]·b[i]). `a` and `b` hold operand codes in the low bits (of tf32
/// the low 13 of 32 bits are ignored) and have equal length, at most 64; `c` and the result are the
/// accumulator's bits (f16 in the low half).
///
/// Every finite operand x = s·2^e with 1 <= |s| < 2, or, if subnormal, e = the format's minimum
/// exponent and |s| < 1; a product has the exponent e_a + e_b and is not normalised. E is the
/// largest exponent of the non-zero products and c; every term is cut toward zero to a multiple of
/// 2^(E - fractionBits); the sum is exact and rounded once. An exactly zero sum is +0. A NaN, an
/// infinity times zero, or infinities of both signs give the canonical NaN; else an infinity stays.
std::uint32_t accumulateStep(std::uint32_t c, std::span<const std::uint32_t> a,
                             std::span<const std::uint32_t> b, MmaFormat formatA, MmaFormat formatB,
                             const StepRule &rule);

/// The steps of one instruction over all of k, chained in groups of rule.groupSize: in order of k,
/// or as StepPath says.
std::uint32_t dotProduct(std::uint32_t c, std::span<const std::uint32_t> a,
                         std::span<const std::uint32_t> b, MmaFormat formatA, MmaFormat formatB,
                         const StepRule &rule);

} // namespace fp8jit::emulator
