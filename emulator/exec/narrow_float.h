// Conversions between f32 and f16, bf16, e4m3, e5m2 by bit operations that compilers vectorise.
// Rounding is to nearest even throughout. Source of formats and limits: PTX ISA, "Alternate
// Floating-Point Data Formats" and "cvt". Needs the host's flush-to-zero modes to be off.
#pragma once

#include <bit>
#include <cstdint>

#ifndef FP8JIT_HANDLER_TARGET
#error "handler files are compiled per target: set FP8JIT_HANDLER_TARGET (see CMakeLists.txt)"
#endif

namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET {

/// What a format needs to be rounded to: its exponent bias, stored mantissa bits, the f32 pattern
/// of its smallest normal number, and the f32 pattern from which results overflow.
struct NarrowFormat {
  unsigned bias, mantissaBits;
  std::uint32_t minNormal, overflow;
  std::uint32_t overflowCode; ///< saturating: the largest finite code; else Inf
  std::uint32_t nanCode;
};

inline constexpr NarrowFormat kE4m3{.bias = 7,
                                    .mantissaBits = 3,
                                    .minNormal = 0x3c800000, // 2^-6
                                    .overflow = 0x43e00000,  // 448
                                    .overflowCode = 0x7e,
                                    .nanCode = 0x7f};
inline constexpr NarrowFormat kE5m2{.bias = 15,
                                    .mantissaBits = 2,
                                    .minNormal = 0x38800000, // 2^-14
                                    .overflow = 0x47600000,  // 57344
                                    .overflowCode = 0x7b,
                                    .nanCode = 0x7f};
inline constexpr NarrowFormat kF16{.bias = 15,
                                   .mantissaBits = 10,
                                   .minNormal = 0x38800000, // 2^-14
                                   .overflow = 0x477ff000,  // 65520 rounds to 2^16
                                   .overflowCode = 0x7c00,
                                   .nanCode = 0x7fff};
inline constexpr NarrowFormat kF16Saturating{.bias = 15,
                                             .mantissaBits = 10,
                                             .minNormal = 0x38800000,
                                             .overflow = 0x477fe000, // 65504
                                             .overflowCode = 0x7bff,
                                             .nanCode = 0x7fff};

/// `value` rounded to `Format`, with its sign; a NaN has none.
template <const NarrowFormat &Format>
inline std::uint32_t narrow(float value) {
  constexpr unsigned kShift = 23 - Format.mantissaBits;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  // Normal results: round at the last kept bit, then move the exponent to the new bias.
  const std::uint32_t rounded =
      magnitude + ((1U << (kShift - 1)) - 1) + ((magnitude >> kShift) & 1U);
  const std::uint32_t normal = (rounded >> kShift) - ((127 - Format.bias) << Format.mantissaBits);
  // Subnormal results: adding the power of two whose last place is the format's smallest step
  // makes the addition itself round.
  constexpr std::uint32_t kMagic = (127 + 1 - Format.bias + 23 - Format.mantissaBits) << 23;
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + std::bit_cast<float>(kMagic)) -
      kMagic;
  std::uint32_t code = magnitude < Format.minNormal ? subnormal : normal;
  code = magnitude >= Format.overflow ? Format.overflowCode : code;
  constexpr unsigned kSignBit = Format.mantissaBits == 10 ? 16 : 24;
  code |= (bits & 0x80000000U) >> kSignBit;
  return magnitude > 0x7f800000U ? Format.nanCode : code;
}

/// The exact f32 value of a code of `Format` with `SignBit` as its sign; NaN is canonical.
template <const NarrowFormat &Format, unsigned SignBit, bool HasInfinity>
inline float widen(std::uint32_t code) {
  constexpr std::uint32_t kMagnitude = (1U << SignBit) - 1;
  const std::uint32_t magnitude = code & kMagnitude;
  const float scaled = std::bit_cast<float>(magnitude << (23 - Format.mantissaBits)) *
                       std::bit_cast<float>((127 + 127 - Format.bias) << 23);
  std::uint32_t bits = std::bit_cast<std::uint32_t>(scaled);
  if constexpr (HasInfinity) {
    constexpr std::uint32_t kInfinity = ((1U << (SignBit - Format.mantissaBits)) - 1)
                                        << Format.mantissaBits;
    bits = magnitude == kInfinity ? 0x7f800000U : bits;
    bits = magnitude > kInfinity ? 0x7fffffffU : bits;
  } else {
    bits = magnitude == kMagnitude ? 0x7fffffffU : bits;
  }
  const bool isNan = bits == 0x7fffffffU;
  const std::uint32_t sign = ((code >> SignBit) & 1U) << 31;
  return std::bit_cast<float>(isNan ? bits : bits | sign);
}

inline float widenE4m3(std::uint32_t code) {
  return widen<kE4m3, 7, false>(code);
}
inline float widenE5m2(std::uint32_t code) {
  return widen<kE5m2, 7, true>(code);
}
inline float widenF16(std::uint32_t code) {
  return widen<kF16, 15, true>(code);
}
inline float widenBf16(std::uint32_t code) {
  return std::bit_cast<float>((code & 0x7fffU) > 0x7f80U ? 0x7fffffffU : code << 16);
}

/// f32 to bf16, round to nearest even; NaN gives 0x7fff.
inline std::uint32_t narrowBf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  return (bits & 0x7fffffffU) > 0x7f800000U ? 0x7fffU : rounded;
}

/// f32 to bf16 toward zero; NaN gives 0x7fff.
inline std::uint32_t truncateBf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return (bits & 0x7fffffffU) > 0x7f800000U ? 0x7fffU : bits >> 16;
}

/// f32 to f16 toward zero: the nearest value, one step back where it went past.
inline std::uint32_t truncateF16(float value) {
  const std::uint32_t code = narrow<kF16Saturating>(value);
  const float back = widenF16(code);
  const auto isInfinite = (std::bit_cast<std::uint32_t>(value) & 0x7fffffffU) == 0x7f800000U;
  const std::uint32_t sign = code & 0x8000U;
  const float absoluteBack = back < 0 ? -back : back;
  const float absoluteValue = value < 0 ? -value : value;
  const std::uint32_t stepped = absoluteBack > absoluteValue ? code - 1 : code;
  return isInfinite ? sign | 0x7c00U : stepped;
}

/// A double rounded to f32 so that a second rounding to at most 22 bits gives what one rounding
/// would: an inexact value gets an odd last bit ("round to odd", Boldo and Melquiond 2008).
inline float roundToOdd(double value) {
  const auto nearest = static_cast<float>(value);
  const auto bits = std::bit_cast<std::uint32_t>(nearest);
  const double back = static_cast<double>(nearest);
  if (back == value || value != value || (bits & 1U) != 0) {
    return nearest;
  }
  const bool isBelow = (back < value) == (value > 0); // the magnitude was rounded down
  return std::bit_cast<float>(isBelow ? bits + 1 : bits - 1);
}

} // namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET
