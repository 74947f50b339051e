// Which instruction sums how many products with how many bits on which target: data for the scalar
// model and the vector code. Main entries: findMmaRule, findWgmmaRule.
//
// Sources. Fitted to samples of real GPUs (MATLAB-tensor-core): FP8 k32 and 16-bit operands of
// sm_80, 89, 90, 100; wgmma FP8 with f32 accumulators. The conversion to f16 of FP8 mma.sync on
// sm_90 and sm_100 is also what ptxas emits; its order of groups for k16 is inferred from k32. By
// the model of arXiv 2511.10909 only: tf32, sm_120, FP8 k16 of sm_89, wgmma with f16 accumulators.
#pragma once

#include "emulator/tensor/scalar_model.h"

#include <array>
#include <string_view>

namespace fp8jit::emulator {

/// Operand formats that share a data path.
enum class OperandClass : std::uint8_t { Fp8, F16, BF16, TF32 };

/// Tensor cores by generation, and the unit behind wgmma. Blackwell: data centre (sm_100 to 110);
/// BlackwellRtx: sm_120 and 121.
enum class TensorCore : std::uint8_t {
  None,
  Ampere,
  Ada,
  Hopper,
  Blackwell,
  BlackwellRtx,
  Warpgroup,
};

/// One row of the table: the shapes of one kind of operand.
struct StepRuleRow {
  TensorCore core = TensorCore::None;
  int k = 0;
  OperandClass operands = OperandClass::Fp8;
  MmaAccumulator accumulator = MmaAccumulator::F32;
  StepRule rule;
};

// Lower clamp of the alignment exponent for 16-bit and tf32 operands (same sources); FP8 and f16
// products cannot reach it.
inline constexpr int kMinExponentAda = -132;
inline constexpr int kMinExponentHopper = -133;

/// The rule of Ampere and Ada for everything but FP8.
constexpr StepRule adaRule(int groupSize, StepOutput output) {
  return {
      .groupSize = groupSize, .fractionBits = 24, .minExponent = kMinExponentAda, .output = output};
}

/// The rule of all newer units but FP8 wgmma.
constexpr StepRule hopperRule(int groupSize, StepOutput output, StepPath path = StepPath::Direct) {
  return {.groupSize = groupSize,
          .fractionBits = 25,
          .minExponent = kMinExponentHopper,
          .output = output,
          .path = path};
}

inline constexpr StepRule kAdaFp8F32 = {
    .groupSize = 16, .fractionBits = 13, .output = StepOutput::F32Truncate13};
inline constexpr StepRule kAdaFp8F16 = {
    .groupSize = 16, .fractionBits = 13, .output = StepOutput::F16Nearest};
inline constexpr StepRule kWgmmaFp8F32 = {
    .groupSize = 32, .fractionBits = 13, .output = StepOutput::F32Truncate13};
inline constexpr StepRule kWgmmaFp8F16 = {
    .groupSize = 32, .fractionBits = 13, .output = StepOutput::F16Nearest};

/// Ampere stands for Ada and Hopper for Blackwell and BlackwellRtx where those have no row.
inline constexpr std::array kStepRules = {
    // m16n8k32 and m16n8k16 with FP8
    StepRuleRow{TensorCore::Ada, 32, OperandClass::Fp8, MmaAccumulator::F32, kAdaFp8F32},
    StepRuleRow{TensorCore::Ada, 32, OperandClass::Fp8, MmaAccumulator::F16, kAdaFp8F16},
    StepRuleRow{TensorCore::Ada, 16, OperandClass::Fp8, MmaAccumulator::F32, kAdaFp8F32},
    StepRuleRow{TensorCore::Ada, 16, OperandClass::Fp8, MmaAccumulator::F16, kAdaFp8F16},
    StepRuleRow{TensorCore::Hopper, 32, OperandClass::Fp8, MmaAccumulator::F32,
                hopperRule(16, StepOutput::F32Truncate23, StepPath::HalfUnits)},
    StepRuleRow{TensorCore::Hopper, 32, OperandClass::Fp8, MmaAccumulator::F16,
                hopperRule(16, StepOutput::F16Nearest, StepPath::HalfUnits)},
    StepRuleRow{TensorCore::Hopper, 16, OperandClass::Fp8, MmaAccumulator::F32,
                hopperRule(8, StepOutput::F32Truncate23, StepPath::HalfUnits)},
    StepRuleRow{TensorCore::Hopper, 16, OperandClass::Fp8, MmaAccumulator::F16,
                hopperRule(8, StepOutput::F16Nearest, StepPath::HalfUnits)},
    StepRuleRow{TensorCore::BlackwellRtx, 32, OperandClass::Fp8, MmaAccumulator::F32,
                hopperRule(32, StepOutput::F32Truncate23)},
    StepRuleRow{TensorCore::BlackwellRtx, 32, OperandClass::Fp8, MmaAccumulator::F16,
                hopperRule(32, StepOutput::F16Nearest)},
    // m16n8k16 and m16n8k8 with f16 and bf16
    StepRuleRow{TensorCore::Ampere, 16, OperandClass::F16, MmaAccumulator::F32,
                adaRule(8, StepOutput::F32Truncate23)},
    StepRuleRow{TensorCore::Ampere, 16, OperandClass::F16, MmaAccumulator::F16,
                adaRule(8, StepOutput::F16Nearest)},
    StepRuleRow{TensorCore::Ampere, 16, OperandClass::BF16, MmaAccumulator::F32,
                adaRule(8, StepOutput::F32Truncate23)},
    StepRuleRow{TensorCore::Ampere, 8, OperandClass::F16, MmaAccumulator::F32,
                adaRule(8, StepOutput::F32Truncate23)},
    StepRuleRow{TensorCore::Ampere, 8, OperandClass::F16, MmaAccumulator::F16,
                adaRule(8, StepOutput::F16Nearest)},
    StepRuleRow{TensorCore::Ampere, 8, OperandClass::BF16, MmaAccumulator::F32,
                adaRule(8, StepOutput::F32Truncate23)},
    StepRuleRow{TensorCore::Hopper, 16, OperandClass::F16, MmaAccumulator::F32,
                hopperRule(16, StepOutput::F32Truncate23)},
    StepRuleRow{TensorCore::Hopper, 16, OperandClass::F16, MmaAccumulator::F16,
                hopperRule(16, StepOutput::F16Nearest)},
    StepRuleRow{TensorCore::Hopper, 16, OperandClass::BF16, MmaAccumulator::F32,
                hopperRule(16, StepOutput::F32Truncate23)},
    StepRuleRow{TensorCore::Hopper, 8, OperandClass::F16, MmaAccumulator::F32,
                hopperRule(8, StepOutput::F32Truncate23)},
    StepRuleRow{TensorCore::Hopper, 8, OperandClass::F16, MmaAccumulator::F16,
                hopperRule(8, StepOutput::F16Nearest)},
    StepRuleRow{TensorCore::Hopper, 8, OperandClass::BF16, MmaAccumulator::F32,
                hopperRule(8, StepOutput::F32Truncate23)},
    // m16n8k8 and m16n8k4 with tf32
    StepRuleRow{TensorCore::Ampere, 8, OperandClass::TF32, MmaAccumulator::F32,
                adaRule(4, StepOutput::F32Truncate23)},
    StepRuleRow{TensorCore::Ampere, 4, OperandClass::TF32, MmaAccumulator::F32,
                adaRule(4, StepOutput::F32Truncate23)},
    StepRuleRow{TensorCore::Hopper, 8, OperandClass::TF32, MmaAccumulator::F32,
                hopperRule(8, StepOutput::F32Truncate23)},
    StepRuleRow{TensorCore::Hopper, 4, OperandClass::TF32, MmaAccumulator::F32,
                hopperRule(4, StepOutput::F32Truncate23)},
    // wgmma of sm_90a: m64nNk32, k16 and k8
    StepRuleRow{TensorCore::Warpgroup, 32, OperandClass::Fp8, MmaAccumulator::F32, kWgmmaFp8F32},
    StepRuleRow{TensorCore::Warpgroup, 32, OperandClass::Fp8, MmaAccumulator::F16, kWgmmaFp8F16},
    StepRuleRow{TensorCore::Warpgroup, 16, OperandClass::F16, MmaAccumulator::F32,
                hopperRule(16, StepOutput::F32Truncate23)},
    StepRuleRow{TensorCore::Warpgroup, 16, OperandClass::F16, MmaAccumulator::F16,
                hopperRule(16, StepOutput::F16Nearest)},
    StepRuleRow{TensorCore::Warpgroup, 16, OperandClass::BF16, MmaAccumulator::F32,
                hopperRule(16, StepOutput::F32Truncate23)},
    StepRuleRow{TensorCore::Warpgroup, 8, OperandClass::TF32, MmaAccumulator::F32,
                hopperRule(8, StepOutput::F32Truncate23)},
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
  case MmaFormat::TF32:
    return OperandClass::TF32;
  }
  return OperandClass::Fp8;
}

