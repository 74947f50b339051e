// Selection of the function for one instruction form: tables of instantiations, each knowing its
// shape, formats and rule at compile time.
#include "emulator/tensor/mma.h"

#include "emulator/tensor/fragments.h"
#include "emulator/tensor/mma_avx2.h"
#include "emulator/tensor/mma_portable.h"
#include "emulator/tensor/step_rules.h"

#include <array>
#include <span>

namespace fp8jit::emulator {
namespace {

/// The portable functions of a shape m16n8 (or n8 of wgmma) by one rule.
struct PortableForm {
  MmaShape shape;
  StepRule rule;
  MmaFunction mma = nullptr;
  WgmmaFunction wgmma = nullptr;
};

} // namespace

void computeMma(const MmaRegisters &registers, const MmaShape &shape, const StepRule &rule) {
  const auto k = static_cast<std::size_t>(shape.k);
  MmaOperands operands;
  MmaAccumulators accumulators;
  gatherOperands(registers, bytesOf(shape.a), shape.k, operands);
  gatherAccumulators(registers, shape.accumulator, accumulators);
  for (std::size_t row = 0; row < kMmaRows; ++row) {
    for (std::size_t column = 0; column < kMmaColumns; ++column) {
      std::uint32_t &value = accumulators[row][column];
      value = dotProduct(value, std::span(operands.a[row]).first(k),
                         std::span(operands.b[column]).first(k), shape.a, shape.b, rule);
    }
  }
  scatterAccumulators(accumulators, shape.accumulator, registers);
}

MmaRegisters blockOf(const WgmmaOperands &operands, int block, MmaAccumulator accumulator) {
  static constexpr std::array<std::uint32_t, 32> kZeros{};
  constexpr int kWordsPerRegister = 32;
  const int count = accumulator == MmaAccumulator::F32 ? 4 : 2;
  MmaRegisters registers{};
  for (int r = 0; r < kMaxMmaRegisters; ++r) {
    registers.a[r] = operands.a[r];
  }
  for (int r = 0; r < count; ++r) {
    registers.d[r] = operands.d[block * count + r];
    registers.c[r] = operands.accumulate ? registers.d[r] : kZeros.data();
  }
  registers.b[0] = operands.b + 2 * block * kWordsPerRegister;
  registers.b[1] = registers.b[0] + kWordsPerRegister;
  return registers;
}

template <MmaShape kShape, StepRule kRule>
static void portableMma(const MmaRegisters &registers) {
  computeMma(registers, kShape, kRule);
}

template <MmaShape kShape, StepRule kRule>
static void portableWgmma(const WgmmaOperands &operands) {
  for (int block = 0; block < operands.n / kMmaColumns; ++block) {
    computeMma(blockOf(operands, block, kShape.accumulator), kShape, kRule);
  }
}

/// The form of these formats on `kCore`; does not compile if the rule table has none.
template <TensorCore kCore, int kDepth, MmaFormat kA, MmaFormat kB, MmaAccumulator kAccumulator>
static constexpr PortableForm form() {
  constexpr MmaShape kShape{.k = kDepth, .a = kA, .b = kB, .accumulator = kAccumulator};
  constexpr StepRule kRule = *findStepRule(kShape, kCore);
  return {kShape, kRule, portableMma<kShape, kRule>, portableWgmma<kShape, kRule>};
}

template <TensorCore kCore, int kDepth, MmaAccumulator kAccumulator>
static constexpr std::array<PortableForm, 4> fp8Forms() {
  return {form<kCore, kDepth, MmaFormat::E4M3, MmaFormat::E4M3, kAccumulator>(),
          form<kCore, kDepth, MmaFormat::E4M3, MmaFormat::E5M2, kAccumulator>(),
          form<kCore, kDepth, MmaFormat::E5M2, MmaFormat::E4M3, kAccumulator>(),
          form<kCore, kDepth, MmaFormat::E5M2, MmaFormat::E5M2, kAccumulator>()};
}

template <TensorCore kCore, int kDepth>
static constexpr std::array<PortableForm, 3> halfForms() {
  return {form<kCore, kDepth, MmaFormat::F16, MmaFormat::F16, MmaAccumulator::F32>(),
          form<kCore, kDepth, MmaFormat::F16, MmaFormat::F16, MmaAccumulator::F16>(),
          form<kCore, kDepth, MmaFormat::BF16, MmaFormat::BF16, MmaAccumulator::F32>()};
}

template <TensorCore kCore, int kDepth>
static constexpr std::array<PortableForm, 1> tf32Form() {
  return {form<kCore, kDepth, MmaFormat::TF32, MmaFormat::TF32, MmaAccumulator::F32>()};
}

template <std::size_t... kCounts>
static constexpr auto concatenate(const std::array<PortableForm, kCounts> &...parts) {
  std::array<PortableForm, (kCounts + ...)> all;
  std::size_t next = 0;
  const auto append = [&](const auto &part) {
    for (const PortableForm &item : part) {
      all[next++] = item;
    }
  };
  (append(parts), ...);
  return all;
}

// One entry per different pair of shape and rule: units that share a rule share its functions.
static constexpr std::array kForms =
    concatenate(fp8Forms<TensorCore::Ada, 32, MmaAccumulator::F32>(),
                fp8Forms<TensorCore::Ada, 32, MmaAccumulator::F16>(),
                fp8Forms<TensorCore::Ada, 16, MmaAccumulator::F32>(),
                fp8Forms<TensorCore::Ada, 16, MmaAccumulator::F16>(),
                fp8Forms<TensorCore::Hopper, 32, MmaAccumulator::F32>(),
                fp8Forms<TensorCore::Hopper, 32, MmaAccumulator::F16>(),
                fp8Forms<TensorCore::Hopper, 16, MmaAccumulator::F32>(),
                fp8Forms<TensorCore::Hopper, 16, MmaAccumulator::F16>(),
                fp8Forms<TensorCore::BlackwellRtx, 32, MmaAccumulator::F32>(),
                fp8Forms<TensorCore::BlackwellRtx, 32, MmaAccumulator::F16>(),
                fp8Forms<TensorCore::Warpgroup, 32, MmaAccumulator::F32>(),
                fp8Forms<TensorCore::Warpgroup, 32, MmaAccumulator::F16>(),
                halfForms<TensorCore::Ampere, 16>(), halfForms<TensorCore::Ampere, 8>(),
                halfForms<TensorCore::Hopper, 16>(), halfForms<TensorCore::Hopper, 8>(),
                tf32Form<TensorCore::Ampere, 8>(), tf32Form<TensorCore::Ampere, 4>(),
                tf32Form<TensorCore::Hopper, 8>(), tf32Form<TensorCore::Hopper, 4>());

/// The portable functions of `shape` by `rule`, which is one of the table's.
static const PortableForm &portableForm(const MmaShape &shape, const StepRule &rule) {
  for (const PortableForm &candidate : kForms) {
    if (candidate.shape == shape && candidate.rule == rule) {
      return candidate;
    }
  }
  return kForms[0]; // not reached: StepRulesTest asks for every row
}

/// The vector functions of `shape` by `rule`; null pointers if there are none.
static VectorFunctions vectorFunctions(const MmaShape &shape, const StepRule &rule) {
  const bool isFp8Unit = classOf(shape.a) == OperandClass::Fp8 && rule.path == StepPath::Direct;
  return isFp8Unit ? findAvx2Fp8(shape, rule) : findAvx2Wide(shape, rule);
}

MmaFunction selectMma(const MmaShape &shape, std::string_view arch) {
  const StepRule *rule = findMmaRule(shape, arch);
  if (rule == nullptr) {
    return nullptr;
  }
  const MmaFunction vector = vectorFunctions(shape, *rule).mma;
  return vector != nullptr ? vector : portableForm(shape, *rule).mma;
}

MmaFunction selectPortableMma(const MmaShape &shape, std::string_view arch) {
  const StepRule *rule = findMmaRule(shape, arch);
  return rule == nullptr ? nullptr : portableForm(shape, *rule).mma;
}

/// `shape` cut to the sixteen rows and eight columns that the tables list.
static MmaShape tileOf(MmaShape shape) {
  shape.m = kMmaRows;
  shape.n = kMmaColumns;
  return shape;
}

WgmmaFunction selectWgmma(const MmaShape &shape, std::string_view arch) {
  const StepRule *rule = findWgmmaRule(shape, arch);
  if (rule == nullptr) {
    return nullptr;
  }
  const WgmmaFunction vector = vectorFunctions(tileOf(shape), *rule).wgmma;
  return vector != nullptr ? vector : portableForm(tileOf(shape), *rule).wgmma;
}

WgmmaFunction selectPortableWgmma(const MmaShape &shape, std::string_view arch) {
  const StepRule *rule = findWgmmaRule(shape, arch);
  return rule == nullptr ? nullptr : portableForm(tileOf(shape), *rule).wgmma;
}

} // namespace fp8jit::emulator
