// Selection of the function for one instruction form: a table of instantiations, each knowing its
// shape, formats and rule at compile time.
#include "emulator/tensor/mma.h"

#include "emulator/tensor/fragments.h"
#include "emulator/tensor/mma_avx2.h"
#include "emulator/tensor/mma_portable.h"
#include "emulator/tensor/step_rules.h"

#include <array>

namespace fp8jit::emulator {
namespace {

struct MmaForm {
  std::string_view arch;
  MmaShape shape;
  StepRule rule;
  MmaFunction portable = nullptr;
};

} // namespace

void computeMma(const MmaRegisters &registers, const MmaShape &shape, const StepRule &rule) {
  const auto k = static_cast<std::size_t>(shape.k);
  MmaOperands operands;
  MmaAccumulators accumulators;
  gatherOperands(registers, classOf(shape.a) == OperandClass::Fp8 ? 1 : 2, shape.k, operands);
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

template <MmaShape kShape, StepRule kRule>
static void portableMma(const MmaRegisters &registers) {
  computeMma(registers, kShape, kRule);
}

/// The form of sm_89 with these formats; does not compile if the rule table has none.
template <int kDepth, MmaFormat kA, MmaFormat kB, MmaAccumulator kAccumulator>
static constexpr MmaForm adaForm() {
  constexpr MmaShape kShape{.k = kDepth, .a = kA, .b = kB, .accumulator = kAccumulator};
  constexpr StepRule kRule = *findStepRule(kShape, "89");
  return {.arch = "89", .shape = kShape, .rule = kRule, .portable = portableMma<kShape, kRule>};
}

static constexpr std::array kForms = {
    adaForm<32, MmaFormat::E4M3, MmaFormat::E4M3, MmaAccumulator::F32>(),
    adaForm<32, MmaFormat::E4M3, MmaFormat::E5M2, MmaAccumulator::F32>(),
    adaForm<32, MmaFormat::E5M2, MmaFormat::E4M3, MmaAccumulator::F32>(),
    adaForm<32, MmaFormat::E5M2, MmaFormat::E5M2, MmaAccumulator::F32>(),
    adaForm<32, MmaFormat::E4M3, MmaFormat::E4M3, MmaAccumulator::F16>(),
    adaForm<32, MmaFormat::E4M3, MmaFormat::E5M2, MmaAccumulator::F16>(),
    adaForm<32, MmaFormat::E5M2, MmaFormat::E4M3, MmaAccumulator::F16>(),
    adaForm<32, MmaFormat::E5M2, MmaFormat::E5M2, MmaAccumulator::F16>(),
    adaForm<16, MmaFormat::E4M3, MmaFormat::E4M3, MmaAccumulator::F32>(),
    adaForm<16, MmaFormat::E4M3, MmaFormat::E5M2, MmaAccumulator::F32>(),
    adaForm<16, MmaFormat::E5M2, MmaFormat::E4M3, MmaAccumulator::F32>(),
    adaForm<16, MmaFormat::E5M2, MmaFormat::E5M2, MmaAccumulator::F32>(),
    adaForm<16, MmaFormat::E4M3, MmaFormat::E4M3, MmaAccumulator::F16>(),
    adaForm<16, MmaFormat::E4M3, MmaFormat::E5M2, MmaAccumulator::F16>(),
    adaForm<16, MmaFormat::E5M2, MmaFormat::E4M3, MmaAccumulator::F16>(),
    adaForm<16, MmaFormat::E5M2, MmaFormat::E5M2, MmaAccumulator::F16>(),
    adaForm<16, MmaFormat::F16, MmaFormat::F16, MmaAccumulator::F32>(),
    adaForm<16, MmaFormat::F16, MmaFormat::F16, MmaAccumulator::F16>(),
    adaForm<16, MmaFormat::BF16, MmaFormat::BF16, MmaAccumulator::F32>(),
};

/// The row of `shape` on `arch`, or null.
static const MmaForm *findForm(const MmaShape &shape, std::string_view arch) {
  for (const MmaForm &form : kForms) {
    if (form.arch == arch && form.shape == shape) {
      return &form;
    }
  }
  return nullptr;
}

MmaFunction selectMma(const MmaShape &shape, std::string_view arch) {
  const MmaForm *form = findForm(shape, arch);
  if (form == nullptr) {
    return nullptr;
  }
  const MmaFunction vector = classOf(shape.a) == OperandClass::Fp8
                                 ? findAvx2Fp8Mma(shape, form->rule)
                                 : findAvx2HalfMma(shape, form->rule);
  return vector != nullptr ? vector : form->portable;
}

MmaFunction selectPortableMma(const MmaShape &shape, std::string_view arch) {
  const MmaForm *form = findForm(shape, arch);
  return form == nullptr ? nullptr : form->portable;
}

} // namespace fp8jit::emulator