/// The unit that executes mma.sync on `arch` ("89", "90a"); None if it is unknown.
constexpr TensorCore mmaCoreOf(std::string_view arch) {
  if (arch.starts_with("80") || arch.starts_with("86") || arch.starts_with("87")) {
    return TensorCore::Ampere;
  }
  if (arch.starts_with("89")) {
    return TensorCore::Ada;
  }
  if (arch.starts_with("90")) {
    return TensorCore::Hopper;
  }
  if (arch.starts_with("100") || arch.starts_with("103") || arch.starts_with("110")) {
    return TensorCore::Blackwell;
  }
  if (arch.starts_with("120") || arch.starts_with("121")) {
    return TensorCore::BlackwellRtx;
  }
  return TensorCore::None;
}

/// The unit whose rows serve `core` where it has none of its own; None if there is no other.
constexpr TensorCore predecessorOf(TensorCore core) {
  switch (core) {
  case TensorCore::Ada:
    return TensorCore::Ampere;
  case TensorCore::Blackwell:
  case TensorCore::BlackwellRtx:
    return TensorCore::Hopper;
  case TensorCore::None:
  case TensorCore::Ampere:
  case TensorCore::Hopper:
  case TensorCore::Warpgroup:
    return TensorCore::None;
  }
  return TensorCore::None;
}

