// f32 and f64 arithmetic (PTX ISA, "Floating Point Instructions"). Approximate operations are
// computed correctly rounded, or through f64 where no exact method is at hand.
#include "emulator/exec/half_encode.h"
#include "emulator/exec/lane_ops.h"

namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET {

enum class FloatArith : std::uint8_t { Add, Sub, Mul, Div, Fma, Rcp, Sqrt };

/// The operation in the current rounding mode.
template <FloatArith Kind, typename T>
static T compute(T a, T b, T c) {
  switch (Kind) {
  case FloatArith::Add:
    return a + b;
  case FloatArith::Sub:
    return a - b;
  case FloatArith::Mul:
    return a * b;
  case FloatArith::Div:
    return a / b;
  case FloatArith::Rcp:
    return T{1} / a;
  case FloatArith::Sqrt:
    return std::sqrt(a);
  case FloatArith::Fma:
    break;
  }
  if constexpr (sizeof(T) == 4) {
    return __builtin_fmaf(a, b, c);
  } else {
    return __builtin_fma(a, b, c);
  }
}

/// Options that are template parameters, as bits.
enum FloatOption : unsigned { kPlain = 0, kFtz = 1, kSat = 2 };

template <unsigned Options>
static float finish(float value) {
  const float flushed = flushIf<(Options & kFtz) != 0>(value);
  if constexpr ((Options & kSat) != 0) {
    return saturate(flushed);
  } else {
    return canonical(flushed);
  }
}

template <FloatArith Kind, unsigned Options>
static float binary32(float a, float b) {
  constexpr bool kFlush = (Options & kFtz) != 0;
  return finish<Options>(compute<Kind>(flushIf<kFlush>(a), flushIf<kFlush>(b), 0.0F));
}

template <FloatArith Kind, unsigned Options>
static float ternary32(float a, float b, float c) {
  constexpr bool kFlush = (Options & kFtz) != 0;
  return finish<Options>(compute<Kind>(flushIf<kFlush>(a), flushIf<kFlush>(b), flushIf<kFlush>(c)));
}

template <FloatArith Kind>
static double binary64(double a, double b) {
  return canonical(compute<Kind>(a, b, 0.0));
}

template <FloatArith Kind>
static double ternary64(double a, double b, double c) {
  return canonical(compute<Kind>(a, b, c));
}

/// .rz, .rm and .rp: one lane at a time under the host's rounding mode. Fma through std::fma, which
/// follows that mode.
template <FloatArith Kind, typename T>
static Outcome directed(Warp &warp, const Step &step, LaneMask mask) {
  using Storage = typename Lane<T>::Storage;
  const Modifiers &mods = step.instruction->mods;
  Storage *destination = warp.lanes<Storage>(step.operand[0]);
  const Storage *sources[3] = {};
  for (unsigned s = 0; s < step.instruction->numSrc && s < 3; ++s) {
    sources[s] = warp.lanes<const Storage>(step.operand[1 + s]);
  }
  Storage result[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    volatile T in[3] = {};
    for (unsigned s = 0; s < 3 && sources[s] != nullptr; ++s) {
      T value = Lane<T>::load(sources[s][i]);
      if constexpr (sizeof(T) == 4) {
        value = mods.ftz ? flush(value) : value;
      }
      in[s] = value;
    }
    T out = withRounding(controlBits(mods.rounding),
                         [&in] { return compute<Kind, T>(in[0], in[1], in[2]); });
    if constexpr (sizeof(T) == 4) {
      out = mods.ftz ? flush(out) : out;
    }
    result[i] = Lane<T>::store(mods.sat ? saturate(out) : canonical(out));
  }
  storeMasked(destination, result, mask);
  return Outcome::Next;
}

template <FloatArith Kind, unsigned Options>
static Handler arithmeticHandler() {
  if constexpr (Kind == FloatArith::Fma) {
    return &execute<&ternary32<Kind, Options>>;
  } else {
    return &execute<&binary32<Kind, Options>>;
  }
}

template <FloatArith Kind>
static Handler selectArithmetic(const Instruction &instruction) {
  const Modifiers &mods = instruction.mods;
  const bool isDirected = mods.rounding == Rounding::Rz || mods.rounding == Rounding::Rm ||
                          mods.rounding == Rounding::Rp;
  if (instruction.type == Type::F64) {
    if (isDirected) {
      return &directed<Kind, double>;
    }
    if constexpr (Kind == FloatArith::Fma) {
      return &execute<&ternary64<Kind>>;
    } else {
      return &execute<&binary64<Kind>>;
    }
  }
  if (isDirected) {
    return &directed<Kind, float>;
  }
  if (mods.ftz) {
    return mods.sat ? arithmeticHandler<Kind, kFtz | kSat>() : arithmeticHandler<Kind, kFtz>();
  }
  return mods.sat ? arithmeticHandler<Kind, kSat>() : arithmeticHandler<Kind, kPlain>();
}

// Functions of one argument, computed in f64 and rounded once.
enum class Unary : std::uint8_t { Rcp, Sqrt, Rsqrt, Ex2, Lg2, Sin, Cos, Tanh };

template <Unary Kind, typename T>
static T evaluate(T a) {
  const auto wide = static_cast<double>(a);
  switch (Kind) {
  case Unary::Rcp:
    return T{1} / a;
  case Unary::Sqrt:
    return std::sqrt(a);
  case Unary::Rsqrt:
    return static_cast<T>(1.0 / std::sqrt(wide));
  case Unary::Ex2:
    return static_cast<T>(std::exp2(wide));
  case Unary::Lg2:
    return static_cast<T>(std::log2(wide));
  case Unary::Sin:
    return static_cast<T>(std::sin(wide));
  case Unary::Cos:
    return static_cast<T>(std::cos(wide));
  case Unary::Tanh:
    return static_cast<T>(std::tanh(wide));
  }
  return a;
}

template <Unary Kind, bool Ftz>
static float unary32(float a) {
  return canonical(flushIf<Ftz>(evaluate<Kind>(flushIf<Ftz>(a))));
}

template <Unary Kind>
static double unary64(double a) {
  return canonical(evaluate<Kind>(a));
}

/// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 look at the upper 32 bits alone and give as many;
/// subnormals count as zeros, and the NaN has its own pattern (PTX ISA, the two instructions).
template <Unary Kind>
static double coarse64(double a) {
  constexpr std::uint64_t kUpper = 0xffffffff00000000U;
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  constexpr std::uint64_t kExponent = 0x7ff0000000000000U;
  const auto flushed = [](std::uint64_t bits) {
    return (bits & kExponent) == 0 ? bits & kSign : bits & kUpper;
  };
  const auto in = std::bit_cast<double>(flushed(std::bit_cast<std::uint64_t>(a)));
  const double value = evaluate<Kind>(in);
  return std::bit_cast<double>(a == a && value == value
                                   ? flushed(std::bit_cast<std::uint64_t>(value))
                                   : 0x7fffffff00000000U);
}

template <Unary Kind>
static Handler selectUnary(const Instruction &instruction) {
  const Rounding rounding = instruction.mods.rounding;
  if (rounding != Rounding::None && rounding != Rounding::Rn) {
    constexpr FloatArith kDirected = Kind == Unary::Rcp ? FloatArith::Rcp : FloatArith::Sqrt;
    constexpr bool hasDirected = Kind == Unary::Rcp || Kind == Unary::Sqrt;
    return !hasDirected                    ? nullptr
           : instruction.type == Type::F64 ? &directed<kDirected, double>
                                           : &directed<kDirected, float>;
  }
  if (instruction.type == Type::F64) {
    return instruction.mods.ftz ? &execute<&coarse64<Kind>> : &execute<&unary64<Kind>>;
  }
  return instruction.mods.ftz ? &execute<&unary32<Kind, true>> : &execute<&unary32<Kind, false>>;
}

// min and max: a NaN operand is ignored unless .NaN; -0 is less than +0.
template <typename T, bool IsMax>
static T extremum(T a, T b) {
  using Bits = typename Lane<T>::Storage;
  const auto bitsA = std::bit_cast<Bits>(a);
  const auto bitsB = std::bit_cast<Bits>(b);
  const T equal = std::bit_cast<T>(IsMax ? bitsA & bitsB : bitsA | bitsB); // differ in sign only
  const T larger = (IsMax ? a > b : a < b) ? a : b; // b if either is NaN, as maxps and minps
  const T ordered = a == b ? equal : larger;
  return canonical(b != b ? a : ordered);
}

template <bool IsMax, bool Ftz>
static float extremum32(float a, float b) {
  return extremum<float, IsMax>(flushIf<Ftz>(a), flushIf<Ftz>(b));
}

template <bool IsMax, bool Ftz>
static float extremumNan32(float a, float b) {
  const float value = extremum32<IsMax, Ftz>(a, b);
  return a == a && b == b ? value : canonical(a + b);
}

template <bool IsMax, bool Ftz, bool KeepsNan>
static float extremumXorSign32(float a, float b) {
  const std::uint32_t sign =
      (std::bit_cast<std::uint32_t>(a) ^ std::bit_cast<std::uint32_t>(b)) & 0x80000000U;
  const float value = KeepsNan ? extremumNan32<IsMax, Ftz>(std::fabs(a), std::fabs(b))
                               : extremum32<IsMax, Ftz>(std::fabs(a), std::fabs(b));
  return value == value ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign) : value;
}

