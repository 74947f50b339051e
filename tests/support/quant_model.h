// A scalar reference of the numeric policy of quantization to E4M3. Codes come from the CUDA
// toolkit's own host conversion. Main entry: modelQuantize.
#pragma once

#include "fp8jit/problem.h"

#include <cstdint>
#include <span>
#include <vector>

namespace fp8jit::testing {

struct QuantModelResult {
  std::vector<std::uint8_t> codes; ///< [m, n]
  std::vector<float> scales;       ///< dequantization scales, layout row
  std::vector<float> amax;         ///< one per unit
};

/// The E4M3 code of `value` by the toolkit's header: nearest even, saturating, NaN is 0x7F.
std::uint8_t modelE4M3(float value);

/// The multiplier S of a unit with largest magnitude `amax`.
float modelMultiplier(float amax);

/// Codes, scales and amax of x [m, n], given as floats (BF16 widened exactly). `given`: the scales
/// of sc=given, else empty. Units: tensor, row, 1x128, 128x128; f32 scales.
QuantModelResult modelQuantize(const QuantProblem &problem, std::span<const float> x,
                               std::span<const float> given = {});

} // namespace fp8jit::testing
