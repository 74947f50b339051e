// The host codecs against the CUDA toolkit's own host conversions, over all codes and a dense set
// of floats.
#include "support/float_formats.h"

#include <gtest/gtest.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cmath>
#include <random>

namespace fp8jit {
namespace {

std::uint32_t bitsOf(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

bool sameValue(float left, float right) {
  return bitsOf(left) == bitsOf(right) || (std::isnan(left) && std::isnan(right));
}

/// All BF16 values, their neighbours in float, ties of every format, and random bit patterns.
template <typename Function>
void forManyFloats(Function check) {
  for (std::uint32_t high = 0; high < 0x10000U; ++high) {
    for (const std::uint32_t low : {0x0U, 0x1U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU}) {
      check(std::bit_cast<float>((high << 16) | low));
    }
  }
  std::mt19937 random(20240601);
  for (int i = 0; i < 1'000'000; ++i) {
    check(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  }
}

TEST(FloatFormatsTest, DecodesEveryFp8CodeAsCuda) {
  for (int code = 0; code < 256; ++code) {
    const auto byte = static_cast<std::uint8_t>(code);
    __nv_fp8_e4m3 e4m3;
    e4m3.__x = byte;
    EXPECT_TRUE(sameValue(decodeE4m3(byte), static_cast<float>(e4m3))) << code;
    __nv_fp8_e5m2 e5m2;
    e5m2.__x = byte;
    EXPECT_TRUE(sameValue(decodeE5m2(byte), static_cast<float>(e5m2))) << code;
  }
}

TEST(FloatFormatsTest, DecodesEvery16BitCodeAsCuda) {
  for (std::uint32_t code = 0; code < 0x10000U; ++code) {
    const auto bits = static_cast<std::uint16_t>(code);
    EXPECT_TRUE(sameValue(decodeBf16(bits), __bfloat162float(__nv_bfloat16_raw{bits}))) << code;
    EXPECT_TRUE(sameValue(decodeF16(bits), __half2float(__half_raw{bits}))) << code;
  }
}

TEST(FloatFormatsTest, EncodesFp8AsCuda) {
  int mismatches = 0;
  forManyFloats([&](float value) {
    if (std::isnan(value)) {
      mismatches += encodeE4m3(value) != 0x7F || encodeE5m2(value) != 0x7F ? 1 : 0;
      return;
    }
    const auto e4m3 = __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3);
    const auto e5m2 = __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E5M2);
    mismatches += encodeE4m3(value) != e4m3 || encodeE5m2(value) != e5m2 ? 1 : 0;
  });

  EXPECT_EQ(mismatches, 0);
}

TEST(FloatFormatsTest, Encodes16BitFormatsAsCuda) {
  int mismatches = 0;
  forManyFloats([&](float value) {
    if (std::isnan(value)) {
      mismatches += encodeBf16(value) != 0x7FFF || encodeF16(value) != 0x7FFF ? 1 : 0;
      return;
    }
    const __nv_bfloat16_raw bf16 = __float2bfloat16_rn(value);
    const __half_raw f16 = __float2half_rn(value);
    mismatches += encodeBf16(value) != bf16.x || encodeF16(value) != f16.x ? 1 : 0;
  });

  EXPECT_EQ(mismatches, 0);
}

TEST(FloatFormatsTest, RoundTripsEveryFiniteFp8Code) {
  for (int code = 0; code < 256; ++code) {
    const auto byte = static_cast<std::uint8_t>(code);
    if (std::isfinite(decodeE4m3(byte))) {
      EXPECT_EQ(encodeE4m3(decodeE4m3(byte)), byte);
    }
    if (std::isfinite(decodeE5m2(byte))) {
      EXPECT_EQ(encodeE5m2(decodeE5m2(byte)), byte);
    }
  }
}

TEST(FloatFormatsTest, FollowsTheNumericPolicyAtTheEdges) {
  const float infinity = std::numeric_limits<float>::infinity();
  static_assert(encodeE4m3(0.0F) == 0x00 && encodeE4m3(-0.0F) == 0x80);
  static_assert(encodeE4m3(1e30F) == 0x7E && encodeE4m3(-1e30F) == 0xFE);

  EXPECT_EQ(encodeE4m3(infinity), 0x7E);
  EXPECT_EQ(encodeE4m3(-infinity), 0xFE);
  EXPECT_EQ(encodeE5m2(infinity), 0x7B);
  EXPECT_EQ(encodeE5m2(-infinity), 0xFB);
  EXPECT_EQ(encodeF16(65519.0F), 0x7BFF);
  EXPECT_EQ(encodeF16(65520.0F), 0x7C00);
}

TEST(FloatFormatsTest, DecodesE8m0AsPowersOfTwo) {
  for (int code = 0; code < 255; ++code) {
    EXPECT_EQ(decodeE8m0(static_cast<std::uint8_t>(code)), std::ldexp(1.0F, code - 127)) << code;
  }
  EXPECT_TRUE(std::isnan(decodeE8m0(255)));
}

} // namespace
} // namespace fp8jit