template <bool IsMax, bool Ftz>
static Handler selectExtremum32(const Modifiers &mods) {
  if (mods.xorSignAbs) {
    return mods.nan ? &execute<&extremumXorSign32<IsMax, Ftz, true>>
                    : &execute<&extremumXorSign32<IsMax, Ftz, false>>;
  }
  return mods.nan ? &execute<&extremumNan32<IsMax, Ftz>> : &execute<&extremum32<IsMax, Ftz>>;
}

template <bool IsMax>
static Handler selectExtremum(const Instruction &instruction) {
  if (instruction.type == Type::F64) {
    return &execute<&extremum<double, IsMax>>;
  }
  return instruction.mods.ftz ? selectExtremum32<IsMax, true>(instruction.mods)
                              : selectExtremum32<IsMax, false>(instruction.mods);
}

template <bool Ftz>
static float absolute32(float a) {
  return std::fabs(flushIf<Ftz>(a));
}
template <bool Ftz>
static float negate32(float a) {
  return -flushIf<Ftz>(a);
}
static double absolute64(double a) {
  return std::fabs(a);
}
static double negate64(double a) {
  return -a;
}
static float copySign32(float a, float b) {
  return std::copysign(b, a);
}
static double copySign64(double a, double b) {
  return std::copysign(b, a);
}

