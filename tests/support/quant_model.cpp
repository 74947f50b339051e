// See quant_model.h.
#include "tests/support/quant_model.h"

#include <cuda_fp8.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace fp8jit::testing {

std::uint8_t modelE4M3(float value) {
  return __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3);
}

float modelMultiplier(float amax) {
  if (amax == 0.0F || std::isnan(amax) || std::isinf(amax)) {
    return 1.0F;
  }
  return std::min(448.0F / amax, std::numeric_limits<float>::max());
}

namespace {

/// Rows and columns of one unit, and units per row of units.
struct UnitShape {
  std::size_t rows, columns, unitsPerRow;
};

} // namespace

static UnitShape unitShape(const QuantProblem &problem) {
  const auto m = static_cast<std::size_t>(problem.m);
  const auto n = static_cast<std::size_t>(problem.n);
  switch (problem.s) {
  case ScaleUnit::Tensor:
    return {m, n, 1};
  case ScaleUnit::Row:
    return {1, n, 1};
  case ScaleUnit::Block1x128:
    return {1, 128, (n + 127) / 128};
  case ScaleUnit::Block128x128:
    return {128, 128, (n + 127) / 128};
  case ScaleUnit::Block1x32:
    break;
  }
  assert(false && "the model has no such unit");
  return {1, 1, 1};
}

QuantModelResult modelQuantize(const QuantProblem &problem, std::span<const float> x,
                               std::span<const float> given) {
  const auto m = static_cast<std::size_t>(problem.m);
  const auto n = static_cast<std::size_t>(problem.n);
  const UnitShape shape = unitShape(problem);
  const std::size_t unitRows = (m + shape.rows - 1) / shape.rows;
  QuantModelResult result{.codes = std::vector<std::uint8_t>(m * n),
                          .scales = std::vector<float>(unitRows * shape.unitsPerRow),
                          .amax = std::vector<float>(unitRows * shape.unitsPerRow)};
  const auto unitOf = [&](std::size_t row, std::size_t column) {
    return row / shape.rows * shape.unitsPerRow + column / shape.columns;
  };
  for (std::size_t row = 0; row < m; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      const float magnitude = std::fabs(x[row * n + column]);
      float &amax = result.amax[unitOf(row, column)];
      amax = magnitude > amax ? magnitude : amax; // false for NaN
    }
  }
  std::vector<float> multipliers(result.amax.size());
  for (std::size_t unit = 0; unit < multipliers.size(); ++unit) {
    multipliers[unit] = given.empty() ? modelMultiplier(result.amax[unit]) : 1.0F / given[unit];
    result.scales[unit] = given.empty() ? 1.0F / multipliers[unit] : given[unit];
  }
  for (std::size_t row = 0; row < m; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      result.codes[row * n + column] =
          modelE4M3(x[row * n + column] * multipliers[unitOf(row, column)]);
    }
  }
  return result;
}

} // namespace fp8jit::testing
