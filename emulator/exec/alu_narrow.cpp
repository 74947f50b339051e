// Integer operations on parts of a register: dot products, 24-bit products, pairs of 16-bit values,
// masks and extensions by a bit count (PTX ISA, "Integer Arithmetic Instructions").
#include "emulator/exec/lane_ops.h"

#include <algorithm>
#include <limits>

namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET {

/// Part `index` of a register, Bits wide, sign- or zero-extended.
template <bool IsSigned, unsigned Bits>
static std::int32_t part(std::uint32_t value, unsigned index) {
  const std::uint32_t field = (value >> (Bits * index)) & ((1U << Bits) - 1U);
  const std::uint32_t sign = 1U << (Bits - 1);
  return static_cast<std::int32_t>(IsSigned ? (field ^ sign) - sign : field);
}

template <bool IsSignedA, bool IsSignedB>
static std::uint32_t dotBytes(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::uint32_t sum = c;
  for (unsigned i = 0; i < 4; ++i) {
    sum += static_cast<std::uint32_t>(part<IsSignedA, 8>(a, i) * part<IsSignedB, 8>(b, i));
  }
  return sum;
}

/// dp2a: two halves of a with bytes 0 and 1 of b, or 2 and 3 with .hi.
template <bool IsSignedA, bool IsSignedB, bool IsHigh>
static std::uint32_t dotHalves(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::uint32_t sum = c;
  for (unsigned i = 0; i < 2; ++i) {
    sum += static_cast<std::uint32_t>(part<IsSignedA, 16>(a, i) *
                                      part<IsSignedB, 8>(b, i + (IsHigh ? 2 : 0)));
  }
  return sum;
}

/// vabsdiff4: |a - b| of each byte, packed, or their sum and c.
template <bool IsSigned, bool IsSum>
static std::uint32_t differBytes(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::uint32_t result = IsSum ? c : 0;
  for (unsigned i = 0; i < 4; ++i) {
    const std::int32_t x = part<IsSigned, 8>(a, i);
    const std::int32_t y = part<IsSigned, 8>(b, i);
    const auto difference = static_cast<std::uint32_t>(x > y ? x - y : y - x);
    result += IsSum ? difference : difference << (8 * i);
  }
  return result;
}

static Handler selectByteDifference(const Instruction &instruction) {
  const bool isSum = instruction.immediate != 0;
  if (instruction.type == Type::S32) {
    return isSum ? &execute<&differBytes<true, true>> : &execute<&differBytes<true, false>>;
  }
  return isSum ? &execute<&differBytes<false, true>> : &execute<&differBytes<false, false>>;
}

template <bool IsSignedA, bool IsSignedB>
static Handler selectDot(const Instruction &instruction) {
  if (instruction.op == Op::Dp4a) {
    return &execute<&dotBytes<IsSignedA, IsSignedB>>;
  }
  return instruction.immediate != 0 ? &execute<&dotHalves<IsSignedA, IsSignedB, true>>
                                    : &execute<&dotHalves<IsSignedA, IsSignedB, false>>;
}

static Handler selectDotProduct(const Instruction &instruction) {
  const bool isSignedA = instruction.type == Type::S32;
  const bool isSignedB = instruction.srcType == Type::S32;
  if (isSignedA) {
    return isSignedB ? selectDot<true, true>(instruction) : selectDot<true, false>(instruction);
  }
  return isSignedB ? selectDot<false, true>(instruction) : selectDot<false, false>(instruction);
}

/// The 48-bit product of the low 24 bits: its low 32 bits, or bits 47 to 16 with .hi.
template <bool IsSigned, bool IsHigh>
static std::uint32_t multiply24(std::uint32_t a, std::uint32_t b) {
  const auto product = static_cast<std::uint64_t>(std::int64_t{part<IsSigned, 24>(a, 0)} *
                                                  std::int64_t{part<IsSigned, 24>(b, 0)});
  return static_cast<std::uint32_t>(IsHigh ? product >> 16 : product);
}

template <bool IsSigned, bool IsHigh>
static std::uint32_t multiplyAdd24(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return multiply24<IsSigned, IsHigh>(a, b) + c;
}

static std::int32_t clampTo32(std::int64_t value) {
  return static_cast<std::int32_t>(
      std::clamp(value, std::int64_t{std::numeric_limits<std::int32_t>::min()},
                 std::int64_t{std::numeric_limits<std::int32_t>::max()}));
}

static std::int32_t multiplyAdd24Saturating(std::uint32_t a, std::uint32_t b, std::int32_t c) {
  return clampTo32(std::int64_t{static_cast<std::int32_t>(multiply24<true, true>(a, b))} + c);
}

template <bool IsSigned, bool IsHigh>
static Handler selectProduct24(Op op) {
  return op == Op::Mul24 ? &execute<&multiply24<IsSigned, IsHigh>>
                         : &execute<&multiplyAdd24<IsSigned, IsHigh>>;
}

static Handler selectMultiply24(const Instruction &instruction) {
  const bool isHigh = instruction.immediate != 0;
  if (instruction.mods.sat) {
    return &execute<&multiplyAdd24Saturating>;
  }
  if (instruction.type == Type::S32) {
    return isHigh ? selectProduct24<true, true>(instruction.op)
                  : selectProduct24<true, false>(instruction.op);
  }
  return isHigh ? selectProduct24<false, true>(instruction.op)
                : selectProduct24<false, false>(instruction.op);
}

enum class PairArith : std::uint8_t { Add, Min, Max };

/// One operation on both 16-bit halves; .relu replaces a negative result by zero.
template <PairArith Kind, bool IsSigned, bool IsRelu>
static std::uint32_t pairwise(std::uint32_t a, std::uint32_t b) {
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 2; ++i) {
    const std::int32_t x = part<IsSigned, 16>(a, i);
    const std::int32_t y = part<IsSigned, 16>(b, i);
    const std::int32_t value = Kind == PairArith::Add   ? x + y
                               : Kind == PairArith::Min ? std::min(x, y)
                                                        : std::max(x, y);
    const std::int32_t kept = IsRelu ? std::max(value, 0) : value;
    result |= (static_cast<std::uint32_t>(kept) & 0xffffU) << (16 * i);
  }
  return result;
}

