// Numeric literals of PTX (PTX ISA section 4.5). Main entries: parseLiteral, literalBits.
#pragma once

#include "emulator/ptx/program.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace fp8jit::emulator {

/// A literal before it is known which type uses it.
struct Literal {
  enum class Kind : std::uint8_t {
    Integer,
    Single, ///< 0fXXXXXXXX: bits of an f32
    Double, ///< 0dXXXXXXXXXXXXXXXX or a decimal fraction: bits of an f64
  };
  Kind kind = Kind::Integer;
  std::uint64_t bits = 0; ///< two's complement for integers
};

/// Reads decimal, 0x, 0b, octal, 0f, 0d and decimal fractions; nothing for malformed text and for
/// integers above 64 bits.
std::optional<Literal> parseLiteral(std::string_view text);

/// The literal with its sign changed.
Literal negated(Literal literal);

/// The bits of `literal` as a value of `type`, zero-extended from the width of the type. Integers
/// are truncated; a floating-point literal for an f32 or f64 operand is rounded to it; for other
/// types its bits are taken as they are. Nothing when it has no meaning: an integer as f64 or f32.
std::optional<std::uint64_t> literalBits(Literal literal, Type type);

} // namespace fp8jit::emulator
