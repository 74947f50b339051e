// One item of a form's operand pattern (the language is described in forms.h). Main entry:
// parseOperandItem.
#pragma once

#include <cstdint>
#include <string_view>

namespace fp8jit::emulator {

/// What a form expects at one place of the operand list.
struct OperandItem {
  /// What stands there.
  enum class Kind : std::uint8_t {
    Value,
    Counted,  ///< vector or scalar by the instruction's count
    Vector,   ///< braces with `count` elements
    Fragment, ///< braces with the accumulators of a wgmma
    Elements,
    Predicate,
    Address,
    BaseAddress, ///< an address whose displacement is added beforehand
    TensorCoordinates,
    AddressRegister,
    Immediate,
    Label,
    Sink,
    Policy, ///< where the opcode has a cache hint
    Mask,   ///< where the opcode has .multicast::cluster
  };
  Kind kind = Kind::Value;
  bool isDestination = false;
  bool isDropped = false; ///< checked, but no operand of the instruction
  bool mayBeWider = false;
  bool mayHavePair = false;
  unsigned count = 1;
  std::string_view type; ///< T, S, W or :name; of an immediate its name
};

/// Takes an item like `dT`, `s4:b32`, `dN+`, `sp` or `m` apart.
OperandItem parseOperandItem(std::string_view text);

} // namespace fp8jit::emulator
