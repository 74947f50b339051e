// Binding of a whole row of the form table: which of its operands the text has, one after the
// other, then the order of operation.h. Single operands are in operand_binder.cpp.
#include "emulator/ptx/operand_binder.h"
#include "emulator/ptx/operand_order.h"
#include "emulator/ptx/type_info.h"

#include <algorithm>

namespace fp8jit::emulator {

/// Policies and masks stand in the text only where a qualifier asks for them.
bool OperandBinder::isThere(const Item &item) const {
  return item.kind == Item::Kind::Policy ? candidate_->hasCacheHint
         : item.kind == Item::Kind::Mask ? instruction_.mods.multicast
                                         : true;
}

static std::string_view takeItem(std::string_view &pattern) {
  const std::size_t end = std::min(pattern.find(' '), pattern.size());
  const std::string_view item = pattern.substr(0, end);
  pattern.remove_prefix(std::min(end + 1, pattern.size()));
  return item;
}

std::size_t OperandBinder::countItems(std::string_view pattern) const {
  std::size_t count = 0;
  while (!pattern.empty()) {
    count += isThere(parseOperandItem(takeItem(pattern))) ? 1 : 0;
  }
  return count;
}

bool OperandBinder::bindItems(std::string_view pattern, std::size_t &progress) {
  for (std::size_t i = 0; !pattern.empty();) {
    const Item item = parseOperandItem(takeItem(pattern));
    if (!isThere(item)) {
      continue;
    }
    const Operand &operand = list_.operands[i++];
    const bool isDropped = item.isDropped || item.kind == Item::Kind::Policy;
    if (!(isDropped ? bindChecked(item, operand) : bindItem(item, operand))) {
      return false;
    }
    ++progress;
  }
  return true;
}

bool OperandBinder::checkAccess() {
  const bool isMemory =
      instruction_.op == Op::Ld || instruction_.op == Op::LdParam || instruction_.op == Op::St;
  const unsigned bytes = typeBits(instruction_.type) / 8 * instruction_.vector;
  return !isMemory || bytes <= 16 ||
         fail("vector access of " + std::to_string(bytes) + " bytes, at most 16 expected");
}

bool OperandBinder::bind(const Candidate &candidate, Instruction &instruction,
                         std::string_view &label, std::string &message, std::size_t &progress) {
  candidate_ = &candidate;
  instruction_ = candidate.instruction;
  label_ = {};
  displaced_.clear();
  additions_.clear();
  addressCount_ = 0;
  hasSourceWidth_ = hasDestinationWidth_ = hasKernelParameter_ = false;
  const std::string_view pattern = candidate.form->operands;
  const std::size_t expected = countItems(pattern);
  progress = expected == list_.operands.size() ? 1 : 0;
  if (progress == 0) {
    message = "expected " + std::to_string(expected) + " operands, found " +
              std::to_string(list_.operands.size());
    return false;
  }
  std::vector<std::uint32_t> &operands = builder_.kernel().operands;
  const std::size_t first = operands.size();
  instruction_.operands = static_cast<std::uint32_t>(first);
  if (!bindItems(pattern, progress) || !checkAccess() || !splitWide()) {
    operands.resize(first);
    message = message_;
    return false;
  }
  arrangeOperands(*candidate.form, instruction_, operands);
  addAdditions();
  instruction = instruction_;
  label = label_;
  return true;
}

} // namespace fp8jit::emulator
