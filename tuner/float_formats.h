// Scalar conversions between float and the element formats of operands and results, for reference
// computations on the host. Sources: OCP 8-bit floating point specification 1.0 (E4M3, E5M2),
// IEEE 754 round to nearest even.
#pragma once

#include "fp8jit/problem.h"

#include <cstdint>
#include <vector>

namespace fp8jit {

/// The value of an FP8 code. `format`: E4M3 or E5M2.
float decodeFp8(Format format, std::uint8_t code);

/// Round to nearest even, saturating at the largest finite value (also for infinities). NaN of
/// either sign becomes 0x7F; the sign of zero is kept. `format`: E4M3 or E5M2.
std::uint8_t encodeFp8(Format format, float value);

/// The largest finite value of an FP8 format: 448 or 57344.
float largestFinite(Format format);

float bf16ToFloat(std::uint16_t bits);
/// Round to nearest even; overflow becomes infinity, NaN stays NaN.
std::uint16_t floatToBf16(float value);

/// The bytes of one element of `format` in memory.
int elementBytes(Format format);

/// Packs `values` as elements of BF16 or F32, as a device buffer holds them.
std::vector<std::uint8_t> packElements(Format format, const std::vector<float> &values);

/// Reads `count` elements of BF16 or F32 at `data` (any alignment), widened exactly.
std::vector<float> unpackElements(Format format, const void *data, std::int64_t count);

} // namespace fp8jit
