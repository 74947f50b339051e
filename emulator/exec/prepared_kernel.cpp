// Resolves instructions: handlers, byte offsets of operands, tensor functions.
#include "emulator/exec/prepared_kernel.h"

#include "emulator/exec/findings.h"
#include "emulator/exec/handlers.h"
#include "emulator/exec/instruction_class.h"
#include "emulator/exec/tensor_function.h"

namespace fp8jit::emulator {

static constexpr Instruction makeExit() {
  Instruction instruction;
  instruction.op = Op::Exit;
  return instruction;
}

// Follows the last instruction of every kernel.
static constexpr Instruction kFinalExit = makeExit();

static Step makeStep(const Instruction &instruction, const std::uint32_t *operands, bool portable) {
  Step step;
  step.instruction = &instruction;
  step.operands = operands;
  const unsigned count = instruction.numDst + instruction.numSrc;
  for (unsigned i = 0; i < Step::kInlineOperands; ++i) {
    step.operand[i] = i < count ? operands[i] : kNoSlot;
  }
  step.guard = instruction.guard;
  step.guardFlip = instruction.guardNegate ? kAllLanes : 0;
  step.handler = portable ? selectPortableHandler(instruction) : selectHandler(instruction);
  return step;
}

/// Turns slots into byte offsets; predicate operands stay indices.
static void resolveOperands(const Kernel &kernel, const Instruction &instruction,
                            std::vector<std::uint32_t> &operands) {
  const unsigned count = instruction.numDst + instruction.numSrc;
  for (unsigned i = 0; i < count; ++i) {
    const std::uint32_t operand = kernel.operands[instruction.operands + i];
    const bool isSlot = operand != kNoSlot && !isPredicateOperand(instruction, i);
    operands.push_back(isSlot ? operand * kSlotBytes : operand);
  }
}

std::shared_ptr<const PreparedKernel> prepareKernel(const Kernel &kernel, std::string_view arch,
                                                    bool portable) {
  auto prepared = std::make_shared<PreparedKernel>();
  std::vector<std::size_t> begins;
  begins.reserve(kernel.code.size());
  for (const Instruction &instruction : kernel.code) {
    begins.push_back(prepared->operands.size());
    resolveOperands(kernel, instruction, prepared->operands);
  }
  prepared->steps.reserve(kernel.code.size() + 1);
  for (std::size_t i = 0; i < kernel.code.size(); ++i) {
    const Instruction &instruction = kernel.code[i];
    Step step = makeStep(instruction, prepared->operands.data() + begins[i], portable);
    bool isKnown = step.handler != nullptr;
    if (instruction.op == Op::Mma || instruction.op == Op::Wgmma) {
      step.tensorFunction = findTensorFunction(instruction, arch);
      isKnown &= step.tensorFunction != nullptr;
    }
    if (!isKnown && prepared->problem.empty()) {
      prepared->problem = "PTX line " + std::to_string(instruction.line) + ": " +
                          instructionName(instruction) +
                          " in this form is not known to the interpreter";
    }
    prepared->steps.push_back(step);
  }
  prepared->steps.push_back(makeStep(kFinalExit, nullptr, portable));
  guardWarpgroupRegisters(kernel, *prepared);
  return prepared;
}

} // namespace fp8jit::emulator
