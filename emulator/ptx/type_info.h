// Names, widths and compatibility of PTX types (PTX ISA section 5.2).
#pragma once

#include "emulator/ptx/program.h"

#include <optional>
#include <string_view>

namespace fp8jit::emulator {

/// The type that a qualifier names, without its dot: `f32`, `e4m3x2`; `e4m3` and `e5m2`, which only
/// mma uses, give the packed types.
std::optional<Type> typeFromName(std::string_view name);

/// The name without a dot.
std::string_view typeName(Type type);

/// Width in bits; 1 for predicates, 0 for None.
unsigned typeBits(Type type);

/// The integer type of twice the width (mul.wide); None where there is none.
Type widenedType(Type type);

/// The untyped type of `bits` bits; None where there is none.
Type bitsType(unsigned bits);

/// Whether a register declared as `declared` may be an operand of type `used`, apart from widths:
/// untyped goes with everything, integers of either sign with each other, floating point only with
/// itself (PTX ISA table "operand type checking rules").
bool isSameFamily(Type declared, Type used);

} // namespace fp8jit::emulator
