// Logic, shifts, bit fields and byte permutation (PTX ISA, "Logic and Shift Instructions" and the
// bit instructions of "Integer Arithmetic Instructions").
#include "emulator/exec/lane_ops.h"

namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET {

template <typename T>
static T bitAnd(T a, T b) {
  return static_cast<T>(a & b);
}

template <typename T>
static T bitOr(T a, T b) {
  return static_cast<T>(a | b);
}

template <typename T>
static T bitXor(T a, T b) {
  return static_cast<T>(a ^ b);
}

template <typename T>
static T bitNot(T a) {
  return static_cast<T>(~a);
}

template <typename T>
static T logicalNot(T a) {
  return static_cast<T>(a == 0 ? 1 : 0);
}

// Shift counts above the width clamp to it, unlike C.
template <typename T>
static T shiftLeft(T a, std::uint32_t count) {
  constexpr std::uint32_t kBits = 8 * sizeof(T);
  const auto bits = static_cast<std::make_unsigned_t<T>>(a);
  return static_cast<T>(count >= kBits ? 0 : bits << (count & (kBits - 1)));
}

template <typename T>
static T shiftRight(T a, std::uint32_t count) {
  constexpr std::uint32_t kBits = 8 * sizeof(T);
  const std::uint32_t clamped = count >= kBits ? kBits - 1 : count;
  const T shifted = static_cast<T>(a >> clamped);
  return std::is_unsigned_v<T> && count >= kBits ? T{0} : shifted;
}

// Funnel shifts of the 64-bit value {b, a}: the left form keeps the high word, the right the low.
template <bool IsClamped>
static std::uint32_t funnelLeft(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const std::uint32_t count = IsClamped ? (c < 32 ? c : 32) : c & 31U;
  return static_cast<std::uint32_t>((((std::uint64_t{b} << 32) | a) << count) >> 32);
}

template <bool IsClamped>
static std::uint32_t funnelRight(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const std::uint32_t count = IsClamped ? (c < 32 ? c : 32) : c & 31U;
  return static_cast<std::uint32_t>(((std::uint64_t{b} << 32) | a) >> count);
}

// bfe: position and length are the low 8 bits; bits beyond the value read as zero, or as the sign
// bit of the extracted field (PTX ISA, "bfe").
template <typename T>
static T extractField(T a, std::uint32_t b, std::uint32_t c) {
  constexpr std::uint32_t kBits = 8 * sizeof(T);
  using U = std::make_unsigned_t<T>;
  const std::uint32_t position = b & 0xffU;
  const std::uint32_t length = c & 0xffU;
  if (length == 0) {
    return 0;
  }
  const std::uint32_t last = position + length - 1 < kBits - 1 ? position + length - 1 : kBits - 1;
  const bool isNegative = std::is_signed_v<T> && ((static_cast<U>(a) >> last) & 1U) != 0;
  const U shifted = position < kBits ? static_cast<U>(a) >> position : U{0};
  const U mask = length >= kBits ? static_cast<U>(~U{0}) : static_cast<U>((U{1} << length) - 1);
  // Where the field runs past the msb or begins beyond it, the rest is filled with the sign.
  const std::uint32_t valid = position < kBits ? kBits - position : 0;
  const std::uint32_t taken = valid < length ? valid : length;
  const U low = taken >= kBits ? static_cast<U>(~U{0}) : static_cast<U>((U{1} << taken) - 1);
  return static_cast<T>(isNegative ? (shifted & low) | ~low : shifted & mask);
}

template <typename T>
static T insertField(T a, T b, std::uint32_t c, std::uint32_t d) {
  constexpr std::uint32_t kBits = 8 * sizeof(T);
  const std::uint32_t position = c & 0xffU;
  const std::uint32_t length = d & 0xffU;
  if (length == 0 || position >= kBits) {
    return b;
  }
  const T field = length >= kBits ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << length) - 1);
  const T mask = static_cast<T>(field << position);
  return static_cast<T>((b & ~mask) | ((a << position) & mask));
}

template <typename T>
static T reverseBits(T a) {
  T result = 0;
  for (unsigned i = 0; i < 8 * sizeof(T); ++i) {
    result = static_cast<T>((result << 1) | ((a >> i) & 1U));
  }
  return result;
}

template <typename T>
static std::uint32_t countOnes(T a) {
  return static_cast<std::uint32_t>(std::popcount(a));
}

template <typename T>
static std::uint32_t countLeadingZeros(T a) {
  return static_cast<std::uint32_t>(std::countl_zero(a));
}

// bfind: position of the most significant bit that is not a copy of the sign; 0xffffffff if none.
template <typename T, bool IsShiftAmount>
static std::uint32_t findLeadingBit(T a) {
  using U = std::make_unsigned_t<T>;
  const U value = a < T{0} ? static_cast<U>(~a) : static_cast<U>(a);
  if (value == 0) {
    return 0xffffffffU;
  }
  const auto zeros = static_cast<std::uint32_t>(std::countl_zero(value));
  return IsShiftAmount ? zeros : static_cast<std::uint32_t>(8 * sizeof(T)) - 1 - zeros;
}

// prmt in its default form: each nibble of the selector picks a byte of {b, a}; its top bit
// replicates that byte's sign.
static std::uint32_t permuteBytes(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  const std::uint64_t pool = (std::uint64_t{b} << 32) | a;
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint32_t nibble = (selector >> (4 * i)) & 0xfU;
    const auto byte = static_cast<std::uint32_t>((pool >> (8 * (nibble & 7U))) & 0xffU);
    const std::uint32_t sign = (byte & 0x80U) != 0 ? 0xffU : 0U;
    result |= ((nibble & 8U) != 0 ? sign : byte) << (8 * i);
  }
  return result;
}

// The other forms of prmt are default forms with these selectors (PTX ISA, "prmt", mode table),
// indexed by c[1:0].
template <int Mode>
static std::uint32_t permuteMode(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  constexpr std::uint16_t kSelectors[6][4] = {
      {0x3210, 0x4321, 0x5432, 0x6543}, // f4e
      {0x5670, 0x6701, 0x7012, 0x0123}, // b4e
      {0x0000, 0x1111, 0x2222, 0x3333}, // rc8
      {0x3210, 0x3211, 0x3222, 0x3333}, // ecl
      {0x0000, 0x1110, 0x2210, 0x3210}, // ecr
      {0x1010, 0x3232, 0x1010, 0x3232}, // rc16
  };
  return permuteBytes(a, b, kSelectors[Mode - 1][c & 3U]);
}

static Handler selectPermute(std::int64_t mode) {
  constexpr Handler kModes[] = {&execute<&permuteBytes>,   &execute<&permuteMode<1>>,
                                &execute<&permuteMode<2>>, &execute<&permuteMode<3>>,
                                &execute<&permuteMode<4>>, &execute<&permuteMode<5>>,
                                &execute<&permuteMode<6>>};
  return mode >= 0 && mode <= 6 ? kModes[mode] : nullptr;
}

// lop3: the table's bit (a<<2 | b<<1 | c) is the result's bit. As a sum of the table's minterms,
// whose masks are the same for all lanes.
static Outcome lookUpLogic(Warp &warp, const Step &step, LaneMask mask) {
  const auto table = static_cast<std::uint32_t>(step.instruction->immediate);
  std::uint32_t *destination = warp.lanes<std::uint32_t>(step.operand[0]);
  const std::uint32_t *a = warp.lanes<const std::uint32_t>(step.operand[1]);
  const std::uint32_t *b = warp.lanes<const std::uint32_t>(step.operand[2]);
  const std::uint32_t *c = warp.lanes<const std::uint32_t>(step.operand[3]);
  std::uint32_t term[8];
  for (unsigned i = 0; i < 8; ++i) {
    term[i] = (table >> i) & 1U ? 0xffffffffU : 0U;
  }
  std::uint32_t result[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    const std::uint32_t notA = ((term[0] & ~c[i]) | (term[1] & c[i])) & ~b[i];
    const std::uint32_t notAb = ((term[2] & ~c[i]) | (term[3] & c[i])) & b[i];
    const std::uint32_t onlyA = ((term[4] & ~c[i]) | (term[5] & c[i])) & ~b[i];
    const std::uint32_t both = ((term[6] & ~c[i]) | (term[7] & c[i])) & b[i];
    result[i] = ((notA | notAb) & ~a[i]) | ((onlyA | both) & a[i]);
  }
  storeMasked(destination, result, mask);
  return Outcome::Next;
}

enum class Logic : std::uint8_t { And, Or, Xor, Not };

// The same operations on predicates: whole lane masks at once.
template <Logic Kind>
static Outcome combinePredicates(Warp &warp, const Step &step, LaneMask mask) {
  const LaneMask flip = step.instruction->mods.negateSource ? kAllLanes : 0U;
  const LaneMask a = warp.predicates[step.operand[1]];
  LaneMask result = ~(a ^ flip);
  if constexpr (Kind != Logic::Not) {
    const LaneMask b = warp.predicates[step.operand[2]] ^ flip;
    result = Kind == Logic::And ? a & b : Kind == Logic::Or ? a | b : a ^ b;
  }
  LaneMask &destination = warp.predicates[step.operand[0]];
  destination = (destination & ~mask) | (result & mask);
  return Outcome::Next;
}

static Handler selectPredicateLogic(Op op) {
  switch (op) {
  case Op::And:
    return &combinePredicates<Logic::And>;
  case Op::Or:
    return &combinePredicates<Logic::Or>;
  case Op::Xor:
    return &combinePredicates<Logic::Xor>;
  case Op::Not:
    return &combinePredicates<Logic::Not>;
  default: // the other groups
    return nullptr;
  }
}

template <typename T>
static Handler selectBySign(const Instruction &instruction) {
  switch (instruction.op) {
  case Op::Shr:
    return &execute<&shiftRight<T>>;
  case Op::Bfe:
    return &execute<&extractField<T>>;
  case Op::Bfind:
    return instruction.immediate != 0 ? &execute<&findLeadingBit<T, true>>
                                      : &execute<&findLeadingBit<T, false>>;
  default: // the other groups
    return nullptr;
  }
}

template <typename T>
static Handler selectUntyped(Op op) {
  switch (op) {
  case Op::And:
    return &execute<&bitAnd<T>>;
  case Op::Or:
    return &execute<&bitOr<T>>;
  case Op::Xor:
    return &execute<&bitXor<T>>;
  case Op::Not:
    return &execute<&bitNot<T>>;
  case Op::Cnot:
    return &execute<&logicalNot<T>>;
  case Op::Shl:
    return &execute<&shiftLeft<T>>;
  case Op::Bfi:
    return &execute<&insertField<T>>;
  case Op::Brev:
    return &execute<&reverseBits<T>>;
  case Op::Popc:
    return &execute<&countOnes<T>>;
  case Op::Clz:
    return &execute<&countLeadingZeros<T>>;
  default: // the other groups
    return nullptr;
  }
}

static Handler selectFunnel(Op op) {
  switch (op) {
  case Op::ShfLWrap:
    return &execute<&funnelLeft<false>>;
  case Op::ShfLClamp:
    return &execute<&funnelLeft<true>>;
  case Op::ShfRWrap:
    return &execute<&funnelRight<false>>;
  case Op::ShfRClamp:
    return &execute<&funnelRight<true>>;
  default: // the other groups
    return nullptr;
  }
}

Handler selectBits(const Instruction &instruction) {
  const Op op = instruction.op;
  if (instruction.type == Type::Pred) {
    return selectPredicateLogic(op);
  }
  if (op == Op::Prmt) {
    return selectPermute(instruction.immediate);
  }
  if (op == Op::Lop3) {
    return &lookUpLogic;
  }
  if (const Handler funnel = selectFunnel(op)) {
    return funnel;
  }
  return forIntegers(instruction.type, [&instruction]<typename T>() -> Handler {
    if constexpr (sizeof(T) == 1) {
      return nullptr;
    } else {
      const Handler signedForm = selectBySign<T>(instruction);
      return signedForm != nullptr ? signedForm
                                   : selectUntyped<std::make_unsigned_t<T>>(instruction.op);
    }
  });
}

} // namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET
