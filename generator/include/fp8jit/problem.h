// A problem: what is to be computed, as plain values. Public; standard library only. The text form
// and its validation are in generator/problem_text.h (inside) and fp8jit/engine.h (public).
#pragma once

#include <cstdint>
#include <variant>

namespace fp8jit {

/// Element formats of operands, results and scales.
enum class Format : std::uint8_t { None, E4M3, E5M2, BF16, F16, F32 };

/// Bytes of one element: what sizes and alignments of buffers follow from; 0 for None.
constexpr int elementBytes(Format format) {
  switch (format) {
  case Format::None:
    return 0;
  case Format::E4M3:
  case Format::E5M2:
    return 1;
  case Format::BF16:
  case Format::F16:
    return 2;
  case Format::F32:
    return 4;
  }
  return 0;
}

/// The unit that shares one dequantization scale.
enum class ScaleUnit : std::uint8_t { Tensor, Row, Block1x128, Block128x128, Block1x32 };

/// How scales are stored. Pow2 (quantization only) is an f32 scale that is a power of two.
enum class ScaleType : std::uint8_t { F32, Pow2, UE8M0 };

/// Layout of a scale array; shapes and places in docs/problems.md.
enum class ScaleLayout : std::uint8_t { Row, Row4, Mn, Packed, Swizzled };

/// Split: partial sums are promoted to FP32 every 128 of k. Fast: one sum over all of k.
enum class Accumulation : std::uint8_t { Split, Fast };

enum class Activation : std::uint8_t { None, Relu, Gelu, Silu };

/// Which dimension of a stored operand is contiguous: K (A [m,k], B [n,k]) or Mn (A [k,m], B
/// [k,n]).
enum class Major : std::uint8_t { K, Mn };

enum class SplitK : std::uint8_t { No, Deterministic };

/// Where the scale of a quantization comes from: the data's amax, or the caller.
enum class ScaleSource : std::uint8_t { Amax, Given };

enum class ScaleRounding : std::uint8_t { Up, Floor };

/// Orientation of the codes: Row as X, Col as its transpose, Both from one read.
enum class QuantOutput : std::uint8_t { Row, Col, Both };

/// D[m,n] = act(alpha · Σ_k (A[m,k]·sa)·(B[n,k]·sb) + bias[n]) + beta · C[m,n], rounded once to
/// `d`. Leading dimensions of 0 mean contiguous.
struct GemmProblem {
  std::int64_t m = 0, n = 0, k = 0; ///< 0 .. 2^31-1 each
  Format a = Format::E4M3, b = Format::E4M3;
  Format d = Format::BF16;
  ScaleUnit sa = ScaleUnit::Tensor, sb = ScaleUnit::Tensor;
  ScaleType st = ScaleType::F32; ///< UE8M0 always with Block1x32
  ScaleLayout la = ScaleLayout::Row, lb = ScaleLayout::Row;
  Accumulation acc = Accumulation::Split;
  Format c = Format::None;
  Format bias = Format::None;
  Activation act = Activation::None;
  Major ta = Major::K, tb = Major::K;
  std::int64_t lda = 0, ldb = 0, ldc = 0, ldd = 0; ///< elements; 0 = contiguous
  SplitK splitk = SplitK::No;
  std::int64_t batch = 1;

  friend bool operator==(const GemmProblem &, const GemmProblem &) = default;
};

/// FP8 codes of X[m,n] with one dequantization scale per unit.
struct QuantProblem {
  std::int64_t m = 0, n = 0; ///< 0 .. 2^31-1 each
  Format x = Format::BF16;
  Format q = Format::E4M3;
  ScaleUnit s = ScaleUnit::Tensor;
  ScaleType st = ScaleType::F32;
  ScaleSource sc = ScaleSource::Amax;
  ScaleRounding round = ScaleRounding::Up;
  QuantOutput out = QuantOutput::Row;
  ScaleLayout l = ScaleLayout::Row;
  std::int64_t ldx = 0; ///< elements; 0 = contiguous

  friend bool operator==(const QuantProblem &, const QuantProblem &) = default;
};

using Problem = std::variant<GemmProblem, QuantProblem>;

} // namespace fp8jit
