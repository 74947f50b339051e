// Integer arithmetic (PTX ISA, "Integer Arithmetic Instructions").
#include "emulator/exec/lane_ops.h"

#include <limits>

namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET {

template <typename T>
using Unsigned = std::make_unsigned_t<T>;

/// The type with twice the bits.
template <typename T>
struct WideOf;
template <>
struct WideOf<std::int16_t> {
  using type = std::int32_t;
};
template <>
struct WideOf<std::uint16_t> {
  using type = std::uint32_t;
};
template <>
struct WideOf<std::int32_t> {
  using type = std::int64_t;
};
template <>
struct WideOf<std::uint32_t> {
  using type = std::uint64_t;
};
template <typename T>
using Wide = typename WideOf<T>::type;

template <typename T>
static T addWrap(T a, T b) {
  return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
}

template <typename T>
static T subWrap(T a, T b) {
  return static_cast<T>(static_cast<Unsigned<T>>(a) - static_cast<Unsigned<T>>(b));
}

// Through 64 bits, since the product of two promoted 16-bit values may overflow int.
template <typename T>
static T mulLow(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  } else {
    return static_cast<T>(static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b));
  }
}

template <typename T>
static T mulHigh(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    __extension__ using Product =
        std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return static_cast<T>((static_cast<Product>(a) * b) >> 64);
  } else {
    return static_cast<T>((static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b)) >> (8 * sizeof(T)));
  }
}

template <typename T>
static Wide<T> mulWide(T a, T b) {
  return mulLow(static_cast<Wide<T>>(a), static_cast<Wide<T>>(b));
}

template <typename T>
static T madLow(T a, T b, T c) {
  return addWrap(mulLow(a, b), c);
}

template <typename T>
static T madHigh(T a, T b, T c) {
  return addWrap(mulHigh(a, b), c);
}

template <typename T>
static Wide<T> madWide(T a, T b, Wide<T> c) {
  return addWrap(mulWide(a, b), c);
}

template <typename T>
static T minimum(T a, T b) {
  return b < a ? b : a;
}

template <typename T>
static T maximum(T a, T b) {
  return a < b ? b : a;
}

template <typename T>
static T negate(T a) {
  return subWrap(T{0}, a);
}

template <typename T>
static T absolute(T a) {
  return a < 0 ? negate(a) : a;
}

// Division by zero is unspecified in PTX; hardware gives all ones, and the dividend as remainder.
template <typename T>
static T divide(T a, T b) {
  if (b == 0) {
    return static_cast<T>(-1);
  }
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) {
      return negate(a);
    }
  }
  return static_cast<T>(a / b);
}

template <typename T>
static T remainder(T a, T b) {
  if (b == 0) {
    return a;
  }
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) {
      return 0;
    }
  }
  return static_cast<T>(a % b);
}

template <typename T>
static T sumOfAbsoluteDifference(T a, T b, T c) {
  const T difference = a < b ? subWrap(b, a) : subWrap(a, b);
  return addWrap(difference, c);
}

// add.sat.s32 clamps to the range of the type.
static std::int32_t addSaturating(std::int32_t a, std::int32_t b) {
  const std::int64_t sum = std::int64_t{a} + b;
  const std::int64_t low = std::numeric_limits<std::int32_t>::min();
  const std::int64_t high = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(sum < low ? low : sum > high ? high : sum);
}

static std::int32_t subSaturating(std::int32_t a, std::int32_t b) {
  const std::int64_t difference = std::int64_t{a} - b;
  const std::int64_t low = std::numeric_limits<std::int32_t>::min();
  const std::int64_t high = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(difference < low ? low : difference > high ? high : difference);
}

static std::int32_t madHighSaturating(std::int32_t a, std::int32_t b, std::int32_t c) {
  return addSaturating(mulHigh(a, b), c);
}

static Handler selectSaturating(Op op) {
  switch (op) {
  case Op::Add:
    return &execute<&addSaturating>;
  case Op::Sub:
    return &execute<&subSaturating>;
  case Op::MadHi:
    return &execute<&madHighSaturating>;
  default: // no other operation has the modifier
    return nullptr;
  }
}

// min.relu and max.relu: a negative result becomes zero.
template <bool IsMax>
static std::int32_t extremumRelu(std::int32_t a, std::int32_t b) {
  return maximum(IsMax ? maximum(a, b) : minimum(a, b), 0);
}

// add.cc, addc, sub.cc and subc: the carry flag is a lane mask of the warp. Subtraction adds the
// complement, so its flag is an inverted borrow in PTX too ("subc": a - (b + borrow)).
template <typename T, bool IsSubtract>
static Outcome addWithCarry(Warp &warp, const Step &step, LaneMask mask) {
  T *destination = warp.lanes<T>(step.operand[0]);
  const T *a = warp.lanes<const T>(step.operand[1]);
  const T *b = warp.lanes<const T>(step.operand[2]);
  const Modifiers &mods = step.instruction->mods;
  LaneMask carryOut = 0;
  T result[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    const T in = mods.carryIn ? static_cast<T>((warp.carry >> i) & 1U) : T{0};
    T partial;
    bool carries;
    if constexpr (IsSubtract) {
      carries = __builtin_sub_overflow(a[i], b[i], &partial);
      carries |= __builtin_sub_overflow(partial, in, &result[i]);
    } else {
      carries = __builtin_add_overflow(a[i], b[i], &partial);
      carries |= __builtin_add_overflow(partial, in, &result[i]);
    }
    carryOut |= LaneMask{carries} << i;
  }
  storeMasked(destination, result, mask);
  if (mods.carryOut) {
    warp.carry = (warp.carry & ~mask) | (carryOut & mask);
  }
  return Outcome::Next;
}

