// Rounding of any value to f16 or bf16 in every mode of cvt. Main entry: encodeHalf.
#pragma once

#include "emulator/exec/float_ops.h"
#include "emulator/exec/narrow_float.h"
#include "emulator/ptx/program.h"

namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET {

/// The SSE control bits of a PTX rounding mode; nearest for the others.
inline unsigned controlBits(Rounding rounding) {
  return rounding == Rounding::Rz   ? _MM_ROUND_TOWARD_ZERO
         : rounding == Rounding::Rm ? _MM_ROUND_DOWN
         : rounding == Rounding::Rp ? _MM_ROUND_UP
                                    : _MM_ROUND_NEAREST;
}

/// Rounds an f64 to f32 in the mode of the instruction.
inline float toFloat(double value, Rounding rounding) {
  if (rounding == Rounding::None || rounding == Rounding::Rn) {
    return static_cast<float>(value);
  }
  const volatile double in = value;
  return withRounding(controlBits(rounding), [&in] { return static_cast<float>(in); });
}

/// `value` toward zero, or away from zero where the mode rounds up in magnitude.
template <bool IsBfloat>
inline std::uint32_t encodeDirected(double value, Rounding rounding) {
  const float truncated = toFloat(value, Rounding::Rz);
  const std::uint32_t code = IsBfloat ? truncateBf16(truncated) : truncateF16(truncated);
  const auto back = static_cast<double>(IsBfloat ? widenBf16(code) : widenF16(code));
  const bool isAway =
      (rounding == Rounding::Rp && value > 0) || (rounding == Rounding::Rm && value < 0);
  return isAway && back != value ? code + 1 : code;
}

/// The bits of f16 (or bf16) for a value that is exact in f64, under the instruction's rounding,
/// .relu and .satfinite. NaN gives 0x7fff.
template <bool IsBfloat>
inline std::uint32_t encodeHalf(const Modifiers &mods, double value) {
  if (value != value) {
    return 0x7fffU;
  }
  if (mods.relu && !(value > 0)) {
    return 0;
  }
  const bool isDirected = mods.rounding == Rounding::Rz || mods.rounding == Rounding::Rm ||
                          mods.rounding == Rounding::Rp;
  const std::uint32_t code = isDirected ? encodeDirected<IsBfloat>(value, mods.rounding)
                             : IsBfloat ? narrowBf16(roundToOdd(value))
                                        : narrow<kF16>(roundToOdd(value));
  const bool isInfinite = (code & 0x7fffU) == (IsBfloat ? 0x7f80U : 0x7c00U);
  return mods.satfinite && isInfinite ? code - 1 : code;
}

} // namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET
