// Blocked float64 products. The innermost loop runs over a fixed number of columns, so that the
// compiler turns it into vector code without reordering a sum.
#include "tuner/reference.h"

#include "support/float_formats.h"
#include "tuner/test_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <utility>

namespace fp8jit {

namespace {

constexpr std::int64_t kPanelCols = 8;
constexpr std::int64_t kPanelRows = 128;

/// Codes of one operand with their scales: values by (outer index, k).
class ScaledOperand {
public:
  ScaledOperand(Format format, ScaleUnit unit, std::int64_t outer, std::int64_t k,
                std::pair<std::span<const std::uint8_t>, std::span<const float>> data)
      : isE4m3_(format == Format::E4M3), k_(k), unit_(unitShape(unit, outer, k)),
        unitCols_(unit == ScaleUnit::Tensor || unit == ScaleUnit::Row
                      ? 1
                      : (k + unit_.cols - 1) / unit_.cols),
        codes_(data.first), scales_(data.second) {}

  /// Writes value (row, 0..k-1) to out[0], out[stride], ...
  void row(std::int64_t row, double *out, std::int64_t stride) const {
    const std::uint8_t *codes = codes_.data() + row * k_;
    const float *scales = scales_.data() + row / unit_.rows * unitCols_;
    for (std::int64_t c = 0; c < k_; ++c) {
      const float code = isE4m3_ ? decodeE4m3(codes[c]) : decodeE5m2(codes[c]);
      out[c * stride] = static_cast<double>(code) * static_cast<double>(scales[c / unit_.cols]);
    }
  }

private:
  bool isE4m3_;
  std::int64_t k_;
  UnitShape unit_;
  std::int64_t unitCols_;
  std::span<const std::uint8_t> codes_;
  std::span<const float> scales_;
};

/// Sums and sums of squares of the products of one row of A with kPanelCols rows of B.
struct PanelSums {
  std::array<double, kPanelCols> sum{}, squares{};
};

} // namespace

/// `a`: [k]; `panel`: [k, kPanelCols].
static PanelSums multiplyPanel(const double *a, const double *panel, std::int64_t k) {
  PanelSums result;
  for (std::int64_t c = 0; c < k; ++c) {
    const double value = a[c];
    const double *b = panel + c * kPanelCols;
    for (std::size_t j = 0; j < kPanelCols; ++j) {
      const double product = value * b[j];
      result.sum[j] += product;
      result.squares[j] += product * product;
    }
  }
  return result;
}

static double largerMagnitude(double r, double n) {
  return std::isnan(r) ? r : std::max(std::fabs(r), n);
}

void GemmReference::computeBlock(const GemmProblem &problem, const GemmOperandView &operands,
                                 Block &block) {
  const ScaledOperand a(problem.a, problem.sa, problem.m, problem.k, {operands.a, operands.sa});
  const ScaledOperand b(problem.b, problem.sb, problem.n, problem.k, {operands.b, operands.sb});
  const OutputRegion &region = block.region;
  const double alpha = static_cast<double>(operands.alpha);
  block.r.resize(static_cast<std::size_t>(region.rows * region.cols));
  block.n.resize(block.r.size());
  std::vector<double> rows(static_cast<std::size_t>(std::min(kPanelRows, region.rows) * problem.k));
  std::vector<double> panel(static_cast<std::size_t>(kPanelCols * problem.k));
  for (std::int64_t i0 = 0; i0 < region.rows; i0 += kPanelRows) {
    const std::int64_t rowCount = std::min(kPanelRows, region.rows - i0);
    for (std::int64_t i = 0; i < rowCount; ++i) {
      a.row(region.row + i0 + i, rows.data() + i * problem.k, 1);
    }
    for (std::int64_t j0 = 0; j0 < region.cols; j0 += kPanelCols) {
      const std::int64_t colCount = std::min(kPanelCols, region.cols - j0);
      std::fill(panel.begin(), panel.end(), 0.0);
      for (std::int64_t j = 0; j < colCount; ++j) {
        b.row(region.col + j0 + j, panel.data() + j, kPanelCols);
      }
      for (std::int64_t i = 0; i < rowCount; ++i) {
        const PanelSums sums = multiplyPanel(rows.data() + i * problem.k, panel.data(), problem.k);
        for (std::int64_t j = 0; j < colCount; ++j) {
          const auto place = static_cast<std::size_t>((i0 + i) * region.cols + j0 + j);
          const auto lane = static_cast<std::size_t>(j);
          block.r[place] = alpha * sums.sum[lane];
          block.n[place] =
              largerMagnitude(block.r[place], std::fabs(alpha) * std::sqrt(sums.squares[lane]));
        }
      }
    }
  }
}

GemmReference::GemmReference(const GemmProblem &problem, const GemmOperandView &operands,
                             std::vector<OutputRegion> regions)
    : n_(problem.n), d_(problem.d) {
  if (regions.empty()) {
    regions.push_back({.row = 0, .col = 0, .rows = problem.m, .cols = problem.n});
  }
  for (const OutputRegion &region : regions) {
    blocks_.push_back({.region = region, .r = {}, .n = {}});
    computeBlock(problem, operands, blocks_.back());
  }
}

std::span<const double> GemmReference::values() const {
  return blocks_.front().r;
}

/// Element `index` of an output in host memory.
static float readOutput(const void *d, Format format, std::int64_t index) {
  const auto *bytes = static_cast<const unsigned char *>(d);
  if (format == Format::F32) {
    float value = 0;
    std::memcpy(&value, bytes + 4 * index, sizeof(value));
    return value;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, bytes + 2 * index, sizeof(bits));
  return format == Format::BF16 ? decodeBf16(bits) : decodeF16(bits);
}

static float roundTo(Format format, double value) {
  const auto single = static_cast<float>(value);
  return format == Format::F32    ? single
         : format == Format::BF16 ? decodeBf16(encodeBf16(single))
                                  : decodeF16(encodeF16(single));
}

/// What rounding the real number `r` to `format` may move it by: half a unit in the last place, in
/// the subnormal range half of the smallest number. The rounding of normal numbers to f32 is left
/// to the tolerance.
static double halfUnit(Format format, double r) {
  const double relative = format == Format::BF16 ? 0x1p-8 : format == Format::F16 ? 0x1p-11 : 0.0;
  const double smallest = format == Format::BF16  ? 0x1p-134
                          : format == Format::F16 ? 0x1p-25
                                                  : 0x1p-150;
  return r == 0 ? 0 : std::max(relative * std::fabs(r), smallest);
}

/// |d - r|, 0 where both are the same infinity or r rounds to it.
static double absoluteError(Format format, float d, double r) {
  if (std::isinf(d) && (std::isinf(r) ? static_cast<double>(d) == r : roundTo(format, r) == d)) {
    return 0;
  }
  return std::fabs(static_cast<double>(d) - r);
}

namespace {

/// Squares summed over elements that are not NaN.
struct ErrorSums {
  double error = 0, excess = 0, half = 0, n = 0;
};

} // namespace

static double ratio(double part, double whole) {
  return part == 0 ? 0 : std::sqrt(part / whole);
}

GemmErrors GemmReference::compare(const void *d, GemmTolerance tolerance) const {
  GemmErrors errors;
  ErrorSums sums;
  for (const Block &block : blocks_) {
    for (std::int64_t i = 0; i < block.region.rows; ++i) {
      for (std::int64_t j = 0; j < block.region.cols; ++j) {
        const auto place = static_cast<std::size_t>(i * block.region.cols + j);
        const double r = block.r[place];
        const double n = block.n[place];
        const float value = readOutput(d, d_, (block.region.row + i) * n_ + block.region.col + j);
        if (std::isnan(r) || std::isnan(value)) {
          errors.nanMismatch += std::isnan(r) != std::isnan(value) ? 1 : 0;
          continue;
        }
        const double error = absoluteError(d_, value, r);
        const double half = halfUnit(d_, r);
        const double excess = error == 0 ? 0 : std::max(0.0, error - half);
        errors.maxAbsError = std::max(errors.maxAbsError, error);
        errors.maxElementError = std::max(errors.maxElementError, excess == 0 ? 0 : excess / n);
        sums.error += error * error;
        sums.excess += excess * excess;
        if (std::isfinite(r)) {
          sums.half += half * half;
          sums.n += n * n;
        }
      }
    }
  }
  errors.relError = ratio(sums.error, sums.n);
  errors.excessError = ratio(sums.excess, sums.n);
  errors.tolerance = tolerance.relative + ratio(sums.half, sums.n);
  errors.isWithinTolerance = errors.nanMismatch == 0 && errors.excessError <= tolerance.relative &&
                             errors.maxElementError <= tolerance.element();
  return errors;
}

std::vector<OutputRegion> sampleRegions(const GemmProblem &problem, std::int64_t tileM,
                                        std::int64_t tileN, std::int64_t count,
                                        std::uint64_t seed) {
  const std::int64_t tilesM = (problem.m + tileM - 1) / tileM;
  const std::int64_t tilesN = (problem.n + tileN - 1) / tileN;
  std::set<std::pair<std::int64_t, std::int64_t>> tiles;
  if (tilesM * tilesN <= count + 8) {
    for (std::int64_t tile = 0; tile < tilesM * tilesN; ++tile) {
      tiles.insert({tile / tilesN, tile % tilesN});
    }
  } else {
    Random random(seed);
    const auto draw = [&random](std::int64_t bound) {
      return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(bound)));
    };
    tiles = {{0, 0},
             {0, tilesN - 1},
             {tilesM - 1, 0},
             {tilesM - 1, tilesN - 1},
             {0, draw(tilesN)},
             {tilesM - 1, draw(tilesN)},
             {draw(tilesM), 0},
             {draw(tilesM), tilesN - 1}};
    const std::size_t wanted = tiles.size() + static_cast<std::size_t>(count);
    while (tiles.size() < wanted && static_cast<std::int64_t>(tiles.size()) < tilesM * tilesN) {
      tiles.insert({draw(tilesM), draw(tilesN)});
    }
  }
  std::vector<OutputRegion> regions;
  for (const auto &[i, j] : tiles) {
    regions.push_back({.row = i * tileM,
                       .col = j * tileN,
                       .rows = std::min(tileM, problem.m - i * tileM),
                       .cols = std::min(tileN, problem.n - j * tileN)});
  }
  return regions;
}

} // namespace fp8jit