/// The rule for the k, formats and accumulator of `shape` on `core`, or null if it has no such
/// instruction here. Formats of A and B may differ only within FP8.
constexpr const StepRule *findStepRule(const MmaShape &shape, TensorCore core) {
  const OperandClass operands = classOf(shape.a);
  if (classOf(shape.b) != operands || (operands != OperandClass::Fp8 && shape.a != shape.b)) {
    return nullptr;
  }
  for (; core != TensorCore::None; core = predecessorOf(core)) {
    for (const StepRuleRow &row : kStepRules) {
      if (row.core == core && row.k == shape.k && row.operands == operands &&
          row.accumulator == shape.accumulator) {
        return &row.rule;
      }
    }
  }
  return nullptr;
}

/// The rule of mma.sync `shape` (m16n8) on `arch` ("89"), or null if that target lacks it here.
constexpr const StepRule *findMmaRule(const MmaShape &shape, std::string_view arch) {
  return shape.m == 16 && shape.n == 8 ? findStepRule(shape, mmaCoreOf(arch)) : nullptr;
}

/// The rule of wgmma `shape` (m64, n from 8 to 256 in steps of 8) on `arch`: only "90a" has any.
constexpr const StepRule *findWgmmaRule(const MmaShape &shape, std::string_view arch) {
  const bool isShape = shape.m == 64 && shape.n >= 8 && shape.n <= 256 && shape.n % 8 == 0;
  return isShape && arch == "90a" ? findStepRule(shape, TensorCore::Warpgroup) : nullptr;
}

} // namespace fp8jit::emulator
