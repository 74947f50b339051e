// Host codecs of the small float formats: E4M3, E5M2, E8M0, BF16 and F16 to and from float. They
// follow the project's one numeric policy: round to nearest even; FP8 saturates (infinities too),
// a NaN becomes FP8 code 0x7F whatever its sign, the sign of zero is kept; BF16 and F16 overflow to
// infinity. Main entries: encodeE4m3, decodeE4m3 and their siblings. Needs the default rounding
// mode. Sources: OCP "8-bit floating point specification" 1.0, IEEE 754 binary16.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

namespace fp8jit {

/// Largest finite magnitudes of the FP8 formats.
inline constexpr float kMaxE4m3 = 448.0F;
inline constexpr float kMaxE5m2 = 57344.0F;

namespace detail {

/// Rounds the magnitude `bits` (a float without sign, below the overflow bound of the target) to a
/// format with `MantissaBits` and exponent bias `Bias`; a carry runs into the exponent as it
/// should.
template <int MantissaBits, int Bias>
constexpr std::uint32_t roundMagnitude(std::uint32_t bits) {
  constexpr std::uint32_t kSmallestNormal = static_cast<std::uint32_t>(127 + 1 - Bias) << 23;
  if (bits < kSmallestNormal) {
    // Adding 2^23 units of the smallest subnormal leaves the rounded count in the low bits.
    constexpr std::uint32_t kMagicBits =
        static_cast<std::uint32_t>(127 + 1 - Bias - MantissaBits + 23) << 23;
    const float sum = std::bit_cast<float>(bits) + std::bit_cast<float>(kMagicBits);
    return std::bit_cast<std::uint32_t>(sum) - kMagicBits;
  }
  constexpr int kDropped = 23 - MantissaBits;
  const std::uint32_t lowestKept = (bits >> kDropped) & 1U;
  const std::uint32_t rounded = bits + ((1U << (kDropped - 1)) - 1U) + lowestKept;
  return (rounded >> kDropped) - (static_cast<std::uint32_t>(127 - Bias) << MantissaBits);
}

/// A finite magnitude of such a format as float; exact.
template <int MantissaBits, int Bias>
constexpr float expandMagnitude(std::uint32_t code) {
  const std::uint32_t exponent = code >> MantissaBits;
  const std::uint32_t mantissa = code & ((1U << MantissaBits) - 1U);
  constexpr float kSubnormalUnit =
      std::bit_cast<float>(static_cast<std::uint32_t>(127 + 1 - Bias - MantissaBits) << 23);
  if (exponent == 0) {
    return static_cast<float>(mantissa) * kSubnormalUnit;
  }
  return std::bit_cast<float>(((exponent + 127U - Bias) << 23) | (mantissa << (23 - MantissaBits)));
}

template <int MantissaBits, int Bias>
constexpr std::uint8_t encodeFp8(float value, float largest) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) {
    return 0x7F;
  }
  const std::uint32_t largestBits = std::bit_cast<std::uint32_t>(largest);
  const std::uint32_t limited = magnitude < largestBits ? magnitude : largestBits;
  return static_cast<std::uint8_t>(((bits >> 24) & 0x80U) |
                                   roundMagnitude<MantissaBits, Bias>(limited));
}

constexpr float decodeE4m3Slowly(std::uint32_t code) {
  const std::uint32_t magnitude = code & 0x7FU;
  const float value = magnitude == 0x7FU ? std::numeric_limits<float>::quiet_NaN()
                                         : expandMagnitude<3, 7>(magnitude);
  return (code & 0x80U) != 0 ? -value : value;
}

constexpr float decodeE5m2Slowly(std::uint32_t code) {
  const std::uint32_t magnitude = code & 0x7FU;
  float value = expandMagnitude<2, 15>(magnitude);
  if (magnitude > 0x7CU) {
    value = std::numeric_limits<float>::quiet_NaN();
  } else if (magnitude == 0x7CU) {
    value = std::numeric_limits<float>::infinity();
  }
  return (code & 0x80U) != 0 ? -value : value;
}

template <float (*Decode)(std::uint32_t)>
constexpr std::array<float, 256> makeDecodeTable() {
  std::array<float, 256> table{};
  for (std::uint32_t code = 0; code < 256; ++code) {
    table[code] = Decode(code);
  }
  return table;
}

inline constexpr std::array<float, 256> kE4m3Values = makeDecodeTable<decodeE4m3Slowly>();
inline constexpr std::array<float, 256> kE5m2Values = makeDecodeTable<decodeE5m2Slowly>();

} // namespace detail

/// The value of an E4M3 code; 0x7F and 0xFF are NaN. Exact.
constexpr float decodeE4m3(std::uint8_t code) {
  return detail::kE4m3Values[code];
}

/// The value of an E5M2 code, infinities and NaN included. Exact.
constexpr float decodeE5m2(std::uint8_t code) {
  return detail::kE5m2Values[code];
}

/// The nearest E4M3 code (even on a tie); magnitudes above 448 and infinities become 448, NaN 0x7F.
constexpr std::uint8_t encodeE4m3(float value) {
  return detail::encodeFp8<3, 7>(value, kMaxE4m3);
}

/// The nearest E5M2 code (even on a tie); magnitudes above 57344 and infinities become 57344, NaN
/// 0x7F.
constexpr std::uint8_t encodeE5m2(float value) {
  return detail::encodeFp8<2, 15>(value, kMaxE5m2);
}

/// 2^(code - 127); 0xFF is NaN. Exact, code 0 is the subnormal 2^-127.
constexpr float decodeE8m0(std::uint8_t code) {
  if (code == 0xFF) {
    return std::numeric_limits<float>::quiet_NaN();
  }
  const std::uint32_t bits = code == 0 ? 0x00400000U : static_cast<std::uint32_t>(code) << 23;
  return std::bit_cast<float>(bits);
}

/// The value of BF16 bits. Exact.
constexpr float decodeBf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// The nearest BF16 (even on a tie), infinity on overflow; every NaN becomes 0x7FFF.
constexpr std::uint16_t encodeBf16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) {
    return 0x7FFF;
  }
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

/// The value of F16 bits. Exact.
constexpr float decodeF16(std::uint16_t bits) {
  const std::uint32_t magnitude = bits & 0x7FFFU;
  float value = 0;
  if (magnitude < 0x7C00U) {
    value = detail::expandMagnitude<10, 15>(magnitude);
  } else {
    value = magnitude == 0x7C00U ? std::numeric_limits<float>::infinity()
                                 : std::numeric_limits<float>::quiet_NaN();
  }
  return (bits & 0x8000U) != 0 ? -value : value;
}

/// The nearest F16 (even on a tie), infinity from 65520 on; every NaN becomes 0x7FFF.
constexpr std::uint16_t encodeF16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) {
    return 0x7FFF;
  }
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  if (magnitude >= std::bit_cast<std::uint32_t>(65520.0F)) {
    return static_cast<std::uint16_t>(sign | 0x7C00U);
  }
  return static_cast<std::uint16_t>(sign | detail::roundMagnitude<10, 15>(magnitude));
}

} // namespace fp8jit
