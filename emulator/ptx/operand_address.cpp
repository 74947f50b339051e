// The part of OperandBinder that deals with addresses: of variables as values, in brackets, and of
// parameters.
#include "emulator/ptx/operand_binder.h"
#include "emulator/ptx/type_info.h"

namespace fp8jit::emulator {

/// The address of a variable as a value: a constant, or a symbol for global memory.
bool OperandBinder::addressOf(const Operand &operand, bool is64, std::uint32_t &ref) {
  const Variable &variable = *operand.variable;
  if (variable.space == Space::Global || variable.space == Space::Const) {
    ref = builder_.addSymbol(variable.global, operand.addend);
    return is64 || fail("the address of \"" + std::string(variable.name) + "\" needs 64 bits");
  }
  if (variable.isDynamicShared) {
    builder_.alignDynamicShared(variable.align);
    ref = builder_.addDynamicSharedAddress(operand.addend, is64);
    return true;
  }
  const std::uint64_t base =
      variable.isUnplaced ? builder_.sharedOffset(variable) : variable.offset;
  const std::uint64_t address = base + static_cast<std::uint64_t>(operand.addend);
  ref = builder_.addConstant(is64 ? address : address & 0xffffffffU, is64);
  return true;
}

/// ld.param and st.param: a kernel parameter is an offset; parameters of calls lie in local memory.
bool OperandBinder::bindParameterAddress(const Operand &operand) {
  const bool isLoad = instruction_.op == Op::Ld;
  const Variable *variable = operand.kind == Operand::Kind::Variable ? operand.variable : nullptr;
  const bool isKernelParameter = variable != nullptr ? variable->space == Space::Param : isEntry_;
  if (!isKernelParameter) {
    instruction_.space = Space::Local;
    return bindAddress(operand);
  }
  if (!isLoad) {
    return fail("parameters of a kernel cannot be written");
  }
  instruction_.op = Op::LdParam;
  if (variable == nullptr) {
    return bindAddress(operand);
  }
  const std::uint64_t bytes = std::uint64_t{typeBits(instruction_.type)} / 8 * instruction_.vector;
  const auto begin = static_cast<std::uint64_t>(operand.addend);
  if (operand.addend < 0 || begin > variable->sizeBytes || variable->sizeBytes - begin < bytes) {
    return fail("access of " + std::to_string(bytes) + " bytes at " +
                std::to_string(operand.addend) + " lies outside parameter \"" +
                std::string(variable->name) + "\" of " + std::to_string(variable->sizeBytes) +
                " bytes");
  }
  instruction_.immediate = static_cast<std::int64_t>(variable->offset + begin);
  hasKernelParameter_ = true;
  return true;
}

bool OperandBinder::bindAddress(const Operand &operand) {
  if (!operand.isAddress) {
    return fail("expected an address in brackets, found " + describeOperand(operand));
  }
  if (operand.isNegated) {
    return fail("an address cannot be negated");
  }
  if (instruction_.space == Space::Param) {
    const bool isDone = hasKernelParameter_;
    if (!isDone && instruction_.op != Op::LdParam) {
      return bindParameterAddress(operand);
    }
  }
  std::uint32_t ref = kNoSlot;
  bool is64 = true;
  std::int64_t displacement = 0;
  if (operand.kind == Operand::Kind::Register) {
    if (typeBits(operand.reg.type) < 32 || !isSameFamily(operand.reg.type, Type::U64)) {
      return fail("expected an address of 32 or 64 bits, found " + describeOperand(operand));
    }
    ref = operand.reg.ref;
    is64 = refKind(ref) == RefKind::Register64;
    displacement = operand.addend;
  } else if (operand.kind == Operand::Kind::Literal) {
    ref = builder_.addConstant(operand.literal.bits, true);
  } else if (operand.kind == Operand::Kind::Variable) {
    Operand base = operand;
    base.addend = 0;
    displacement = operand.addend;
    is64 = operand.variable->space == Space::Global || operand.variable->space == Space::Const;
    if (instruction_.op != Op::CpAsync && operand.variable->space != instruction_.space &&
        !(instruction_.space == Space::Generic && is64)) {
      return fail("variable \"" + std::string(operand.name) +
                  "\" does not lie in the state space of the instruction");
    }
    if (!addressOf(base, is64, ref)) {
      return false;
    }
  } else {
    return fail("expected an address, found " + describeOperand(operand));
  }
  instruction_.addressBits |= static_cast<std::uint8_t>((is64 ? 1U : 0U) << addressCount_);
  (addressCount_ == 0 ? instruction_.immediate : instruction_.immediate2) = displacement;
  ++addressCount_;
  append(ref, false);
  return true;
}

} // namespace fp8jit::emulator