static Handler selectSign(const Instruction &instruction) {
  const bool isDouble = instruction.type == Type::F64;
  const bool isFlushed = instruction.mods.ftz;
  switch (instruction.op) {
  case Op::Abs:
    return isDouble    ? &execute<&absolute64>
           : isFlushed ? &execute<&absolute32<true>>
                       : &execute<&absolute32<false>>;
  case Op::Neg:
    return isDouble    ? &execute<&negate64>
           : isFlushed ? &execute<&negate32<true>>
                       : &execute<&negate32<false>>;
  case Op::Copysign:
    return isDouble ? &execute<&copySign64> : &execute<&copySign32>;
  default: // the other groups
    return nullptr;
  }
}

static Handler selectFunction(const Instruction &instruction) {
  switch (instruction.op) {
  case Op::Rcp:
    return selectUnary<Unary::Rcp>(instruction);
  case Op::Sqrt:
    return selectUnary<Unary::Sqrt>(instruction);
  case Op::Rsqrt:
    return selectUnary<Unary::Rsqrt>(instruction);
  case Op::Ex2:
    return selectUnary<Unary::Ex2>(instruction);
  case Op::Lg2:
    return selectUnary<Unary::Lg2>(instruction);
  case Op::Sin:
    return selectUnary<Unary::Sin>(instruction);
  case Op::Cos:
    return selectUnary<Unary::Cos>(instruction);
  case Op::Tanh:
    return selectUnary<Unary::Tanh>(instruction);
  default: // the other groups
    return selectSign(instruction);
  }
}

Handler selectFloat(const Instruction &instruction) {
  if (instruction.type != Type::F32 && instruction.type != Type::F64) {
    return nullptr;
  }
  switch (instruction.op) {
  case Op::Add:
    return selectArithmetic<FloatArith::Add>(instruction);
  case Op::Sub:
    return selectArithmetic<FloatArith::Sub>(instruction);
  case Op::Mul:
  case Op::MulLo:
    return selectArithmetic<FloatArith::Mul>(instruction);
  case Op::Div:
    return selectArithmetic<FloatArith::Div>(instruction);
  case Op::Fma:
  case Op::MadLo:
    return selectArithmetic<FloatArith::Fma>(instruction);
  case Op::Min:
    return selectExtremum<false>(instruction);
  case Op::Max:
    return selectExtremum<true>(instruction);
  default: // functions of one argument
    return selectFunction(instruction);
  }
}

} // namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET
