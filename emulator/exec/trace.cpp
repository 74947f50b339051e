// Lines of a trace. Operands are read around the handler: sources before, destinations after.
#include "emulator/exec/trace.h"

#include "emulator/exec/block.h"
#include "emulator/exec/findings.h"
#include "emulator/exec/instruction_class.h"

#include <bit>
#include <cinttypes>
#include <cstdio>
#include <vector>

namespace fp8jit::emulator {

static bool isWide(Type type) {
  return type == Type::B64 || type == Type::U64 || type == Type::S64 || type == Type::F64;
}

/// Whether source `index` occupies two slots, as far as the instruction tells.
static bool isWideSource(const Instruction &instruction, unsigned index) {
  switch (instruction.op) {
  case Op::Ld:
  case Op::Prefetch:
    return (instruction.addressBits & 1U) != 0;
  case Op::St:
  case Op::Atom:
  case Op::Red:
    return index == 0 ? (instruction.addressBits & 1U) != 0 : instruction.srcBits == 64;
  case Op::Cvt:
  case Op::Cvta:
  case Op::CvtaTo:
    return instruction.srcBits == 64;
  case Op::Shl:
  case Op::Shr:
    return index == 0 && isWide(instruction.type);
  case Op::MadWide:
    return index == 2;
  case Op::MulWide:
    return false;
  case Op::TensorLoad:
    return index == 1 || (index == 0 && (instruction.addressBits & 1U) != 0);
  case Op::TensorStore:
  case Op::TensorReduce:
  case Op::TensorPrefetch:
    return index == 0;
  default:
    return isWide(instruction.srcType == Type::None ? instruction.type : instruction.srcType);
  }
}

static std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIx64, value);
  return text;
}

/// Values of the lanes of `mask`, as short as they allow.
static std::string summary(const std::vector<std::uint64_t> &values, LaneMask mask,
                           bool isWideValue) {
  const auto first = static_cast<unsigned>(std::countr_zero(mask));
  const std::uint64_t wrap = isWideValue ? ~std::uint64_t{0} : 0xffffffffU;
  std::uint64_t step = 0;
  bool isSequence = true;
  bool isUniform = true;
  unsigned previous = first;
  for (LaneMask rest = mask & (mask - 1); rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t difference = (values[lane] - values[previous]) & wrap;
    isUniform = isUniform && difference == 0;
    step = previous == first ? difference : step;
    isSequence = isSequence && lane == previous + 1 && difference == step;
    previous = lane;
  }
  if (isUniform) {
    return hex(values[first]);
  }
  if (isSequence && first == 0 && step <= 0xffff) {
    return hex(values[0]) + "+" + std::to_string(step) + "*lane";
  }
  std::string text = "[";
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
    text +=
        (text.size() == 1 ? "" : " ") + hex(values[static_cast<unsigned>(std::countr_zero(rest))]);
  }
  return text + "]";
}

static std::string valueOf(const Warp &warp, const Step &step, unsigned operand, bool isWideValue,
                           LaneMask mask) {
  const std::uint32_t slot = step.operands[operand];
  if (slot == kNoSlot) {
    return "_";
  }
  if (isPredicateOperand(*step.instruction, operand)) {
    char text[16];
    std::snprintf(text, sizeof text, "p:%08x", warp.predicates[slot] & mask);
    return text;
  }
  std::vector<std::uint64_t> values(kLanes);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    values[lane] = isWideValue ? warp.lanes<const std::uint64_t>(slot)[lane]
                               : warp.lanes<const std::uint32_t>(slot)[lane];
  }
  return summary(values, mask, isWideValue);
}

Outcome executeTraced(Warp &warp, const Step &step, LaneMask mask) {
  const Instruction &instruction = *step.instruction;
  char head[48];
  std::snprintf(head, sizeof head, "line %u lanes %08x ", instruction.line, mask);
  std::string text = head + instructionName(instruction);
  for (unsigned i = 0; i < instruction.numSrc; ++i) {
    text += i == 0 ? " (" : ", ";
    text += valueOf(warp, step, instruction.numDst + i, isWideSource(instruction, i), mask);
  }
  text += instruction.numSrc == 0 ? "" : ")";
  const Outcome outcome = step.handler(warp, step, mask);
  const bool isDone =
      outcome != Outcome::Park && outcome != Outcome::Wait && outcome != Outcome::Stop;
  for (unsigned i = 0; isDone && i < instruction.numDst; ++i) {
    text += i == 0 ? " -> " : ", ";
    text += valueOf(warp, step, i, instruction.dstBits == 64, mask);
  }
  text += outcome == Outcome::Stop ? " faults" : isDone ? "" : " waits";
  const WarpTrace &trace = warp.block->launch->request.trace;
  trace.sink(trace.user, text.c_str());
  return outcome;
}

} // namespace fp8jit::emulator
