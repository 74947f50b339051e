// set and setp (PTX ISA, "Comparison and Selection Instructions" and "Half Precision Comparison
// Instructions").
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
  static float load(Storage storage, bool isFlushed) {
    const std::uint32_t bits = storage & 0xffffU;
    return widenF16(isFlushed && (bits & 0x7c00U) == 0 ? bits & 0x8000U : bits);
  }
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

/// Lanes in which the relation holds for the low halves and for the high halves of the sources,
/// combined with the instruction's predicate.
struct PairMasks {
  LaneMask half[2] = {0, 0};
};

template <Compare Relation, bool IsBfloat>
static PairMasks comparePairs(const Warp &warp, const Step &step) {
  using Part = Operand<std::conditional_t<IsBfloat, Bfloat, Half>>;
  const Instruction &instruction = *step.instruction;
  const bool isFlushed = instruction.mods.ftz;
  const auto *a = warp.lanes<const std::uint32_t>(step.operand[instruction.numDst]);
  const auto *b = warp.lanes<const std::uint32_t>(step.operand[instruction.numDst + 1]);
  PairMasks masks;
  for (unsigned i = 0; i < kLanes; ++i) {
    for (unsigned half = 0; half < 2; ++half) {
      const float x = Part::load(a[i] >> (16 * half), isFlushed);
      const float y = Part::load(b[i] >> (16 * half), isFlushed);
      masks.half[half] |= LaneMask{holds<Relation, float>(x, y)} << i;
    }
  }
  if (instruction.mods.boolOp != BoolOp::None) {
    const LaneMask c = extraPredicate(warp, step);
    for (LaneMask &half : masks.half) {
      half = combine(instruction.mods.boolOp, half, c);
    }
  }
  return masks;
}

/// setp of a packed pair: p is the low half's result, q the high half's.
template <Compare Relation, bool IsBfloat>
static Outcome setPredicatePair(Warp &warp, const Step &step, LaneMask mask) {
  const PairMasks masks = comparePairs<Relation, IsBfloat>(warp, step);
  for (unsigned half = 0; half < step.instruction->numDst && half < 2; ++half) {
    writePredicate(warp, step.operand[half], masks.half[half], mask);
  }
  return Outcome::Next;
}

/// What set writes where the relation holds: all ones, or 1.0 of a floating destination.
static std::uint32_t trueValue(Type type) {
  switch (type) {
  case Type::F32:
    return std::bit_cast<std::uint32_t>(1.0F);
  case Type::F16:
  case Type::F16x2:
    return 0x3c00U;
  case Type::BF16:
  case Type::BF16x2:
    return 0x3f80U;
  case Type::U16:
  case Type::S16:
    return 0xffffU;
  default: // 32-bit integers
    return 0xffffffffU;
  }
}

/// set of a packed pair: each half of the result says what holds for that half.
template <Compare Relation, bool IsBfloat>
static Outcome setValuePair(Warp &warp, const Step &step, LaneMask mask) {
  const PairMasks masks = comparePairs<Relation, IsBfloat>(warp, step);
  const std::uint32_t yes = trueValue(step.instruction->type) & 0xffffU;
  std::uint32_t result[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    const std::uint32_t low = ((masks.half[0] >> i) & 1U) != 0 ? yes : 0U;
    const std::uint32_t high = ((masks.half[1] >> i) & 1U) != 0 ? yes : 0U;
    result[i] = (high << 16) | low;
  }
  storeMasked(warp.lanes<std::uint32_t>(step.operand[0]), result, mask);
  return Outcome::Next;
}

/// set: all ones (or 1.0 of a floating destination) where the relation holds, else 0.
template <Compare Relation, typename T>
static Outcome setValue(Warp &warp, const Step &step, LaneMask mask) {
  const Instruction &instruction = *step.instruction;
  LaneMask relation = compareLanes<Relation, T>(warp, step, 1);
  if (instruction.mods.boolOp != BoolOp::None) {
    relation = combine(instruction.mods.boolOp, relation, extraPredicate(warp, step));
  }
  const std::uint32_t yes = trueValue(instruction.type);
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

template <bool IsBfloat>
static Handler selectPairRelation(const Instruction &instruction) {
  return withRelation(instruction.mods.compare, [&instruction]<Compare R>() -> Handler {
    return instruction.op == Op::Set ? &setValuePair<R, IsBfloat> : &setPredicatePair<R, IsBfloat>;
  });
}

static Handler selectComparison(const Instruction &instruction) {
  const bool isSet = instruction.op == Op::Set;
  const Type type = isSet ? instruction.srcType : instruction.type;
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
    return selectPairRelation<false>(instruction);
  case Type::BF16x2:
    return selectPairRelation<true>(instruction);
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

Handler selectCompare(const Instruction &instruction) {
  return instruction.op == Op::Setp || instruction.op == Op::Set ? selectComparison(instruction)
                                                                 : nullptr;
}

} // namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET
