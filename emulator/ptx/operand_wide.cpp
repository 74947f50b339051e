// The part of OperandBinder that deals with registers of 128 bits: pairs of 64-bit registers.
#include "emulator/ptx/operand_binder.h"

namespace fp8jit::emulator {

/// Appends both halves of a 128-bit register, or of the sink.
bool OperandBinder::addWide(const Operand &operand, bool isDestination) {
  if (isDestination && operand.kind == Operand::Kind::Sink && instruction_.op == Op::Atom) {
    append(kNoSlot, true);
    append(kNoSlot, true);
    return true;
  }
  if (operand.kind != Operand::Kind::Register || operand.reg.type != Type::B128 ||
      operand.isNegated || operand.isAddress) {
    return fail("expected a register of type .b128, found " + describeOperand(operand));
  }
  append(operand.reg.ref, isDestination);
  append(operand.reg.ref + 1, isDestination);
  (isDestination ? instruction_.dstBits : instruction_.srcBits) = 64;
  (isDestination ? hasDestinationWidth_ : hasSourceWidth_) = true;
  return true;
}

/// Moves of 128 bits become one of the lower and one of the upper half, loads and stores a vector
/// of two elements.
bool OperandBinder::splitWide() {
  if (instruction_.type != Type::B128 || instruction_.op == Op::Atom) {
    return true;
  }
  instruction_.type = Type::B64;
  if (instruction_.op == Op::Ld || instruction_.op == Op::LdParam || instruction_.op == Op::St) {
    instruction_.vector = 2;
    return true;
  }
  std::vector<std::uint32_t> &operands = builder_.kernel().operands;
  std::uint32_t *const refs = operands.data() + instruction_.operands;
  for (std::uint32_t *ref : {refs, refs + 1}) {
    if (*ref == kNoSlot) { // `_`: a register that nobody reads
      *ref = builder_.addRegisters(Type::B64, 1);
    }
    if (*ref == kNoSlot) {
      return fail("the kernel has too many registers");
    }
  }
  std::swap(refs[1], refs[2]);
  instruction_.op = Op::Mov;
  instruction_.srcType = Type::None;
  instruction_.vector = 1;
  instruction_.numDst = instruction_.numSrc = 1;
  instruction_.dstBits = instruction_.srcBits = 64;
  additions_.push_back(instruction_);
  instruction_.operands += 2;
  return true;
}

} // namespace fp8jit::emulator