// mad.cc and madc: the low or high half of the product, then an addition with carry.
template <typename T, bool IsHigh>
static Outcome multiplyWithCarry(Warp &warp, const Step &step, LaneMask mask) {
  using U = Unsigned<T>;
  U *destination = warp.lanes<U>(step.operand[0]);
  const T *a = warp.lanes<const T>(step.operand[1]);
  const T *b = warp.lanes<const T>(step.operand[2]);
  const U *c = warp.lanes<const U>(step.operand[3]);
  const Modifiers &mods = step.instruction->mods;
  LaneMask carryOut = 0;
  U result[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    const U in = mods.carryIn ? static_cast<U>((warp.carry >> i) & 1U) : U{0};
    const U product = static_cast<U>(IsHigh ? mulHigh(a[i], b[i]) : mulLow(a[i], b[i]));
    U partial;
    bool carries = __builtin_add_overflow(product, c[i], &partial);
    carries |= __builtin_add_overflow(partial, in, &result[i]);
    carryOut |= LaneMask{carries} << i;
  }
  storeMasked(destination, result, mask);
  if (mods.carryOut) {
    warp.carry = (warp.carry & ~mask) | (carryOut & mask);
  }
  return Outcome::Next;
}

static Handler selectMultiplyCarry(const Instruction &instruction) {
  const bool isHigh = instruction.op == Op::MadHi;
  switch (instruction.type) {
  case Type::U32:
    return isHigh ? &multiplyWithCarry<std::uint32_t, true>
                  : &multiplyWithCarry<std::uint32_t, false>;
  case Type::S32:
    return isHigh ? &multiplyWithCarry<std::int32_t, true>
                  : &multiplyWithCarry<std::int32_t, false>;
  case Type::U64:
    return isHigh ? &multiplyWithCarry<std::uint64_t, true>
                  : &multiplyWithCarry<std::uint64_t, false>;
  case Type::S64:
    return isHigh ? &multiplyWithCarry<std::int64_t, true>
                  : &multiplyWithCarry<std::int64_t, false>;
  default: // no other type has the form
    return nullptr;
  }
}

static Handler selectCarry(const Instruction &instruction) {
  if (instruction.op == Op::MadLo || instruction.op == Op::MadHi) {
    return selectMultiplyCarry(instruction);
  }
  const bool is64 = instruction.dstBits == 64;
  const bool isSubtract = instruction.op == Op::Sub || instruction.op == Op::Subc;
  if (isSubtract) {
    return is64 ? &addWithCarry<std::uint64_t, true> : &addWithCarry<std::uint32_t, true>;
  }
  return is64 ? &addWithCarry<std::uint64_t, false> : &addWithCarry<std::uint32_t, false>;
}

template <typename T>
static Handler selectWide(Op op) {
  if constexpr (sizeof(T) == 2 || sizeof(T) == 4) {
    return op == Op::MulWide ? &execute<&mulWide<T>> : &execute<&madWide<T>>;
  }
  return nullptr;
}

template <typename T>
static Handler selectTyped(Op op) {
  switch (op) {
  case Op::Add:
    return &execute<&addWrap<T>>;
  case Op::Sub:
    return &execute<&subWrap<T>>;
  case Op::MulLo:
    return &execute<&mulLow<T>>;
  case Op::MadLo:
    return &execute<&madLow<T>>;
  case Op::MulWide:
  case Op::MadWide:
    return selectWide<T>(op);
  case Op::Div:
    return &execute<&divide<T>>;
  case Op::Rem:
    return &execute<&remainder<T>>;
  case Op::Min:
    return &execute<&minimum<T>>;
  case Op::Max:
    return &execute<&maximum<T>>;
  case Op::Neg:
    return &execute<&negate<T>>;
  case Op::Abs:
    return &execute<&absolute<T>>;
  case Op::Sad:
    return &execute<&sumOfAbsoluteDifference<T>>;
  default:
    break;
  }
  if constexpr (sizeof(T) > 1) {
    if (op == Op::MulHi) {
      return &execute<&mulHigh<T>>;
    }
    if (op == Op::MadHi) {
      return &execute<&madHigh<T>>;
    }
  }
  return nullptr;
}

Handler selectInteger(const Instruction &instruction) {
  const Op op = instruction.op;
  const Modifiers &mods = instruction.mods;
  if (op == Op::Addc || op == Op::Subc || mods.carryOut || mods.carryIn) {
    const bool isChained = op == Op::Add || op == Op::Sub || op == Op::Addc || op == Op::Subc ||
                           op == Op::MadLo || op == Op::MadHi;
    return isChained ? selectCarry(instruction) : nullptr;
  }
  if (mods.sat) {
    return instruction.type == Type::S32 ? selectSaturating(op) : nullptr;
  }
  if (mods.relu && instruction.type == Type::S32) {
    return op == Op::Max ? &execute<&extremumRelu<true>> : &execute<&extremumRelu<false>>;
  }
  return forIntegers(instruction.type,
                     [op]<typename T>() -> Handler { return selectTyped<T>(op); });
}

} // namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET
