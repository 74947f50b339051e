// Reads literals by their prefix; conversion to a type happens where the operand's type is known.
#include "emulator/ptx/literal.h"

#include "emulator/ptx/type_info.h"

#include <bit>
#include <charconv>
#include <string>

namespace fp8jit::emulator {

static std::optional<std::uint64_t> parseDigits(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const char *end = digits.data() + digits.size();
  const auto [stop, status] = std::from_chars(digits.data(), end, value, base);
  if (digits.empty() || status != std::errc() || stop != end) {
    return std::nullopt;
  }
  return value;
}

static std::optional<Literal> parseFraction(std::string_view text) {
  double value = 0;
  const char *end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc() || stop != end) {
    return std::nullopt;
  }
  return Literal{Literal::Kind::Double, std::bit_cast<std::uint64_t>(value)};
}

static std::optional<Literal> parseFloatBits(std::string_view digits, Literal::Kind kind) {
  const std::size_t expected = kind == Literal::Kind::Single ? 8 : 16;
  const std::optional<std::uint64_t> bits = parseDigits(digits, 16);
  if (digits.size() != expected || !bits) {
    return std::nullopt;
  }
  return Literal{kind, *bits};
}

std::optional<Literal> parseLiteral(std::string_view text) {
  if (text.size() > 1 && text[0] == '0') {
    switch (text[1]) {
    case 'f':
    case 'F':
      return parseFloatBits(text.substr(2), Literal::Kind::Single);
    case 'd':
    case 'D':
      return parseFloatBits(text.substr(2), Literal::Kind::Double);
    default:
      break;
    }
  }
  if (text.find('.') != std::string_view::npos) {
    return parseFraction(text);
  }
  if (!text.empty() && text.back() == 'U') {
    text.remove_suffix(1);
  }
  std::optional<std::uint64_t> value;
  if (text.size() > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    value = parseDigits(text.substr(2), 16);
  } else if (text.size() > 1 && text[0] == '0' && (text[1] == 'b' || text[1] == 'B')) {
    value = parseDigits(text.substr(2), 2);
  } else {
    value = parseDigits(text, text.size() > 1 && text[0] == '0' ? 8 : 10);
  }
  if (!value) {
    return std::nullopt;
  }
  return Literal{Literal::Kind::Integer, *value};
}

Literal negated(Literal literal) {
  switch (literal.kind) {
  case Literal::Kind::Integer:
    literal.bits = 0 - literal.bits;
    break;
  case Literal::Kind::Single:
    literal.bits ^= 0x80000000U;
    break;
  case Literal::Kind::Double:
    literal.bits ^= std::uint64_t{1} << 63;
    break;
  }
  return literal;
}

std::optional<std::uint64_t> literalBits(Literal literal, Type type) {
  const std::uint64_t widthMask =
      typeBits(type) >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << typeBits(type)) - 1;
  if (type == Type::F32 || type == Type::F64) {
    if (literal.kind == Literal::Kind::Integer) {
      return std::nullopt;
    }
    const double value =
        literal.kind == Literal::Kind::Double
            ? std::bit_cast<double>(literal.bits)
            : static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(literal.bits)));
    if (type == Type::F64) {
      return std::bit_cast<std::uint64_t>(value);
    }
    return literal.kind == Literal::Kind::Single
               ? literal.bits // keeps the payload of a NaN
               : std::bit_cast<std::uint32_t>(static_cast<float>(value));
  }
  return literal.bits & widthMask;
}

} // namespace fp8jit::emulator
