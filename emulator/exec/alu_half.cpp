// f16, bf16 and their pairs (PTX ISA, "Half Precision Floating Point Instructions"). Each operation
// is computed in a wider format and rounded once; sums and products of two 16-bit values are
// rounded from f32 without double rounding (24 >= 2p + 2), fma goes through roundToOdd.
#include "emulator/exec/float_ops.h"
#include "emulator/exec/lane_ops.h"
#include "emulator/exec/narrow_float.h"

namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET {

template <bool IsBfloat>
static float widenPart(std::uint32_t bits) {
  return IsBfloat ? widenBf16(bits) : widenF16(bits);
}
template <bool IsBfloat>
static std::uint32_t narrowPart(float value) {
  return IsBfloat ? narrowBf16(value) : narrow<kF16>(value);
}

/// The sum in f64 with an odd last bit where it was inexact (Knuth's two-sum gives the error).
static float fusedMultiplyAdd(float a, float b, float c) {
  const double product = static_cast<double>(a) * static_cast<double>(b); // exact
  const auto addend = static_cast<double>(c);
  const double sum = product + addend;
  const double part = sum - product;
  const double error = (product - (sum - part)) + (addend - part);
  auto bits = std::bit_cast<std::uint64_t>(sum);
  if (error != 0.0 && error == error && (bits & 1U) == 0) {
    bits += (error > 0) == (sum > 0) ? 1U : ~std::uint64_t{0};
  }
  return roundToOdd(std::bit_cast<double>(bits));
}

enum class HalfArith : std::uint8_t {
  Add,
  Sub,
  Mul,
  Fma,
  Min,
  Max,
  MinNan,
  MaxNan,
  Neg,
  Abs,
  Ex2,
  Tanh
};

/// min and max: a NaN is ignored unless the form keeps it; -0 is less than +0.
template <bool IsMax, bool KeepsNan>
static float extremum(float a, float b) {
  if (a != a || b != b) {
    return KeepsNan || (a != a && b != b) ? canonical(a + b) : a != a ? b : a;
  }
  if (a == b) {
    const auto x = std::bit_cast<std::uint32_t>(a);
    const auto y = std::bit_cast<std::uint32_t>(b);
    return std::bit_cast<float>(IsMax ? x & y : x | y);
  }
  return (a < b) == IsMax ? b : a;
}

template <HalfArith Kind>
static float compute(float a, float b, float c) {
  switch (Kind) {
  case HalfArith::Add:
    return a + b;
  case HalfArith::Sub:
    return a - b;
  case HalfArith::Mul:
    return a * b;
  case HalfArith::Fma:
    return fusedMultiplyAdd(a, b, c);
  case HalfArith::Min:
    return extremum<false, false>(a, b);
  case HalfArith::Max:
    return extremum<true, false>(a, b);
  case HalfArith::MinNan:
    return extremum<false, true>(a, b);
  case HalfArith::MaxNan:
    return extremum<true, true>(a, b);
  case HalfArith::Ex2:
    return roundToOdd(std::exp2(static_cast<double>(a)));
  case HalfArith::Tanh:
    return roundToOdd(std::tanh(static_cast<double>(a)));
  case HalfArith::Neg:
  case HalfArith::Abs:
    break; // on the bits, see applySign
  }
  return a;
}

/// One 16-bit operation under the instruction's .ftz, .sat and .relu.
template <HalfArith Kind, bool IsBfloat>
static std::uint32_t applyPart(const Modifiers &mods, std::uint32_t a, std::uint32_t b,
                               std::uint32_t c) {
  constexpr std::uint32_t kExponent = IsBfloat ? 0x7f80U : 0x7c00U;
  const auto flushed = [&mods](std::uint32_t bits) {
    return mods.ftz && (bits & kExponent) == 0 ? bits & 0x8000U : bits;
  };
  if constexpr (Kind == HalfArith::Neg) {
    return flushed(a) ^ 0x8000U;
  }
  if constexpr (Kind == HalfArith::Abs) {
    return flushed(a) & 0x7fffU;
  }
  const bool isXorSign = mods.xorSignAbs; // of min and max only
  const std::uint32_t sign = isXorSign ? (a ^ b) & 0x8000U : 0U;
  if (isXorSign) {
    a &= 0x7fffU;
    b &= 0x7fffU;
  }
  const float value =
      compute<Kind>(widenPart<IsBfloat>(flushed(a)), widenPart<IsBfloat>(flushed(b)),
                    widenPart<IsBfloat>(flushed(c)));
  std::uint32_t result = flushed(narrowPart<IsBfloat>(value));
  if (mods.sat) {
    result = narrowPart<IsBfloat>(saturate(widenPart<IsBfloat>(result)));
  }
  const bool isNan = (result & 0x7fffU) > kExponent;
  if (mods.relu && !isNan && (result & 0x8000U) != 0) {
    return 0;
  }
  return isNan ? result : result | sign;
}

template <HalfArith Kind, bool IsBfloat, bool IsPair>
static Outcome apply(Warp &warp, const Step &step, LaneMask mask) {
  const Modifiers &mods = step.instruction->mods;
  const std::uint32_t *sources[3];
  for (unsigned s = 0; s < 3; ++s) {
    const unsigned present = s < step.instruction->numSrc ? s : 0U;
    sources[s] = warp.lanes<const std::uint32_t>(step.operand[1 + present]);
  }
  std::uint32_t result[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    result[i] = applyPart<Kind, IsBfloat>(mods, sources[0][i] & 0xffffU, sources[1][i] & 0xffffU,
                                          sources[2][i] & 0xffffU);
    if constexpr (IsPair) {
      result[i] |= applyPart<Kind, IsBfloat>(mods, sources[0][i] >> 16, sources[1][i] >> 16,
                                             sources[2][i] >> 16)
                   << 16;
    }
  }
  storeMasked(warp.lanes<std::uint32_t>(step.operand[0]), result, mask);
  return Outcome::Next;
}

template <HalfArith Kind>
static Handler selectFormat(Type type) {
  switch (type) {
  case Type::F16:
    return &apply<Kind, false, false>;
  case Type::F16x2:
    return &apply<Kind, false, true>;
  case Type::BF16:
    return &apply<Kind, true, false>;
  case Type::BF16x2:
    return &apply<Kind, true, true>;
  default: // the other groups
    return nullptr;
  }
}

Handler selectHalf(const Instruction &instruction) {
  const Type type = instruction.type;
  const Modifiers &mods = instruction.mods;
  if (mods.rounding != Rounding::None && mods.rounding != Rounding::Rn) {
    return nullptr;
  }
  switch (instruction.op) {
  case Op::Add:
    return selectFormat<HalfArith::Add>(type);
  case Op::Sub:
    return selectFormat<HalfArith::Sub>(type);
  case Op::Mul:
  case Op::MulLo:
    return selectFormat<HalfArith::Mul>(type);
  case Op::Fma:
    return selectFormat<HalfArith::Fma>(type);
  case Op::Min:
    return mods.nan ? selectFormat<HalfArith::MinNan>(type) : selectFormat<HalfArith::Min>(type);
  case Op::Max:
    return mods.nan ? selectFormat<HalfArith::MaxNan>(type) : selectFormat<HalfArith::Max>(type);
  case Op::Neg:
    return selectFormat<HalfArith::Neg>(type);
  case Op::Abs:
    return selectFormat<HalfArith::Abs>(type);
  case Op::Ex2:
    return selectFormat<HalfArith::Ex2>(type);
  case Op::Tanh:
    return selectFormat<HalfArith::Tanh>(type);
  default: // the other groups
    return nullptr;
  }
}

} // namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET
