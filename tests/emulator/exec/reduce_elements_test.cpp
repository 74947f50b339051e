// Reductions of arrays against integer arithmetic in a wider type and against the nearest code of a
// narrow format, found by search.
#include "emulator/exec/reduce_elements.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

namespace fp8jit::emulator {

/// destination op= source over the elements of both.
template <typename T>
static std::vector<T> reduced(AtomicOp operation, Type type, std::vector<T> destination,
                              const std::vector<T> &source) {
  const ReduceFunction reduce = selectReduction(operation, type);
  EXPECT_NE(reduce, nullptr);
  reduce(reinterpret_cast<std::uint8_t *>(destination.data()),
         reinterpret_cast<const std::uint8_t *>(source.data()), source.size());
  return destination;
}

template <typename T>
static void checkIntegers(Type type) {
  std::mt19937_64 random(5);
  std::vector<T> a(500);
  std::vector<T> b(500);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<T>(random() >> (i % 60));
    b[i] = static_cast<T>(i % 7 == 0 ? static_cast<std::uint64_t>(a[i]) : random() >> (i % 50));
  }
  const auto sums = reduced<T>(AtomicOp::Add, type, a, b);
  const auto least = reduced<T>(AtomicOp::Min, type, a, b);
  const auto greatest = reduced<T>(AtomicOp::Max, type, a, b);
  const auto both = reduced<T>(AtomicOp::And, type, a, b);
  const auto either = reduced<T>(AtomicOp::Or, type, a, b);
  const auto one = reduced<T>(AtomicOp::Xor, type, a, b);
  for (std::size_t i = 0; i < a.size(); ++i) {
    T wrapped = 0;
    static_cast<void>(__builtin_add_overflow(a[i], b[i], &wrapped));
    EXPECT_EQ(sums[i], wrapped) << i;
    EXPECT_EQ(least[i], std::min(a[i], b[i])) << i;
    EXPECT_EQ(greatest[i], std::max(a[i], b[i])) << i;
    EXPECT_EQ(both[i], static_cast<T>(a[i] & b[i])) << i;
    EXPECT_EQ(either[i], static_cast<T>(a[i] | b[i])) << i;
    EXPECT_EQ(one[i], static_cast<T>(a[i] ^ b[i])) << i;
  }
}

/// The value of an f16 (5 exponent bits) or bf16 (8) code.
static double decode(std::uint16_t code, int exponentBits) {
  const int mantissaBits = 15 - exponentBits;
  const int bias = (1 << (exponentBits - 1)) - 1;
  const int exponent = (code & 0x7fff) >> mantissaBits;
  const int mantissa = code & ((1 << mantissaBits) - 1);
  const double sign = (code & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == (1 << exponentBits) - 1) {
    return mantissa != 0 ? std::nan("") : sign * INFINITY;
  }
  const double fraction = std::ldexp(mantissa, -mantissaBits) + (exponent == 0 ? 0 : 1);
  return sign * std::ldexp(fraction, std::max(exponent, 1) - bias);
}

/// The finite code nearest to `value` that lies within the finite range, ties to even.
static std::uint16_t nearest(double value, int exponentBits) {
  std::uint16_t best = 0;
  double bestDistance = INFINITY;
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  for (std::uint16_t code = 0; code < 0x8000; ++code) {
    const double candidate = decode(code, exponentBits);
    const double distance = std::abs(candidate - std::abs(value));
    if (distance < bestDistance || (distance == bestDistance && code % 2 == 0)) {
      best = code;
      bestDistance = distance;
    }
  }
  return sign | best;
}

static void checkSums(Type type, int exponentBits) {
  std::mt19937 random(6);
  for (int i = 0; i < 100; ++i) {
    // Half of the largest exponent at most, so that no sum overflows.
    const auto draw = [&] { return static_cast<std::uint16_t>(random() & 0xbbff); };
    const std::vector<std::uint16_t> a = {draw()};
    const std::vector<std::uint16_t> b = {draw()};
    const double sum = decode(a[0], exponentBits) + decode(b[0], exponentBits);
    const auto result = reduced<std::uint16_t>(AtomicOp::Add, type, a, b);
    EXPECT_EQ(result[0], nearest(sum, exponentBits)) << a[0] << " + " << b[0];
  }
}

TEST(SelectReductionTest, CombinesIntegers) {
  checkIntegers<std::uint32_t>(Type::U32);
  checkIntegers<std::int32_t>(Type::S32);
  checkIntegers<std::uint64_t>(Type::U64);
  checkIntegers<std::int64_t>(Type::S64);
}

TEST(SelectReductionTest, CountsUpAndDownAtItsLimits) {
  const std::vector<std::uint32_t> old = {0, 4, 5, 6};
  const std::vector<std::uint32_t> limit = {5, 5, 5, 5};
  EXPECT_EQ(reduced(AtomicOp::Inc, Type::U32, old, limit),
            (std::vector<std::uint32_t>{1, 5, 0, 0}));
  EXPECT_EQ(reduced(AtomicOp::Dec, Type::U32, old, limit),
            (std::vector<std::uint32_t>{5, 3, 4, 5}));
}

TEST(SelectReductionTest, RoundsNarrowSumsToTheNearest) {
  checkSums(Type::F16, 5);
  checkSums(Type::BF16, 8);
}

TEST(SelectReductionTest, OrdersNarrowFloats) {
  for (const Type type : {Type::F16, Type::BF16}) {
    const std::uint16_t one = type == Type::F16 ? 0x3c00 : 0x3f80;
    const auto minusOne = static_cast<std::uint16_t>(one | 0x8000);
    const std::vector<std::uint16_t> a = {one, minusOne, 0x0000, 0x8000, 0x7fff, 0xffff};
    const std::vector<std::uint16_t> b = {minusOne, one, 0x8000, 0x0000, one, 0x7fff};
    EXPECT_EQ(reduced(AtomicOp::Min, type, a, b),
              (std::vector<std::uint16_t>{minusOne, minusOne, 0x8000, 0x8000, one, 0x7fff}));
    EXPECT_EQ(reduced(AtomicOp::Max, type, a, b),
              (std::vector<std::uint16_t>{one, one, 0x0000, 0x0000, one, 0x7fff}));
  }
}

TEST(SelectReductionTest, AddsFloatsAndDoubles) {
  EXPECT_EQ(reduced<float>(AtomicOp::Add, Type::F32, {0.5F, 1e-45F}, {2.25F, 1e-45F}),
            (std::vector<float>{2.75F, 3e-45F}));
  EXPECT_EQ(reduced<double>(AtomicOp::Add, Type::F64, {0.5}, {1e-300}), std::vector<double>{0.5});
}

TEST(SelectReductionTest, HasNothingForWhatPtxLacks) {
  EXPECT_EQ(selectReduction(AtomicOp::Inc, Type::U64), nullptr);
  EXPECT_EQ(selectReduction(AtomicOp::Min, Type::F32), nullptr);
  EXPECT_EQ(selectReduction(AtomicOp::And, Type::F16), nullptr);
  EXPECT_EQ(selectReduction(AtomicOp::Exch, Type::U32), nullptr);
  EXPECT_EQ(selectReduction(AtomicOp::Add, Type::U8), nullptr);
}

} // namespace fp8jit::emulator
