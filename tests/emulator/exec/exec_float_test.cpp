// Floating-point instructions at their edges: NaN, signed zero, subnormals, rounding modes,
// options. f32 values are written as their bits.
#include "tests/emulator/exec/lane_program.h"

#include <bit>
#include <cmath>
#include <random>

namespace fp8jit::emulator::testing {
namespace {

constexpr std::uint64_t kOne = 0x3f800000, kTwo = 0x40000000, kThree = 0x40400000;
constexpr std::uint64_t kMinusZero = 0x80000000, kMinusOne = 0xbf800000, kMinusTwo = 0xc0000000;
constexpr std::uint64_t kInf = 0x7f800000, kMinusInf = 0xff800000;
constexpr std::uint64_t kSignalling = 0x7f800001, kNegativeNan = 0xffc12345, kNan = 0x7fffffff;
constexpr std::uint64_t kSubnormal = 0x00000001, kLargest = 0x7f7fffff;

TEST(FloatTest, ArithmeticGivesTheCanonicalNan) {
  runCases("add.f32 %fd, %fa, %fb;", 'f',
           {{kInf, kMinusInf, 0, kNan},
            {kNegativeNan, kOne, 0, kNan},
            {kSignalling, kOne, 0, kNan},
            {kOne, kTwo, 0, kThree}});
  runCases("mul.f32 %fd, %fa, %fb;", 'f', {{kInf, 0, 0, kNan}, {kMinusOne, 0, 0, kMinusZero}});
  runCases("fma.rn.f32 %fd, %fa, %fb, %fc;", 'f',
           {{kNegativeNan, 0, 0, kNan}, {kInf, kOne, kMinusInf, kNan}});
  runCases("div.rn.f32 %fd, %fa, %fb;", 'f',
           {{0, 0, 0, kNan}, {kOne, 0, 0, kInf}, {kOne, kThree, 0, 0x3eaaaaab}});
  runCases("sqrt.rn.f32 %fd, %fa;", 'f', {{kMinusOne, 0, 0, kNan}, {kTwo, 0, 0, 0x3fb504f3}});
  runCases("rcp.rn.f32 %fd, %fa;", 'f',
           {{kThree, 0, 0, 0x3eaaaaab}, {kMinusZero, 0, 0, kMinusInf}});
}

TEST(FloatTest, FmaRoundsOnce) {
  // (1 + 2^-12)^2 - 1 - 2^-11 = 2^-24 exactly, which a rounded product loses.
  runCases("fma.rn.f32 %fd, %fa, %fb, %fc;", 'f',
           {{0x3f800800, 0x3f800800, 0xbf801000, 0x33800000}});
}

TEST(FloatTest, RoundsAsTheModeSays) {
  // 1 + 2^-25 lies between 1 and its neighbours.
  const std::uint64_t tiny = 0x33000000;
  runCases("add.rn.f32 %fd, %fa, %fb;", 'f', {{kOne, tiny, 0, kOne}});
  runCases("add.rz.f32 %fd, %fa, %fb;", 'f', {{kOne, tiny, 0, kOne}});
  runCases("add.rp.f32 %fd, %fa, %fb;", 'f', {{kOne, tiny, 0, 0x3f800001}});
  runCases("add.rm.f32 %fd, %fa, %fb;", 'f', {{kMinusOne, 0xb3000000, 0, 0xbf800001}});
  runCases("div.rz.f32 %fd, %fa, %fb;", 'f', {{kTwo, kThree, 0, 0x3f2aaaaa}});
  runCases("div.rp.f32 %fd, %fa, %fb;", 'f', {{kTwo, kThree, 0, 0x3f2aaaab}});
  runCases("rcp.rz.f32 %fd, %fa;", 'f', {{kThree, 0, 0, 0x3eaaaaaa}});
  runCases("sqrt.rp.f32 %fd, %fa;", 'f', {{kTwo, 0, 0, 0x3fb504f4}});
  runCases("mul.rz.f32 %fd, %fa, %fb;", 'f', {{kLargest, kTwo, 0, kLargest}});
  runCases("fma.rm.f32 %fd, %fa, %fb, %fc;", 'f', {{kOne, kMinusOne, 0xb3000000, 0xbf800001}});
}

TEST(FloatTest, FlushesOnlyWhenAsked) {
  runCases("add.f32 %fd, %fa, %fb;", 'f', {{kSubnormal, 0, 0, kSubnormal}});
  runCases("add.ftz.f32 %fd, %fa, %fb;", 'f',
           {{kSubnormal, 0, 0, 0}, {0x80000001, kMinusZero, 0, kMinusZero}});
  runCases("mul.f32 %fd, %fa, %fb;", 'f', {{0x00800000, 0x3f000000, 0, 0x00400000}});
  runCases("mul.ftz.f32 %fd, %fa, %fb;", 'f', {{0x00800000, 0x3f000000, 0, 0}});
}

TEST(FloatTest, SaturatesToTheUnitInterval) {
  runCases("add.sat.f32 %fd, %fa, %fb;", 'f',
           {{kOne, kOne, 0, kOne},
            {kMinusOne, 0, 0, 0},
            {kNan, 0, 0, 0},
            {kMinusZero, kMinusZero, 0, 0}});
}

TEST(FloatTest, MinimumAndMaximumIgnoreNanAndOrderZeros) {
  runCases("min.f32 %fd, %fa, %fb;", 'f',
           {{kNan, kOne, 0, kOne},
            {kOne, kNegativeNan, 0, kOne},
            {kNan, kNegativeNan, 0, kNan},
            {0, kMinusZero, 0, kMinusZero}});
  runCases("max.f32 %fd, %fa, %fb;", 'f',
           {{kMinusZero, 0, 0, 0}, {0, kMinusZero, 0, 0}, {kMinusInf, kMinusOne, 0, kMinusOne}});
  runCases("max.NaN.f32 %fd, %fa, %fb;", 'f',
           {{kNegativeNan, kOne, 0, kNan}, {kOne, kTwo, 0, kTwo}});
  runCases("min.xorsign.abs.f32 %fd, %fa, %fb;", 'f',
           {{kMinusOne, kTwo, 0, kMinusOne}, {kMinusTwo, kMinusOne, 0, kOne}});
  runCases("max.f16 %hd, %ha, %hb;", 'h', {{0x8000, 0, 0, 0}, {0x7e01, 0x3c00, 0, 0x3c00}});
  runCases("abs.f32 %fd, %fa;", 'f', {{kMinusOne, 0, 0, kOne}});
  runCases("neg.f32 %fd, %fa;", 'f', {{0, 0, 0, kMinusZero}});
  runCases("copysign.f32 %fd, %fa, %fb;", 'f', {{kMinusOne, kTwo, 0, kMinusTwo}});
}

TEST(FloatTest, ApproximationsAreNear) {
  const auto values = runLine("ex2.approx.f32 %fd, %fa;", 'f', {{0x40200000}, {kMinusInf}, {kInf}});
  EXPECT_NEAR(std::bit_cast<float>(static_cast<std::uint32_t>(values[0])), std::exp2(2.5), 1e-6);
  EXPECT_EQ(values[1], 0U);
  EXPECT_EQ(values[2], kInf);
  runCases("lg2.approx.f32 %fd, %fa;", 'f', {{0x41000000, 0, 0, kThree}, {0, 0, 0, kMinusInf}});
  runCases("rsqrt.approx.f32 %fd, %fa;", 'f', {{0x40800000, 0, 0, 0x3f000000}, {0, 0, 0, kInf}});
}

TEST(FloatTest, PairsOfHalvesComputePerHalf) {
  runCases("add.f16x2 %d, %a, %b;", 'd', {{0x3c004000, 0x3c003c00, 0, 0x40004200}});
  runCases("fma.rn.f16x2 %d, %a, %b, %c;", 'd', {{0x3c004000, 0x40004000, 0x3c003c00, 0x42004500}});
  runCases("mul.f16x2 %d, %a, %b;", 'd', {{0x3c004000, 0x40004000, 0, 0x40004400}});
  runCases("fma.rn.relu.bf16x2 %d, %a, %b, %c;", 'd', {{0xbf803f80, 0x3f803f80, 0, 0x00003f80}});
  // 2049 is a tie between 2048 and 2050 of f16, and the even one is 2048.
  runCases("fma.rn.f16 %hd, %ha, %hb, %hc;", 'h', {{0x3c00, 0x6800, 0x3c00, 0x6800}});
}

TEST(FloatTest, RandomArithmeticEqualsTheHost) {
  std::mt19937 random(20260801);
  std::vector<LaneCase> cases(1024);
  for (LaneCase &one : cases) {
    one.a = random();
    one.b = random();
    one.c = random();
  }
  const auto value = [](std::uint64_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  };
  const auto bitsOf = [](float result) {
    return std::isnan(result) ? 0x7fffffffU : std::bit_cast<std::uint32_t>(result);
  };
  for (LaneCase &one : cases) {
    one.expected = bitsOf(std::fma(value(one.a), value(one.b), value(one.c)));
  }
  runCases("fma.rn.f32 %fd, %fa, %fb, %fc;", 'f', cases);
  for (LaneCase &one : cases) {
    one.expected = bitsOf(value(one.a) / value(one.b));
  }
  runCases("div.rn.f32 %fd, %fa, %fb;", 'f', cases);
}

TEST(DoubleTest, ComputesInF64) {
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  runCases("add.f64 %dd, %da, %db;", 'e', {{bits(0.1), bits(0.2), 0, bits(0.1 + 0.2)}});
  runCases("fma.rn.f64 %dd, %da, %db, %dc;", 'e', {{bits(3), bits(4), bits(5), bits(17)}});
  runCases("div.rn.f64 %dd, %da, %db;", 'e', {{bits(1), bits(3), 0, bits(1.0 / 3.0)}});
  runCases("min.f64 %dd, %da, %db;", 'e', {{bits(-0.0), bits(0.0), 0, bits(-0.0)}});
}

} // namespace
} // namespace fp8jit::emulator::testing
