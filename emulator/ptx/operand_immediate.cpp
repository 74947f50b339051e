// The part of OperandBinder that reads numbers which choose a variant of the instruction.
#include "emulator/ptx/operand_binder.h"

namespace fp8jit::emulator {

static bool isOneOf(std::uint64_t value, std::initializer_list<std::uint64_t> values) {
  for (const std::uint64_t allowed : values) {
    if (value == allowed) {
      return true;
    }
  }
  return false;
}

static bool takeFlag(std::uint64_t value, bool &flag, std::string &expected) {
  flag = value == 1;
  expected = "0 or 1";
  return value <= 1;
}

static bool takeSign(std::uint64_t value, bool &isNegative, std::string &expected) {
  constexpr std::uint64_t kMinusOne = ~std::uint64_t{0};
  isNegative = value == kMinusOne;
  expected = "1 or -1";
  return isOneOf(value, {1, kMinusOne});
}

/// Bytes of cp.async; `only` is the one size of .cg, or 0.
static bool takeCopyBytes(std::uint64_t value, std::int64_t only, Modifiers &mods,
                          std::string &expected) {
  mods.cpSize = static_cast<std::uint8_t>(value);
  expected = only != 0 ? std::to_string(only) : "4, 8 or 16";
  return isOneOf(value, {4, 8, 16}) && (only == 0 || value == static_cast<std::uint64_t>(only));
}

/// Notes the number `value` that forms.h calls `name`; false, with what is `expected`, when it is
/// out of range.
static bool takeImmediate(std::string_view name, std::uint64_t value, const Form &form,
                          Instruction &instruction, std::string &expected) {
  constexpr std::uint64_t kMapBytes = 128;
  constexpr std::uint64_t kMaxOrdinal = 4;
  Modifiers &mods = instruction.mods;
  if (name == "scaleA" || name == "scaleB") {
    return takeSign(value, name == "scaleA" ? mods.negateA : mods.negateB, expected);
  }
  if (name == "transposeA" || name == "transposeB") {
    return takeFlag(value, name == "transposeA" ? mods.transposeA : mods.transposeB, expected);
  }
  if (name == "copyBytes") {
    return takeCopyBytes(value, form.immediate, mods, expected);
  }
  if (name == "registers") {
    instruction.immediate = static_cast<std::int64_t>(value);
    expected = "a multiple of 8 from 24 to 256";
    return value >= 24 && value <= 256 && value % 8 == 0;
  }
  if (name == "ordinal") {
    instruction.immediate2 += static_cast<std::int64_t>(value & 7);
    expected = "a dimension from 0 to 4";
    return value <= kMaxOrdinal;
  }
  if (name == "mapBytes" || name == "lineBytes") {
    if (instruction.op == Op::FenceProxy) {
      instruction.immediate2 = static_cast<std::int64_t>(value);
    }
    expected = "128";
    return value == kMapBytes;
  }
  if (name == "events") {
    expected = "below 65536";
    return value <= 0xffff;
  }
  constexpr std::uint64_t kMaxPlain = 255; // lop3's table has 8 bits; a group count needs less
  instruction.immediate = static_cast<std::int64_t>(value);
  expected = "at most 255";
  return value <= kMaxPlain;
}

bool OperandBinder::bindImmediate(const Item &item, const Operand &operand) {
  if (operand.kind != Operand::Kind::Literal || operand.literal.kind != Literal::Kind::Integer ||
      operand.isAddress || operand.isNegated) {
    return fail("expected an immediate number, found " + describeOperand(operand));
  }
  const std::uint64_t value = operand.literal.bits;
  std::string expected;
  return takeImmediate(item.type, value, *candidate_->form, instruction_, expected) ||
         fail("immediate " + std::to_string(static_cast<std::int64_t>(value)) + " is not " +
              expected);
}

} // namespace fp8jit::emulator
