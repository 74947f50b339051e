// Which instruction sums how many products with how many bits on which target.
// Source: the rules of sm_89 were fitted to samples of an Ada laptop GPU and an L40S (FP8 and
// 16-bit operands, both accumulators); m16n8k16 FP8 follows the model of arXiv 2512.07004.
#pragma once

#include "emulator/tensor/scalar_model.h"

#include <array>
#include <string_view>

namespace fp8jit::emulator {

/// Operand formats that share a data path.
enum class OperandClass : std::uint8_t { Fp8, F16, BF16 };

/// One row of the table: the m16n8 shapes of one kind of operand.
struct StepRuleRow {
  std::string_view arch;
  int k = 0;
  OperandClass operands = OperandClass::Fp8;
  MmaAccumulator accumulator = MmaAccumulator::F32;
  StepRule rule;
};

// Lower clamp of the alignment exponent for 16-bit operands on Ampere and Ada (same source); only
// bf16 products can reach it.
inline constexpr int kMinExponentAda = -132;

inline constexpr StepRule kAdaFp8F32 = {
    .groupSize = 16, .fractionBits = 13, .output = StepOutput::F32Truncate13};
inline constexpr StepRule kAdaFp8F16 = {
    .groupSize = 16, .fractionBits = 13, .output = StepOutput::F16Nearest};
inline constexpr StepRule kAda16BitF32 = {.groupSize = 8,
                                          .fractionBits = 24,
                                          .minExponent = kMinExponentAda,
                                          .output = StepOutput::F32Truncate23};
inline constexpr StepRule kAda16BitF16 = {.groupSize = 8,
                                          .fractionBits = 24,
                                          .minExponent = kMinExponentAda,
                                          .output = StepOutput::F16Nearest};

inline constexpr std::array kStepRules = {
    StepRuleRow{"89", 32, OperandClass::Fp8, MmaAccumulator::F32, kAdaFp8F32},
    StepRuleRow{"89", 32, OperandClass::Fp8, MmaAccumulator::F16, kAdaFp8F16},
    StepRuleRow{"89", 16, OperandClass::Fp8, MmaAccumulator::F32, kAdaFp8F32},
    StepRuleRow{"89", 16, OperandClass::Fp8, MmaAccumulator::F16, kAdaFp8F16},
    StepRuleRow{"89", 16, OperandClass::F16, MmaAccumulator::F32, kAda16BitF32},
    StepRuleRow{"89", 16, OperandClass::F16, MmaAccumulator::F16, kAda16BitF16},
    StepRuleRow{"89", 16, OperandClass::BF16, MmaAccumulator::F32, kAda16BitF32},
};

/// The data path of a format.
constexpr OperandClass classOf(MmaFormat format) {
  switch (format) {
  case MmaFormat::E4M3:
  case MmaFormat::E5M2:
    return OperandClass::Fp8;
  case MmaFormat::F16:
    return OperandClass::F16;
  case MmaFormat::BF16:
    return OperandClass::BF16;
  }
  return OperandClass::Fp8;
}

/// The rule of `shape` on `arch` ("89"), or null if that target lacks the instruction here.
constexpr const StepRule *findStepRule(const MmaShape &shape, std::string_view arch) {
  const OperandClass operands = classOf(shape.a);
  if (shape.m != 16 || shape.n != 8 || classOf(shape.b) != operands) {
    return nullptr;
  }
  for (const StepRuleRow &row : kStepRules) {
    if (row.arch == arch && row.k == shape.k && row.operands == operands &&
        row.accumulator == shape.accumulator) {
      return &row.rule;
    }
  }
  return nullptr;
}

} // namespace fp8jit::emulator
