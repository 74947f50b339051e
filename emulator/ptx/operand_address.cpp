// The part of OperandBinder that deals with addresses: of variables as values, in brackets, and of
// parameters.
#include "emulator/ptx/operand_binder.h"
#include "emulator/ptx/type_info.h"

namespace fp8jit::emulator {

/// The address of a variable as a value: a slot that the interpreter fills, or a constant.
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
  if (variable.base != kNoSlot) {
    ref = addDisplacement(variable.base, true,
                          static_cast<std::int64_t>(variable.offset) + operand.addend);
    return is64 || fail("the address of \"" + std::string(variable.name) + "\" needs 64 bits");
  }
  const std::uint64_t base =
      variable.isUnplaced ? builder_.sharedOffset(variable) : variable.offset;
  const std::uint64_t address = base + static_cast<std::uint64_t>(operand.addend);
  if (variable.space == Space::Shared) {
    ref = builder_.addSharedAddress(static_cast<std::uint32_t>(address), is64);
    return true;
  }
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

static bool isSharedSpace(Space space) {
  return space == Space::Shared || space == Space::SharedCluster;
}

/// An address in brackets: its base as a reference, and its displacement. `space`: where a variable
/// must lie.
bool OperandBinder::resolveAddress(const Operand &operand, Space space, std::uint32_t &ref,
                                   bool &is64, std::int64_t &displacement) {
  if (!operand.isAddress) {
    return fail("expected an address in brackets, found " + describeOperand(operand));
  }
  if (operand.isNegated) {
    return fail("an address cannot be negated");
  }
  is64 = true;
  displacement = 0;
  if (operand.kind == Operand::Kind::Register) {
    if (typeBits(operand.reg.type) < 32 || !isSameFamily(operand.reg.type, Type::U64)) {
      return fail("expected an address of 32 or 64 bits, found " + describeOperand(operand));
    }
    ref = operand.reg.ref;
    is64 = refKind(ref) == RefKind::Register64;
    displacement = operand.addend;
    return true;
  }
  if (operand.kind == Operand::Kind::Literal) {
    ref = builder_.addConstant(operand.literal.bits, true);
    return true;
  }
  if (operand.kind != Operand::Kind::Variable) {
    return fail("expected an address, found " + describeOperand(operand));
  }
  const Space declared = operand.variable->space;
  is64 = declared == Space::Global || declared == Space::Const;
  const bool isInSpace = declared == space || (space == Space::Generic && is64) ||
                         (isSharedSpace(space) && isSharedSpace(declared));
  if (!isInSpace) {
    return fail("variable \"" + std::string(operand.name) +
                "\" does not lie in the state space of the instruction");
  }
  if (operand.variable->base != kNoSlot) {
    ref = operand.variable->base;
    is64 = true;
    displacement = static_cast<std::int64_t>(operand.variable->offset) + operand.addend;
    return true;
  }
  Operand base = operand;
  base.addend = 0;
  displacement = operand.addend;
  return addressOf(base, is64, ref);
}

bool OperandBinder::bindAddress(const Operand &operand) {
  if (operand.hasCoordinates) {
    return fail("coordinates are not allowed here");
  }
  if (instruction_.space == Space::Param && operand.isAddress && !operand.isNegated &&
      !hasKernelParameter_ && instruction_.op != Op::LdParam) {
    return bindParameterAddress(operand);
  }
  std::uint32_t ref = kNoSlot;
  bool is64 = true;
  std::int64_t displacement = 0;
  const Space space = addressCount_ == 0 ? instruction_.space : instruction_.srcSpace;
  if (!resolveAddress(operand, space, ref, is64, displacement)) {
    return false;
  }
  instruction_.addressBits |= static_cast<std::uint8_t>((is64 ? 1U : 0U) << addressCount_);
  (addressCount_ == 0 ? instruction_.immediate : instruction_.immediate2) = displacement;
  ++addressCount_;
  append(ref, false);
  return true;
}

/// A register that receives the sum, for which addAdditions makes an instruction; kNoSlot when the
/// kernel has too many.
std::uint32_t OperandBinder::addDisplacement(std::uint32_t ref, bool is64,
                                             std::int64_t displacement) {
  if (displacement == 0) {
    return ref;
  }
  const std::uint32_t sum = builder_.addRegisters(is64 ? Type::U64 : Type::U32, 1);
  displaced_.push_back({sum, ref, displacement, is64});
  return sum;
}

void OperandBinder::addAdditions() {
  std::vector<std::uint32_t> &operands = builder_.kernel().operands;
  for (const Displaced &address : displaced_) {
    Instruction add;
    add.op = Op::Add;
    add.type = address.is64 ? Type::U64 : Type::U32;
    add.numDst = 1;
    add.numSrc = 2;
    add.dstBits = add.srcBits = address.is64 ? 64 : 32;
    add.operands = static_cast<std::uint32_t>(operands.size());
    const auto bits = static_cast<std::uint64_t>(address.displacement);
    operands.push_back(address.sum);
    operands.push_back(address.base);
    operands.push_back(
        builder_.addConstant(address.is64 ? bits : bits & 0xffffffffU, address.is64));
    additions_.push_back(add);
  }
}

bool OperandBinder::bindBaseAddress(const Operand &operand) {
  if (operand.hasCoordinates) {
    return fail("coordinates are not allowed here");
  }
  std::uint32_t ref = kNoSlot;
  bool is64 = true;
  std::int64_t displacement = 0;
  const Space space = instruction_.op == Op::FenceProxy ? Space::Generic : Space::Shared;
  if (!resolveAddress(operand, space, ref, is64, displacement)) {
    return false;
  }
  ref = addDisplacement(ref, is64, displacement);
  instruction_.addressBits |= static_cast<std::uint8_t>((is64 ? 1U : 0U) << addressCount_);
  ++addressCount_;
  append(ref, false);
  return ref != kNoSlot || fail("the kernel has too many registers");
}

/// `[map, {x, y}]`: a generic address of 64 bits and the coordinates, innermost first.
bool OperandBinder::bindTensor(const Operand &operand) {
  std::uint32_t ref = kNoSlot;
  bool is64 = true;
  std::int64_t displacement = 0;
  if (!resolveAddress(operand, Space::Generic, ref, is64, displacement)) {
    return false;
  }
  if (!is64) {
    return fail("expected a tensor map's address of 64 bits, found " + describeOperand(operand));
  }
  if (!operand.hasCoordinates || operand.partCount != instruction_.vector) {
    return fail("expected a tensor map and " + std::to_string(instruction_.vector) +
                " coordinates");
  }
  ref = addDisplacement(ref, true, displacement);
  append(ref, false);
  Item coordinate;
  for (std::size_t i = 0; i < operand.partCount; ++i) {
    if (!addSource(coordinate, Type::S32, list_.parts[operand.firstPart + i])) {
      return false;
    }
  }
  return ref != kNoSlot || fail("the kernel has too many registers");
}

} // namespace fp8jit::emulator
