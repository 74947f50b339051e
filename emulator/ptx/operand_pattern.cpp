// Takes the operand pattern of a form apart, one item at a time.
#include "emulator/ptx/operand_pattern.h"

namespace fp8jit::emulator {

using Kind = OperandItem::Kind;

/// Items of one letter, and those whose first letter decides.
static bool findSimpleKind(char letter, Kind &kind) {
  switch (letter) {
  case 'm':
    kind = Kind::Address;
    return true;
  case 'a':
    kind = Kind::BaseAddress;
    return true;
  case 't':
    kind = Kind::TensorCoordinates;
    return true;
  case 'i':
    kind = Kind::Immediate;
    return true;
  case 'l':
    kind = Kind::Label;
    return true;
  case 'o':
    kind = Kind::Sink;
    return true;
  case 'c':
    kind = Kind::Policy;
    return true;
  case 'u':
    kind = Kind::Mask;
    return true;
  default: // d, s or x with a type behind it
    return false;
  }
}

OperandItem parseOperandItem(std::string_view text) {
  constexpr std::string_view kPairMark = "|dp?";
  OperandItem item;
  if (text.size() > kPairMark.size() && text.ends_with(kPairMark)) {
    item.mayHavePair = true;
    text.remove_suffix(kPairMark.size());
  }
  if (text.ends_with('+')) {
    item.mayBeWider = true;
    text.remove_suffix(1);
  }
  if (findSimpleKind(text[0], item.kind)) {
    item.type = text.substr(text.size() > 1 && text[1] == ':' ? 2 : 1);
    return item;
  }
  item.isDestination = text[0] == 'd';
  item.isDropped = text[0] == 'x';
  const char second = text[1];
  item.type = text.substr(1);
  if (second == 'N' || (second >= '1' && second <= '9')) {
    item.kind = second == 'N' ? Kind::Counted : Kind::Vector;
    item.count = second == 'N' ? 1 : static_cast<unsigned>(second - '0');
    item.type = text.substr(2);
  } else if (second == 'F') {
    item.kind = Kind::Fragment;
  } else if (second == 'E') {
    item.kind = Kind::Elements;
  } else if (second == 'p') {
    item.kind = Kind::Predicate;
  } else if (second == 'A') {
    item.kind = Kind::AddressRegister;
  } else if (second == 'm') {
    item.kind = Kind::Address;
  }
  return item;
}

} // namespace fp8jit::emulator
