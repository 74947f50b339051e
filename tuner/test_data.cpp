// xoshiro256** and matrices drawn from it; integer arithmetic up to the last, exact conversion.
#include "tuner/test_data.h"

#include "support/float_formats.h"
#include "tuner/reference.h"

#include <bit>

namespace fp8jit {

/// One column in so many is an outlier channel, and so much larger than the others: the shape of
/// transformer activations, where a few feature dimensions dominate.
static constexpr std::uint64_t kOutlierSpacing = 64;
static constexpr float kOutlierFactor = 16.0F;

static std::uint64_t splitMix(std::uint64_t &state) {
  state += 0x9E3779B97F4A7C15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

Random::Random(std::uint64_t seed) : state_{} {
  for (std::uint64_t &word : state_) {
    word = splitMix(seed);
  }
}

std::uint64_t Random::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Random::below(std::uint64_t bound) {
  return next() % bound;
}

float Random::normal() {
  // The sum of twelve uniform values on [0, 1) has variance 1 and mean 6; in units of 2^-16 it is
  // an integer below 2^20 and so exact.
  std::int32_t sum = 0;
  for (int draw = 0; draw < 3; ++draw) {
    const std::uint64_t bits = next();
    for (int shift = 0; shift < 64; shift += 16) {
      sum += static_cast<std::int32_t>((bits >> shift) & 0xFFFFU);
    }
  }
  return static_cast<float>(sum - 6 * 65536) * 0x1p-16F;
}

std::vector<float> makeTestMatrix(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> factor(static_cast<std::size_t>(cols), 1.0F);
  for (std::uint64_t i = 0; cols > 0 && i < 1 + factor.size() / kOutlierSpacing; ++i) {
    factor[random.below(factor.size())] = kOutlierFactor;
  }
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(rows) * factor.size());
  for (std::int64_t row = 0; row < rows; ++row) {
    for (const float scale : factor) {
      values.push_back(decodeBf16(encodeBf16(random.normal() * scale)));
    }
  }
  return values;
}

TestOperand makeTestOperand(Format format, ScaleUnit unit, std::int64_t outer, std::int64_t k,
                            std::uint64_t seed) {
  QuantProblem problem;
  problem.m = outer;
  problem.n = k;
  problem.q = format;
  problem.s = unit;
  QuantReference quantized = quantizeReference(problem, makeTestMatrix(outer, k, seed));
  return {.codes = std::move(quantized.q), .scales = std::move(quantized.s)};
}

std::uint64_t seedOfB(std::uint64_t seed) {
  return splitMix(seed);
}

TestOperands makeTestOperands(const GemmProblem &problem, std::uint64_t seed) {
  return {.a = makeTestOperand(problem.a, problem.sa, problem.m, problem.k, seed),
          .b = makeTestOperand(problem.b, problem.sb, problem.n, problem.k, seedOfB(seed))};
}

} // namespace fp8jit
