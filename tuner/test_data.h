// Seeded operands: the same seed gives the same bytes on every platform. Used for operands that
// nobody named, by the tuner and by tests. Main entries: makeTestMatrix, makeTestOperand.
#pragma once

#include "fp8jit/problem.h"

#include <array>
#include <cstdint>
#include <vector>

namespace fp8jit {

/// xoshiro256** seeded by splitmix64 (Blackman and Vigna, "Scrambled linear pseudorandom number
/// generators", 2018). Integers only, so it gives the same sequence everywhere.
class Random {
public:
  explicit Random(std::uint64_t seed);
  /// 64 random bits.
  std::uint64_t next();
  /// Uniform in [0, bound); bound > 0. The bias is below bound / 2^64.
  std::uint64_t below(std::uint64_t bound);
  /// About standard normal: the sum of twelve 16-bit uniform values, which needs no library
  /// function whose last bit differs between platforms. Range [-6, 6].
  float normal();

private:
  std::array<std::uint64_t, 4> state_;
};

/// A [rows, cols] matrix as activations look: normal values with standard deviation 1, and about
/// one column in 64 (at least one) an outlier channel with 16 times that. All values are exact in
/// bf16. Depends on (rows, cols, seed) alone.
std::vector<float> makeTestMatrix(std::int64_t rows, std::int64_t cols, std::uint64_t seed);

/// One quantized operand of a GEMM.
struct TestOperand {
  std::vector<std::uint8_t> codes; ///< [outer, k]
  std::vector<float> scales;       ///< layout row, shape of generator/scale_shape.h
};

/// makeTestMatrix(outer, k, seed), quantized on the host by the numeric policy (amax scales).
/// `unit`: Tensor, Row, Block1x128, Block128x128 or Block1x32 (f32 scales).
TestOperand makeTestOperand(Format format, ScaleUnit unit, std::int64_t outer, std::int64_t k,
                            std::uint64_t seed);

/// Both operands of `problem`; A takes `seed`, B a seed derived from it.
struct TestOperands {
  TestOperand a, b;
};
TestOperands makeTestOperands(const GemmProblem &problem, std::uint64_t seed);

/// The seed that makeTestOperands uses for B.
std::uint64_t seedOfB(std::uint64_t seed);

} // namespace fp8jit
