// Comparison and selection (PTX ISA, "Comparison and Selection Instructions").
#include "emulator/exec/float_ops.h"
#include "emulator/exec/lane_ops.h"
#include "emulator/exec/narrow_float.h"

#include <emmintrin.h>

namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET {

/// What a comparison yields: ordered relations are false when an operand is NaN, unordered ones
/// (...u) true. lo, ls, hi and hs are the unsigned names of lt, le, gt and ge.
template <Compare Relation, typename T>
static bool holds(T a, T b) {
  switch (Relation) {
  case Compare::Eq:
    return a == b;
  case Compare::Ne:
    return a < b || a > b;
  case Compare::Lt:
  case Compare::Lo:
    return a < b;
  case Compare::Le:
  case Compare::Ls:
    return a <= b;
  case Compare::Gt:
  case Compare::Hi:
    return a > b;
  case Compare::Ge:
  case Compare::Hs:
    return a >= b;
  case Compare::Equ:
    return !(a < b || a > b);
  case Compare::Neu:
    return !(a == b);
  case Compare::Ltu:
    return !(a >= b);
  case Compare::Leu:
    return !(a > b);
  case Compare::Gtu:
    return !(a <= b);
  case Compare::Geu:
    return !(a < b);
  case Compare::Num:
    return a == a && b == b;
  case Compare::Nan:
    return a != a || b != b;
  case Compare::None:
    break;
  }
  return false;
}

/// Collapses 32 lane results to a mask. Bytes of 0 or 0xff keep the loop before it vectorisable.
static LaneMask toMask(const std::uint8_t *flags) {
  const auto *halves = reinterpret_cast<const __m128i *>(flags);
  const auto low = static_cast<LaneMask>(_mm_movemask_epi8(_mm_load_si128(halves)));
  const auto high = static_cast<LaneMask>(_mm_movemask_epi8(_mm_load_si128(halves + 1)));
  return low | (high << 16);
}

/// Reads operands of the comparison as the type that is compared.
template <typename T>
struct Operand {
  using Storage = typename Lane<T>::Storage;
  using Value = T;
  static T load(Storage storage, bool) { return Lane<T>::load(storage); }
};
template <>
struct Operand<float> {
  using Storage = std::uint32_t;
  using Value = float;
  static float load(Storage storage, bool isFlushed) {
    const auto value = std::bit_cast<float>(storage);
    return isFlushed ? flush(value) : value;
  }
};
template <>
struct Operand<Half> {
  using Storage = std::uint32_t;
  using Value = float;
  static float load(Storage storage, bool) { return widenF16(storage & 0xffffU); }
};
template <>
struct Operand<Bfloat> {
  using Storage = std::uint32_t;
  using Value = float;
  static float load(Storage storage, bool) { return widenBf16(storage & 0xffffU); }
};

/// Lanes in which the relation of the step's two sources, which begin at operand `first`, holds.
template <Compare Relation, typename T>
static LaneMask compareLanes(Warp &warp, const Step &step, unsigned first) {
  using Storage = typename Operand<T>::Storage;
  const Storage *a = warp.lanes<const Storage>(step.operand[first]);
  const Storage *b = warp.lanes<const Storage>(step.operand[first + 1]);
  alignas(16) std::uint8_t flags[kLanes];
  if (step.instruction->mods.ftz) {
    for (unsigned i = 0; i < kLanes; ++i) {
      flags[i] = holds<Relation, typename Operand<T>::Value>(Operand<T>::load(a[i], true),
                                                             Operand<T>::load(b[i], true))
                     ? 0xff
                     : 0;
    }
  } else {
    for (unsigned i = 0; i < kLanes; ++i) {
      flags[i] = holds<Relation, typename Operand<T>::Value>(Operand<T>::load(a[i], false),
                                                             Operand<T>::load(b[i], false))
                     ? 0xff
                     : 0;
    }
  }
  return toMask(flags);
}

static LaneMask combine(BoolOp operation, LaneMask a, LaneMask b) {
  switch (operation) {
  case BoolOp::And:
    return a & b;
  case BoolOp::Or:
    return a | b;
  case BoolOp::Xor:
    return a ^ b;
  case BoolOp::None:
  case BoolOp::Popc:
    break;
  }
  return a;
}

static void writePredicate(Warp &warp, std::uint32_t index, LaneMask value, LaneMask mask) {
  if (index != kNoSlot) {
    warp.predicates[index] = (warp.predicates[index] & ~mask) | (value & mask);
  }
}

/// The predicate source of setp and set, with its negation.
static LaneMask extraPredicate(const Warp &warp, const Step &step) {
  const Instruction &instruction = *step.instruction;
  const std::uint32_t index = step.operands[instruction.numDst + instruction.numSrc - 1];
  return warp.predicates[index] ^ (instruction.mods.negateSource ? kAllLanes : 0U);
}

template <Compare Relation, typename T>
static Outcome setPredicate(Warp &warp, const Step &step, LaneMask mask) {
  const Instruction &instruction = *step.instruction;
  const BoolOp operation = instruction.mods.boolOp;
  const LaneMask relation = compareLanes<Relation, T>(warp, step, instruction.numDst);
  LaneMask p = relation;
  LaneMask q = ~relation;
  if (operation != BoolOp::None) {
    const LaneMask c = extraPredicate(warp, step);
    p = combine(operation, relation, c);
    q = combine(operation, ~relation, c);
  }
  writePredicate(warp, step.operand[0], p, mask);
  if (instruction.numDst > 1) {
    writePredicate(warp, step.operand[1], q, mask);
  }
  return Outcome::Next;
}

/// setp of a packed pair: p is the low half's result, q the high half's.
template <Compare Relation, bool IsBfloat>
static Outcome setPredicatePair(Warp &warp, const Step &step, LaneMask mask) {
  const Instruction &instruction = *step.instruction;
  const auto *a = warp.lanes<const std::uint32_t>(step.operand[instruction.numDst]);
  const auto *b = warp.lanes<const std::uint32_t>(step.operand[instruction.numDst + 1]);
  const auto widenPart = IsBfloat ? &widenBf16 : &widenF16;
  LaneMask halves[2] = {0, 0};
  for (unsigned i = 0; i < kLanes; ++i) {
    for (unsigned half = 0; half < 2; ++half) {
      const float x = widenPart((a[i] >> (16 * half)) & 0xffffU);
      const float y = widenPart((b[i] >> (16 * half)) & 0xffffU);
      halves[half] |= LaneMask{holds<Relation, float>(x, y)} << i;
    }
  }
  for (unsigned half = 0; half < instruction.numDst && half < 2; ++half) {
    LaneMask value = halves[half];
    if (instruction.mods.boolOp != BoolOp::None) {
      value = combine(instruction.mods.boolOp, value, extraPredicate(warp, step));
    }
    writePredicate(warp, step.operand[half], value, mask);
  }
  return Outcome::Next;
}

/// set: all ones (or 1.0 for an f32 destination) where the relation holds, else 0.
template <Compare Relation, typename T>
static Outcome setValue(Warp &warp, const Step &step, LaneMask mask) {
  const Instruction &instruction = *step.instruction;
  LaneMask relation = compareLanes<Relation, T>(warp, step, 1);
  if (instruction.mods.boolOp != BoolOp::None) {
    relation = combine(instruction.mods.boolOp, relation, extraPredicate(warp, step));
  }
  const std::uint32_t yes =
      instruction.type == Type::F32 ? std::bit_cast<std::uint32_t>(1.0F) : 0xffffffffU;
  std::uint32_t result[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    result[i] = ((relation >> i) & 1U) != 0 ? yes : 0U;
  }
  storeMasked(warp.lanes<std::uint32_t>(step.operand[0]), result, mask);
  return Outcome::Next;
}

template <typename T, Compare Relation>
static Handler selectRelation(const Instruction &instruction) {
  return instruction.op == Op::Set ? &setValue<Relation, T> : &setPredicate<Relation, T>;
}

/// Calls select.operator()<R>() with the relation as a constant.
template <typename Select>
static Handler withRelation(Compare relation, Select select) {
  switch (relation) {
  case Compare::Eq:
    return select.template operator()<Compare::Eq>();
  case Compare::Ne:
    return select.template operator()<Compare::Ne>();
  case Compare::Lt:
  case Compare::Lo:
    return select.template operator()<Compare::Lt>();
  case Compare::Le:
  case Compare::Ls:
    return select.template operator()<Compare::Le>();
  case Compare::Gt:
  case Compare::Hi:
    return select.template operator()<Compare::Gt>();
  case Compare::Ge:
  case Compare::Hs:
    return select.template operator()<Compare::Ge>();
  case Compare::Equ:
    return select.template operator()<Compare::Equ>();
  case Compare::Neu:
    return select.template operator()<Compare::Neu>();
  case Compare::Ltu:
    return select.template operator()<Compare::Ltu>();
  case Compare::Leu:
    return select.template operator()<Compare::Leu>();
  case Compare::Gtu:
    return select.template operator()<Compare::Gtu>();
  case Compare::Geu:
    return select.template operator()<Compare::Geu>();
  case Compare::Num:
    return select.template operator()<Compare::Num>();
  case Compare::Nan:
    return select.template operator()<Compare::Nan>();
  case Compare::None:
    break;
  }
  return nullptr;
}

template <typename T>
static Handler selectTyped(const Instruction &instruction) {
  return withRelation(instruction.mods.compare, [&instruction]<Compare R>() -> Handler {
    return selectRelation<T, R>(instruction);
  });
}

static Handler selectComparison(const Instruction &instruction) {
  const bool isSet = instruction.op == Op::Set;
  const Type type = isSet ? instruction.srcType : instruction.type;
  const bool isPair = type == Type::F16x2 || type == Type::BF16x2;
  const bool is32 = instruction.type == Type::U32 || instruction.type == Type::S32 ||
                    instruction.type == Type::F32;
  if (isSet && (isPair || !is32)) {
    return nullptr;
  }
  switch (type) {
  case Type::F32:
    return selectTyped<float>(instruction);
  case Type::F64:
    return selectTyped<double>(instruction);
  case Type::F16:
    return selectTyped<Half>(instruction);
  case Type::BF16:
    return selectTyped<Bfloat>(instruction);
  case Type::F16x2:
    return withRelation(instruction.mods.compare,
                        []<Compare R>() -> Handler { return &setPredicatePair<R, false>; });
  case Type::BF16x2:
    return withRelation(instruction.mods.compare,
                        []<Compare R>() -> Handler { return &setPredicatePair<R, true>; });
  default: // integers and untyped
    return forIntegers(type, [&instruction]<typename T>() -> Handler {
      if constexpr (sizeof(T) == 1) {
        return nullptr;
      } else {
        return selectTyped<T>(instruction);
      }
    });
  }
}

template <typename Storage>
static Outcome selectByPredicate(Warp &warp, const Step &step, LaneMask mask) {
  const LaneMask takesA =
      warp.predicates[step.operand[3]] ^ (step.instruction->mods.negateSource ? kAllLanes : 0U);
  const Storage *a = warp.lanes<const Storage>(step.operand[1]);
  const Storage *b = warp.lanes<const Storage>(step.operand[2]);
  Storage result[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    result[i] = ((takesA >> i) & 1U) != 0 ? a[i] : b[i];
  }
  storeMasked(warp.lanes<Storage>(step.operand[0]), result, mask);
  return Outcome::Next;
}

// slct: a where c >= 0, else b; a NaN c gives b, and -0 counts as 0 (flushed with .ftz).
template <typename T>
static T selectBySignedInteger(T a, T b, std::int32_t c) {
  return c >= 0 ? a : b;
}
template <typename T>
static T selectByFloat(T a, T b, float c) {
  return c >= 0.0F ? a : b;
}
template <typename T>
static T selectByFloatFlushed(T a, T b, float c) {
  return flush(c) >= 0.0F ? a : b;
}

template <typename T>
static Handler selectSlct(const Instruction &instruction) {
  if (instruction.srcType != Type::F32) {
    return &execute<&selectBySignedInteger<T>>;
  }
  return instruction.mods.ftz ? &execute<&selectByFloatFlushed<T>> : &execute<&selectByFloat<T>>;
}

// testp by class of the bit pattern; the order is that of program.h.
template <typename T>
static Outcome testProperty(Warp &warp, const Step &step, LaneMask mask) {
  using Storage = typename Lane<T>::Storage;
  const Storage *a = warp.lanes<const Storage>(step.operand[1]);
  LaneMask result = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    const T value = Lane<T>::load(a[i]);
    const bool answers[] = {std::isfinite(value), std::isinf(value),
                            !std::isnan(value),   std::isnan(value),
                            std::isnormal(value), std::fpclassify(value) == FP_SUBNORMAL};
    result |= LaneMask{answers[step.instruction->immediate]} << i;
  }
  writePredicate(warp, step.operand[0], result, mask);
  return Outcome::Next;
}

Handler selectCompare(const Instruction &instruction) {
  const bool is64 = instruction.dstBits == 64;
  switch (instruction.op) {
  case Op::Setp:
  case Op::Set:
    return selectComparison(instruction);
  case Op::Selp:
    return is64 ? &selectByPredicate<std::uint64_t> : &selectByPredicate<std::uint32_t>;
  case Op::Slct:
    return is64 ? selectSlct<std::uint64_t>(instruction) : selectSlct<std::uint32_t>(instruction);
  case Op::Testp:
    if (instruction.immediate < 0 || instruction.immediate > 5) {
      return nullptr;
    }
    return instruction.type == Type::F64 ? &testProperty<double> : &testProperty<float>;
  default: // the other groups
    return nullptr;
  }
}

} // namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET
