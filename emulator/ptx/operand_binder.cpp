// Values, vectors and predicates of an instruction; addresses are in operand_address.cpp, immediate
// numbers in operand_immediate.cpp.
#include "emulator/ptx/operand_binder.h"

#include "emulator/ptx/special_registers.h"
#include "emulator/ptx/type_info.h"

namespace fp8jit::emulator {

Type OperandBinder::selectType(const Item &item) const {
  if (item.type == "S") {
    return candidate_->types[1];
  }
  if (item.type == "W") {
    return widenedType(candidate_->types[0]);
  }
  if (!item.type.empty() && item.type[0] == ':') {
    return typeFromName(item.type.substr(1)).value_or(Type::None);
  }
  return candidate_->types[0];
}

void OperandBinder::append(std::uint32_t ref, bool isDestination) {
  builder_.kernel().operands.push_back(ref);
  (isDestination ? instruction_.numDst : instruction_.numSrc) += 1;
}

bool OperandBinder::checkRegister(const Item &item, Type type, const Operand &operand) {
  const Type declared = operand.reg.type;
  const bool isWidthRight = typeBits(declared) == typeBits(type) ||
                            (item.mayBeWider && typeBits(declared) > typeBits(type));
  if (isWidthRight && isSameFamily(declared, type)) {
    return true;
  }
  return fail("expected ." + std::string(typeName(type)) + ", found " + describeOperand(operand));
}

/// `_`: absent where operation.h allows that, else a register that nobody reads.
bool OperandBinder::addSink(Type type) {
  const bool mayBeAbsent = instruction_.op == Op::Ld || instruction_.op == Op::LdParam ||
                           instruction_.op == Op::MovUnpack || instruction_.op == Op::Atom ||
                           instruction_.op == Op::MbarrierArrive || instruction_.op == Op::Elect;
  const std::uint32_t ref = mayBeAbsent ? kNoSlot : builder_.addRegisters(type, 1);
  append(ref, true);
  return mayBeAbsent || ref != kNoSlot || fail("the kernel has too many registers");
}

bool OperandBinder::addDestination(const Item &item, Type type, const Operand &operand) {
  if (type == Type::B128) {
    return addWide(operand, true);
  }
  if (operand.kind == Operand::Kind::Sink) {
    return addSink(type);
  }
  if (operand.kind != Operand::Kind::Register || operand.isNegated || operand.isAddress) {
    return fail("expected a register as destination, found " + describeOperand(operand));
  }
  if (!checkRegister(item, type, operand)) {
    return false;
  }
  if (!hasDestinationWidth_) {
    instruction_.dstBits = refKind(operand.reg.ref) == RefKind::Register64 ? 64 : 32;
    hasDestinationWidth_ = true;
  }
  append(operand.reg.ref, true);
  return true;
}

bool OperandBinder::addSource(const Item &item, Type type, const Operand &operand) {
  if (type == Type::B128) {
    return addWide(operand, false);
  }
  if (operand.isNegated || operand.isAddress) {
    return fail("expected a value, found " +
                std::string(operand.isNegated ? "a negation" : "an address in brackets"));
  }
  const bool is64 = typeBits(type) == 64;
  std::uint32_t ref = kNoSlot;
  bool isWide = is64;
  switch (operand.kind) {
  case Operand::Kind::Register:
    if (!checkRegister(item, type, operand)) {
      return false;
    }
    ref = operand.reg.ref;
    isWide = refKind(ref) == RefKind::Register64;
    break;
  case Operand::Kind::Literal: {
    const std::optional<std::uint64_t> bits = literalBits(operand.literal, type);
    if (!bits) {
      return fail("expected a floating-point number for ." + std::string(typeName(type)));
    }
    ref = builder_.addConstant(*bits, is64);
    break;
  }
  case Operand::Kind::Variable:
    if (typeBits(type) < 32 || !isSameFamily(Type::U64, type)) {
      return fail("the address of a variable cannot be ." + std::string(typeName(type)));
    }
    if (!addressOf(operand, is64, ref)) {
      return false;
    }
    break;
  case Operand::Kind::Special:
    if (changesWithTime(operand.special)) {
      return fail("special register \"" + std::string(operand.name) + "\" is read by mov only");
    }
    if (operand.specialBits == 1 ||
        (typeBits(type) != 32 && typeBits(type) != operand.specialBits)) {
      return fail("expected ." + std::string(typeName(type)) + ", found " +
                  describeOperand(operand));
    }
    ref = builder_.addSpecial(operand.special, is64);
    break;
  case Operand::Kind::Sink:
  case Operand::Kind::Name:
  case Operand::Kind::Vector:
    return fail("expected a value of type ." + std::string(typeName(type)) + ", found " +
                describeOperand(operand));
  }
  if (!hasSourceWidth_) {
    instruction_.srcBits = isWide ? 64 : 32;
    hasSourceWidth_ = true;
  }
  append(ref, false);
  return true;
}

bool OperandBinder::bindValue(const Item &item, const Operand &operand) {
  const Type type = selectType(item);
  const bool isClockRead = instruction_.op == Op::Mov && !item.isDestination &&
                           operand.kind == Operand::Kind::Special &&
                           changesWithTime(operand.special);
  if (isClockRead) {
    if (typeBits(type) != operand.specialBits) {
      return fail("expected ." + std::string(typeName(type)) + ", found " +
                  describeOperand(operand));
    }
    instruction_.op = Op::ReadSpecial;
    instruction_.immediate = static_cast<std::int64_t>(operand.special);
    return true;
  }
  return item.isDestination ? addDestination(item, type, operand) : addSource(item, type, operand);
}

bool OperandBinder::bindVector(const Item &item, const Operand &operand) {
  const bool isFragment = item.kind == Item::Kind::Fragment;
  const unsigned count = item.kind == Item::Kind::Counted ? instruction_.vector
                         : isFragment ? instruction_.mods.n * typeBits(instruction_.type) / 64U
                                      : item.count;
  if (operand.kind != Operand::Kind::Vector && item.kind == Item::Kind::Counted && count == 1) {
    return bindValue(item, operand);
  }
  if (operand.kind != Operand::Kind::Vector || operand.partCount != count) {
    return fail("expected a vector of " + std::to_string(count) + " elements, found " +
                describeOperand(operand));
  }
  Item element = item;
  if (isFragment) {
    element.type = typeBits(instruction_.type) == 32 ? "T" : ":b32";
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!bindValue(element, list_.parts[operand.firstPart + i])) {
      return false;
    }
  }
  return true;
}

bool OperandBinder::bindElements(const Item &item, const Operand &operand) {
  const Type whole = candidate_->types[0];
  const bool isCountRight =
      operand.partCount == 2 || (operand.partCount == 4 && whole != Type::B128);
  if (operand.kind != Operand::Kind::Vector || !isCountRight) {
    return fail("expected a vector of 2 or 4 elements, found " + describeOperand(operand));
  }
  const auto count = static_cast<unsigned>(operand.partCount);
  const Type element = bitsType(typeBits(whole) / count);
  if (typeBits(element) < 16) {
    return fail("elements of " + std::to_string(typeBits(whole) / count) +
                " bits are not supported");
  }
  instruction_.srcType = element;
  instruction_.vector = static_cast<std::uint8_t>(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Operand &part = list_.parts[operand.firstPart + i];
    if (!(item.isDestination ? addDestination(item, element, part)
                             : addSource(item, element, part))) {
      return false;
    }
  }
  return true;
}

/// Moves of a special register that is a predicate: it lies in a 32-bit slot, so a comparison with
/// zero takes the place of the move.
void OperandBinder::bindSpecialPredicate(const Operand &operand) {
  instruction_.op = Op::Setp;
  instruction_.type = Type::U32;
  instruction_.mods.compare = Compare::Ne;
  append(kNoSlot, true);
  append(builder_.addSpecial(operand.special, false), false);
  append(builder_.addConstant(0, false), false);
}

bool OperandBinder::bindPredicate(const Item &item, const Operand &operand) {
  if (item.isDestination && operand.kind == Operand::Kind::Sink && !operand.isNegated) {
    return addSink(Type::Pred);
  }
  if (!item.isDestination && operand.kind == Operand::Kind::Literal && !operand.isNegated &&
      !operand.isAddress) {
    append(builder_.addConstantPredicate(operand.literal.bits != 0), false);
    return true;
  }
  if (instruction_.op == Op::Mov && operand.kind == Operand::Kind::Special &&
      operand.specialBits == 1) {
    bindSpecialPredicate(operand);
    return true;
  }
  if (operand.kind != Operand::Kind::Register || operand.reg.type != Type::Pred ||
      operand.isAddress) {
    return fail("expected a predicate, found " + describeOperand(operand));
  }
  if (operand.isNegated) {
    const Op op = instruction_.op;
    const bool isAllowed =
        !item.isDestination &&
        (op == Op::Setp || op == Op::Set || op == Op::BarRed || op == Op::VoteAll ||
         op == Op::VoteAny || op == Op::VoteUni || op == Op::VoteBallot);
    if (!isAllowed) {
      return fail("predicate \"" + std::string(operand.name) + "\" cannot be negated here");
    }
    instruction_.mods.negateSource = true;
  }
  append(operand.reg.ref, item.isDestination);
  return true;
}

/// The second destination, or its absence.
bool OperandBinder::bindPair(const Operand &operand) {
  if (!operand.hasPair || list_.parts[operand.pair].kind == Operand::Kind::Sink) {
    append(kNoSlot, true);
    return true;
  }
  Item item;
  item.kind = Item::Kind::Predicate;
  item.isDestination = true;
  return bindPredicate(item, list_.parts[operand.pair]);
}

bool OperandBinder::bindItem(const Item &item, const Operand &operand) {
  if (operand.hasPair && !item.mayHavePair) {
    return fail("\"|\" is not allowed here");
  }
  bool isBound = false;
  switch (item.kind) {
  case Item::Kind::Value:
    isBound = bindValue(item, operand);
    break;
  case Item::Kind::Counted:
  case Item::Kind::Vector:
  case Item::Kind::Fragment:
    isBound = bindVector(item, operand);
    break;
  case Item::Kind::Elements:
    isBound = bindElements(item, operand);
    break;
  case Item::Kind::Predicate:
    isBound = bindPredicate(item, operand);
    break;
  case Item::Kind::Address:
    isBound = bindAddress(operand);
    break;
  case Item::Kind::BaseAddress:
    isBound = bindBaseAddress(operand);
    break;
  case Item::Kind::TensorCoordinates:
    isBound = bindTensor(operand);
    break;
  case Item::Kind::AddressRegister: {
    const bool is64 =
        operand.kind != Operand::Kind::Register || refKind(operand.reg.ref) == RefKind::Register64;
    isBound = addSource(item, is64 ? Type::U64 : Type::U32, operand);
    break;
  }
  case Item::Kind::Immediate:
    isBound = bindImmediate(item, operand);
    break;
  case Item::Kind::Sink:
    isBound = (operand.kind == Operand::Kind::Sink && !operand.isNegated) ||
              fail("expected \"_\", found " + describeOperand(operand));
    append(kNoSlot, true);
    break;
  case Item::Kind::Mask:
    isBound = addSource(item, Type::U16, operand);
    break;
  case Item::Kind::Policy:
    isBound = addSource(item, Type::B64, operand);
    break;
  case Item::Kind::Label:
    label_ = operand.name;
    isBound = operand.kind == Operand::Kind::Name ||
              fail("expected a label, found " + describeOperand(operand));
    break;
  }
  return isBound && (!item.mayHavePair || bindPair(operand));
}

/// An operand whose value nothing needs: checked like any other, then taken back.
bool OperandBinder::bindChecked(const Item &item, const Operand &operand) {
  const std::size_t before = builder_.kernel().operands.size();
  const Instruction saved = instruction_;
  const bool hadSourceWidth = hasSourceWidth_;
  const unsigned addressCount = addressCount_;
  const bool isBound = bindItem(item, operand);
  builder_.kernel().operands.resize(before);
  instruction_ = saved;
  hasSourceWidth_ = hadSourceWidth;
  addressCount_ = addressCount;
  return isBound;
}

} // namespace fp8jit::emulator
