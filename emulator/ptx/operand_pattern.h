// One item of a form's operand pattern (the language is described in forms.h). Main entry:
// parseOperandItem.
#pragma once

#include <cstdint>
#include <string_view>

namespace fp8jit::emulator {

struct OperandItem {
  enum class Kind : std::uint8_t {
    Value,
    Counted, ///< vector or scalar by the instruction's count
    Vector,  ///< braces with `count` elements
    Elements,
    Predicate,
    Address,
    AddressRegister,
    Immediate,
    Label,
  };
  Kind kind = Kind::Value;
  bool isDestination = false;
  bool mayBeWider = false;
  bool mayHavePair = false;
  unsigned count = 1;
  std::string_view type; ///< T, S, W or :name
};

/// Takes an item like `dT`, `s4:b32`, `dN+`, `sp` or `m` apart.
OperandItem parseOperandItem(std::string_view text);

} // namespace fp8jit::emulator
