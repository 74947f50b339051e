// See sm89_gemm_model.h.
#include "tests/support/sm89_gemm_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace fp8jit::testing {

static constexpr int kFractionBits = 13; // kept below the largest exponent, and in the result
static constexpr int kGroup = 16;        // products summed at once

namespace {

/// value = (negative ? -1 : 1) · significand · 2^(exponent - fraction bits of the format)
struct Parts {
  bool isNan = false;
  bool isNegative = false;
  int significand = 0;
  int exponent = 0;
};

/// A term of a sum: significand · 2^(exponent - fraction).
struct Term {
  bool isNegative = false;
  std::int64_t significand = 0;
  int exponent = 0;
  int fraction = 0;
};

} // namespace

/// E4M3: bias 7, 3 fraction bits, subnormals at exponent -6, 0x7F and 0xFF are NaN.
static Parts splitE4M3(std::uint8_t code) {
  const int field = code >> 3 & 15;
  const int fraction = code & 7;
  return {.isNan = (code & 0x7F) == 0x7F,
          .isNegative = (code & 0x80) != 0,
          .significand = field == 0 ? fraction : 8 + fraction,
          .exponent = field == 0 ? -6 : field - 7};
}

static Term termOf(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const int field = static_cast<int>(bits >> 23 & 255);
  const auto fraction = static_cast<std::int64_t>(bits & 0x7FFFFF);
  return {.isNegative = bits >> 31 != 0,
          .significand = field == 0 ? fraction : (1 << 23) + fraction,
          .exponent = field == 0 ? -126 : field - 127,
          .fraction = 23};
}

/// The term in units of 2^(largest - kFractionBits), cut toward zero.
static std::int64_t aligned(const Term &term, int largest) {
  const int shift = term.fraction - kFractionBits + largest - term.exponent;
  std::int64_t magnitude = 0;
  if (shift < 0) {
    magnitude = term.significand << -shift;
  } else if (shift < 63) {
    magnitude = term.significand >> shift;
  }
  return term.isNegative ? -magnitude : magnitude;
}

/// Sum of the terms by the rule of modelSm89Step.
static float sumOf(std::span<const Term> terms) {
  int largest = std::numeric_limits<int>::min();
  for (const Term &term : terms) {
    if (term.significand != 0) {
      largest = std::max(largest, term.exponent);
    }
  }
  if (largest == std::numeric_limits<int>::min()) {
    return 0.0F;
  }
  std::int64_t sum = 0;
  for (const Term &term : terms) {
    sum += aligned(term, largest);
  }
  auto magnitude = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
  const int excess = std::bit_width(magnitude) - (kFractionBits + 1);
  if (excess > 0) {
    magnitude = magnitude >> excess << excess;
  }
  const double value = std::ldexp(static_cast<double>(magnitude), largest - kFractionBits);
  return static_cast<float>(sum < 0 ? -value : value);
}

float modelSm89Step(std::span<const std::uint8_t, 32> a, std::span<const std::uint8_t, 32> b,
                    float c) {
  for (std::size_t begin = 0; begin < a.size(); begin += kGroup) {
    std::array<Term, kGroup + 1> terms;
    for (std::size_t i = 0; i < kGroup; ++i) {
      const Parts x = splitE4M3(a[begin + i]);
      const Parts y = splitE4M3(b[begin + i]);
      if (x.isNan || y.isNan || std::isnan(c)) {
        return std::numeric_limits<float>::quiet_NaN();
      }
      terms[i] = {.isNegative = x.isNegative != y.isNegative,
                  .significand = x.significand * y.significand,
                  .exponent = x.exponent + y.exponent,
                  .fraction = 6};
    }
    terms[kGroup] = termOf(c);
    c = sumOf(terms);
  }
  return c;
}

/// The tensor core's sum over one block of 128 k, from zero. `a`, `b`: what is left of the block.
static float blockSum(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  float sum = 0.0F;
  for (std::size_t begin = 0; begin < a.size(); begin += 32) {
    std::array<std::uint8_t, 32> x{};
    std::array<std::uint8_t, 32> y{};
    const std::size_t count = std::min<std::size_t>(32, a.size() - begin);
    std::copy_n(a.begin() + begin, count, x.begin());
    std::copy_n(b.begin() + begin, count, y.begin());
    sum = modelSm89Step(x, y, sum);
  }
  return sum;
}

static float element(const GemmModelInput &input, std::size_t row, std::size_t column) {
  const auto k = static_cast<std::size_t>(input.problem.k);
  const std::size_t blocks = (k + 127) / 128;
  const bool isBlockwise = input.problem.sa == ScaleUnit::Block1x128;
  float sum = 0.0F;
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::size_t count = std::min<std::size_t>(128, k - block * 128);
    const float part = blockSum(input.a.subspan(row * k + block * 128, count),
                                input.b.subspan(column * k + block * 128, count));
    if (isBlockwise) {
      const float scale = input.sa[row * blocks + block] * input.sb[column / 128 * blocks + block];
      sum = std::fma(part, scale, sum);
    } else {
      sum = sum + part;
    }
  }
  if (!isBlockwise && k > 0) {
    const bool isRow = input.problem.sa == ScaleUnit::Row;
    const float scale = input.sa[isRow ? row : 0] * input.sb[isRow ? column : 0];
    sum = sum * scale;
  }
  return input.alpha * sum;
}

std::vector<float> modelGemm(const GemmModelInput &input) {
  const auto m = static_cast<std::size_t>(input.problem.m);
  const auto n = static_cast<std::size_t>(input.problem.n);
  std::vector<float> d(m * n);
  for (std::size_t row = 0; row < m; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      d[row * n + column] = element(input, row, column);
    }
  }
  return d;
}

std::uint16_t modelBf16(float value) {
  if (std::isnan(value)) {
    return 0x7FFF;
  }
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

} // namespace fp8jit::testing
