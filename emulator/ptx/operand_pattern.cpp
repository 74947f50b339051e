// Takes the operand pattern of a form apart, one item at a time.
#include "emulator/ptx/operand_pattern.h"

namespace fp8jit::emulator {

OperandItem parseOperandItem(std::string_view text) {
  using Kind = OperandItem::Kind;
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
  item.isDestination = text[0] == 'd';
  if (text[0] == 'm' || text[0] == 'i' || text[0] == 'l') {
    item.kind = text[0] == 'm' ? Kind::Address : text[0] == 'i' ? Kind::Immediate : Kind::Label;
    return item;
  }
  const char second = text[1];
  item.type = text.substr(1);
  if (second == 'N' || (second >= '1' && second <= '9')) {
    item.kind = second == 'N' ? Kind::Counted : Kind::Vector;
    item.count = second == 'N' ? 1 : static_cast<unsigned>(second - '0');
    item.type = text.substr(2);
  } else if (second == 'E') {
    item.kind = Kind::Elements;
  } else if (second == 'p') {
    item.kind = Kind::Predicate;
  } else if (second == 'A') {
    item.kind = Kind::AddressRegister;
  }
  return item;
}

} // namespace fp8jit::emulator
