// selp, slct and testp (PTX ISA, "Comparison and Selection Instructions", "testp").
#include "emulator/exec/float_ops.h"
#include "emulator/exec/lane_ops.h"

namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET {

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
    const bool answers[] = {std::isfinite(value),
                            std::isinf(value),
                            !std::isnan(value),
                            std::isnan(value),
                            std::isnormal(value) || value == T{0},
                            std::fpclassify(value) == FP_SUBNORMAL};
    result |= LaneMask{answers[step.instruction->immediate]} << i;
  }
  writePredicate(warp, step.operand[0], result, mask);
  return Outcome::Next;
}

Handler selectSelection(const Instruction &instruction) {
  const bool is64 = instruction.dstBits == 64;
  switch (instruction.op) {
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
