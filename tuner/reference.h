// The float64 reference of a GEMM on the same codes and scales, the error measures of a result
// against it, and the scalar reference of quantization. Main entries: GemmReference,
// quantizeReference.
#pragma once

#include "fp8jit/problem.h"

#include <cstdint>
#include <span>
#include <vector>

namespace fp8jit {

/// Host operands of a GEMM. Codes: a [m, k], b [n, k], contiguous. Scales: f32, layout row, as
/// generator/scale_shape.h gives it. Not owned.
struct GemmOperandView {
  std::span<const std::uint8_t> a, b;
  std::span<const float> sa, sb;
  float alpha = 1.0F;
};

/// A rectangle of the output.
struct OutputRegion {
  std::int64_t row = 0, col = 0, rows = 0, cols = 0;
  friend bool operator==(const OutputRegion &, const OutputRegion &) = default;
};

/// Regions that check an output without computing all of it: every kind of edge tile of a tiling
/// by tileM x tileN (the corners, and a random tile of each edge), and `count` random tiles; no
/// tile twice. All tiles when the tiling has no more than that.
std::vector<OutputRegion> sampleRegions(const GemmProblem &problem, std::int64_t tileM,
                                        std::int64_t tileN, std::int64_t count, std::uint64_t seed);

/// What an error is held against. The element bound is three times the norm bound, both against N
/// and after the half unit of the output format is taken off.
struct GemmTolerance {
  double relative = 1e-3;
  double element() const { return 3 * relative; }
};
inline constexpr GemmTolerance kSeededTolerance{.relative = 1e-3};
/// For operands of unknown distribution: one-signed data with outlier columns reaches this on the
/// 13 bits of an Ada or Hopper tensor core.
inline constexpr GemmTolerance kFileTolerance{.relative = 8e-3};

/// The errors of D against the reference, over the elements of the reference's regions.
///
/// N_ij = max(|R_ij|, sqrt(sum_k (A_ik sa B_jk sb)^2)): a truncating adder errs relative to what it
/// adds, not to what cancellation leaves. h is the rounding that R has not seen: half a unit in the
/// last place of D (2^-8 |R| for bf16, 2^-11 |R| for f16, 0 for f32), or half of the smallest
/// subnormal number of D where that is more.
struct GemmErrors {
  double relError = 0;          ///< ||D - R|| / ||N||; 0/0 = 0
  double maxAbsError = 0;       ///< largest |D - R|
  double excessError = 0;       ///< ||max(0, |D - R| - h)|| / ||N||
  double maxElementError = 0;   ///< largest max(0, |D - R| - h) / N
  std::int64_t nanMismatch = 0; ///< elements where one of D and R is NaN and the other is not
  /// What relError may reach: relative + ||h|| / ||N||. Exceeding it implies failing.
  double tolerance = 0;
  /// nanMismatch = 0, excessError <= relative and maxElementError <= 3 relative.
  bool isWithinTolerance = false;
};

/// R and N of a problem on some regions of its output. Immutable; compare from any thread.
class GemmReference {
public:
  /// Computes R and N for `regions` (all of D when empty). The product of codes and scales, the
  /// sums and alpha are float64. Only what shapes D enters: m, n, k, formats, scale units, alpha.
  /// `problem`: contiguous, without C, bias or activation. Cost: 4 m n k flop over the regions.
  GemmReference(const GemmProblem &problem, const GemmOperandView &operands,
                std::vector<OutputRegion> regions = {});

  /// The errors of `d`, the whole [m, n] output in the format of the problem (bf16 or f32), in
  /// host memory of any alignment. An infinity that the rounding of R to that format gives, too,
  /// is no error.
  GemmErrors compare(const void *d, GemmTolerance tolerance) const;

  /// R of the first region, row major; all of D for a reference without regions.
  std::span<const double> values() const;

private:
  struct Block {
    OutputRegion region;
    std::vector<double> r, n;
  };
  void computeBlock(const GemmProblem &problem, const GemmOperandView &operands, Block &block);

  std::int64_t n_ = 0;
  Format d_ = Format::BF16;
  std::vector<Block> blocks_;
};

/// What a quantization must give, to the bit.
struct QuantReference {
  std::vector<std::uint8_t> q; ///< [m, n]
  std::vector<float> s;        ///< one dequantization scale per unit, layout row
  std::vector<float> amax;     ///< one per unit
};

/// The numeric policy of the project in scalar code. `x`: [m, n], values of the problem's x format.
/// `given`: the scales when problem.sc is Given, else ignored. Units Tensor, Row, Block1x128,
/// Block128x128 and Block1x32; scale types F32 and Pow2; output Row.
QuantReference quantizeReference(const QuantProblem &problem, std::span<const float> x,
                                 std::span<const float> given = {});

/// Rows and columns of one scale unit over a [rows, cols] matrix, clipped to it; at least 1.
struct UnitShape {
  std::int64_t rows = 1, cols = 1;
};
UnitShape unitShape(ScaleUnit unit, std::int64_t rows, std::int64_t cols);

} // namespace fp8jit
