// Operations whose operands stand in the text in another order than in operation.h, or may be
// absent.
#include "emulator/ptx/operand_order.h"

#include "emulator/ptx/kernel_builder.h"

#include <algorithm>

namespace fp8jit::emulator {

static void padSources(Instruction &instruction, std::vector<std::uint32_t> &operands,
                       unsigned count) {
  while (instruction.numSrc < count) {
    operands.push_back(kNoSlot);
    ++instruction.numSrc;
  }
}

/// An absent source in front of the last one.
static void insertBeforeLast(Instruction &instruction, std::vector<std::uint32_t> &operands) {
  operands.insert(operands.end() - 1, kNoSlot);
  ++instruction.numSrc;
}

static void arrangeCpAsync(Instruction &instruction, std::vector<std::uint32_t> &operands) {
  if (instruction.numSrc == 3 && refKind(operands.back()) == RefKind::Predicate) {
    insertBeforeLast(instruction, operands);
  }
  padSources(instruction, operands, 4);
}

/// Moves the address behind the coordinates in front of them.
static void arrangeTensor(Instruction &instruction, std::vector<std::uint32_t> &operands,
                          unsigned firstCoordinate) {
  const auto first = operands.begin() + instruction.operands + firstCoordinate;
  const auto address = first + instruction.vector;
  std::rotate(first, address, address + 1);
}

void arrangeOperands(const Form &form, Instruction &instruction,
                     std::vector<std::uint32_t> &operands) {
  switch (instruction.op) {
  case Op::BarSync:
    padSources(instruction, operands, 2);
    break;
  case Op::BarRed:
    if (instruction.numSrc == 2) {
      insertBeforeLast(instruction, operands);
    }
    break;
  case Op::CpAsync:
    arrangeCpAsync(instruction, operands);
    break;
  case Op::MbarrierArrive: {
    const bool expectsBytes = form.immediate != 0;
    if (expectsBytes) {
      insertBeforeLast(instruction, operands);
    }
    padSources(instruction, operands, 3);
    break;
  }
  case Op::BulkCopy:
    padSources(instruction, operands, 5);
    break;
  case Op::BulkReduce:
    padSources(instruction, operands, 4);
    break;
  case Op::TensorLoad:
    arrangeTensor(instruction, operands, 2);
    padSources(instruction, operands, 4U + instruction.vector);
    break;
  case Op::TensorStore:
  case Op::TensorReduce:
    arrangeTensor(instruction, operands, 1);
    break;
  default: // as in the text
    break;
  }
}

} // namespace fp8jit::emulator
