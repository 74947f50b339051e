// The numeric policy of quantization in scalar code, one unit at a time.
#include "support/float_formats.h"
#include "tuner/reference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace fp8jit {

UnitShape unitShape(ScaleUnit unit, std::int64_t rows, std::int64_t cols) {
  UnitShape shape;
  switch (unit) {
  case ScaleUnit::Tensor:
    shape = {.rows = rows, .cols = cols};
    break;
  case ScaleUnit::Row:
    shape = {.rows = 1, .cols = cols};
    break;
  case ScaleUnit::Block1x128:
    shape = {.rows = 1, .cols = 128};
    break;
  case ScaleUnit::Block128x128:
    shape = {.rows = 128, .cols = 128};
    break;
  case ScaleUnit::Block1x32:
    shape = {.rows = 1, .cols = 32};
    break;
  }
  return {.rows = std::max<std::int64_t>(1, shape.rows),
          .cols = std::max<std::int64_t>(1, shape.cols)};
}

/// The factor that codes are made with, from the amax of their unit: fl(FMAX / amax), 1 for an amax
/// that is 0 or not finite, the largest float where it overflows; a power of two for Pow2, rounded
/// down in the exponent field.
static float quantizationScale(const QuantProblem &problem, float amax) {
  if (amax == 0 || !std::isfinite(amax)) {
    return 1.0F;
  }
  const float largest = problem.q == Format::E4M3 ? kMaxE4m3 : kMaxE5m2;
  const float scale = std::min(largest / amax, std::numeric_limits<float>::max());
  return problem.st == ScaleType::Pow2
             ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(scale) & 0x7F800000U)
             : scale;
}

namespace {

/// One scale unit of X: the elements [row, row + rows) x [col, col + cols).
struct Unit {
  std::size_t index;
  std::int64_t row, col, rows, cols;
};

} // namespace

static void quantizeUnit(const QuantProblem &problem, std::span<const float> x,
                         std::span<const float> given, const Unit &unit, QuantReference &result) {
  const auto place = [&](std::int64_t i, std::int64_t j) {
    return static_cast<std::size_t>((unit.row + i) * problem.n + unit.col + j);
  };
  float amax = 0;
  for (std::int64_t i = 0; i < unit.rows; ++i) {
    for (std::int64_t j = 0; j < unit.cols; ++j) {
      amax = std::fmax(amax, std::fabs(x[place(i, j)])); // fmax leaves NaN out
    }
  }
  const bool isGiven = problem.sc == ScaleSource::Given;
  const float scale = isGiven ? 1.0F / given[unit.index] : quantizationScale(problem, amax);
  result.amax[unit.index] = amax;
  result.s[unit.index] = isGiven ? given[unit.index] : 1.0F / scale;
  for (std::int64_t i = 0; i < unit.rows; ++i) {
    for (std::int64_t j = 0; j < unit.cols; ++j) {
      const float scaled = x[place(i, j)] * scale;
      result.q[place(i, j)] = problem.q == Format::E4M3 ? encodeE4m3(scaled) : encodeE5m2(scaled);
    }
  }
}

QuantReference quantizeReference(const QuantProblem &problem, std::span<const float> x,
                                 std::span<const float> given) {
  const UnitShape shape = unitShape(problem.s, problem.m, problem.n);
  const bool isTensor = problem.s == ScaleUnit::Tensor;
  // Tensor and row scales exist even where there is nothing to scale.
  const std::int64_t unitRows = isTensor ? 1 : (problem.m + shape.rows - 1) / shape.rows;
  const std::int64_t unitCols =
      isTensor || problem.s == ScaleUnit::Row ? 1 : (problem.n + shape.cols - 1) / shape.cols;
  const auto units = static_cast<std::size_t>(unitRows * unitCols);
  QuantReference result{.q = std::vector<std::uint8_t>(x.size()),
                        .s = std::vector<float>(units),
                        .amax = std::vector<float>(units)};
  for (std::int64_t i = 0; i < unitRows; ++i) {
    for (std::int64_t j = 0; j < unitCols; ++j) {
      const std::int64_t row = i * shape.rows;
      const std::int64_t col = j * shape.cols;
      quantizeUnit(problem, x, given,
                   {.index = static_cast<std::size_t>(i * unitCols + j),
                    .row = row,
                    .col = col,
                    .rows = std::min(shape.rows, problem.m - row),
                    .cols = std::min(shape.cols, problem.n - col)},
                   result);
    }
  }
  return result;
}

} // namespace fp8jit