template <PairArith Kind>
static Handler selectPair(const Instruction &instruction) {
  if (instruction.type == Type::U16x2) {
    return &execute<&pairwise<Kind, false, false>>;
  }
  return instruction.mods.relu ? &execute<&pairwise<Kind, true, true>>
                               : &execute<&pairwise<Kind, true, false>>;
}

static Handler selectPairs(const Instruction &instruction) {
  switch (instruction.op) {
  case Op::Add:
    return selectPair<PairArith::Add>(instruction);
  case Op::Min:
    return selectPair<PairArith::Min>(instruction);
  case Op::Max:
    return selectPair<PairArith::Max>(instruction);
  default: // no other operation has the type
    return nullptr;
  }
}

/// szext: the low b bits of a, extended. Counts of 32 and more keep a, or wrap.
template <bool IsSigned, bool IsClamped>
static std::uint32_t extendBits(std::uint32_t a, std::uint32_t b) {
  if (IsClamped && b >= 32) {
    return a;
  }
  const std::uint32_t count = b & 31U;
  if (count == 0) {
    return 0;
  }
  const std::uint32_t field = a & ((1U << count) - 1U);
  const std::uint32_t sign = 1U << (count - 1);
  return IsSigned ? (field ^ sign) - sign : field;
}

/// bmsk: b ones from bit a on.
template <bool IsClamped>
static std::uint32_t makeMask(std::uint32_t a, std::uint32_t b) {
  if (IsClamped && a >= 32) {
    return 0;
  }
  const std::uint64_t width = IsClamped ? std::min(b, 32U) : b & 31U;
  return static_cast<std::uint32_t>(((std::uint64_t{1} << width) - 1U) << (a & 31U));
}

/// fns: the offset-th set bit of `mask` from bit `base` on, upwards or downwards.
static std::uint32_t findNthSet(std::uint32_t mask, std::uint32_t base, std::int32_t offset) {
  const std::int64_t step = offset < 0 ? -1 : 1;
  std::int64_t left = offset < 0 ? -std::int64_t{offset} : std::max(offset, 1);
  const std::int64_t end = offset == 0 ? std::int64_t{base} + 1 : offset < 0 ? -1 : 32;
  for (std::int64_t position = base; position != end && position < 32; position += step) {
    left -= (mask >> position) & 1U;
    if (left == 0) {
      return static_cast<std::uint32_t>(position);
    }
  }
  return 0xffffffffU;
}

static Handler selectBitCounts(const Instruction &instruction) {
  const bool isWrapped = instruction.immediate != 0;
  switch (instruction.op) {
  case Op::Szext:
    if (instruction.type == Type::S32) {
      return isWrapped ? &execute<&extendBits<true, false>> : &execute<&extendBits<true, true>>;
    }
    return isWrapped ? &execute<&extendBits<false, false>> : &execute<&extendBits<false, true>>;
  case Op::Bmsk:
    return isWrapped ? &execute<&makeMask<false>> : &execute<&makeMask<true>>;
  case Op::Fns:
    return &execute<&findNthSet>;
  default: // the other groups
    return nullptr;
  }
}

Handler selectNarrow(const Instruction &instruction) {
  if (instruction.type == Type::U16x2 || instruction.type == Type::S16x2) {
    return selectPairs(instruction);
  }
  switch (instruction.op) {
  case Op::Dp4a:
  case Op::Dp2a:
    return selectDotProduct(instruction);
  case Op::Vabsdiff4:
    return selectByteDifference(instruction);
  case Op::Mul24:
  case Op::Mad24:
    return selectMultiply24(instruction);
  default:
    return selectBitCounts(instruction);
  }
}

} // namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET
