// cvt against the CUDA toolkit's own host conversions (its headers compiled by the host compiler)
// and against values worked out from the PTX ISA.
#include "tests/emulator/exec/lane_program.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <bit>
#include <cmath>

namespace fp8jit::emulator::testing {
namespace {

float floatOf(std::uint64_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

/// Every bf16 value, and both neighbours of every tie between two codes of `format`.
std::vector<std::uint32_t> interestingFloats(__nv_fp8_interpretation_t format) {
  std::vector<std::uint32_t> bits;
  for (std::uint32_t high = 0; high < 0x10000; ++high) {
    bits.push_back(high << 16);
  }
  for (unsigned code = 0; code < 0x7f; ++code) {
    const auto valueOf = [format](unsigned c) {
      const __half_raw raw = __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(c), format);
      return __half2float(__half(raw));
    };
    const float tie = (valueOf(code) + valueOf(code + 1)) / 2;
    for (const float value : {tie, std::nextafterf(tie, 0), std::nextafterf(tie, 1e9F)}) {
      bits.push_back(std::bit_cast<std::uint32_t>(value));
      bits.push_back(std::bit_cast<std::uint32_t>(-value));
    }
  }
  return bits;
}

/// Runs `line` on all of `bits` in batches of a block and hands each result to `expectedOf`.
template <typename Expected>
void compareAll(const std::string &line, char result, const std::vector<std::uint32_t> &bits,
                Expected expectedOf) {
  unsigned wrong = 0;
  for (std::size_t begin = 0; begin < bits.size(); begin += 1024) {
    std::vector<LaneCase> cases;
    for (std::size_t i = begin; i < std::min(begin + 1024, bits.size()); ++i) {
      // The second operand is another value of the table, so that both halves are seen to differ.
      cases.push_back({.a = bits[i], .b = bits[(i * 7 + 3) % bits.size()]});
    }
    const std::vector<std::uint64_t> values = runLine(line, result, cases);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const std::uint64_t expected = expectedOf(cases[i]);
      if (values[i] != expected && ++wrong < 10) {
        ADD_FAILURE() << line << std::hex << " a=0x" << cases[i].a << " b=0x" << cases[i].b
                      << " gave 0x" << values[i] << ", expected 0x" << expected;
      }
    }
  }
  EXPECT_EQ(wrong, 0U) << line;
}

void compareFp8(const std::string &name, __nv_fp8_interpretation_t format) {
  const auto code = [format](std::uint64_t bits) -> std::uint64_t {
    return __nv_cvt_float_to_fp8(floatOf(bits), __NV_SATFINITE, format);
  };
  compareAll("cvt.rn.satfinite." + name + ".f32 %hd, %fa, %fb;", 'h', interestingFloats(format),
             [&code](const LaneCase &one) { return code(one.a) << 8 | code(one.b); });
}

TEST(ConvertTest, E4m3EqualsTheToolkit) {
  compareFp8("e4m3x2", __NV_E4M3);
}

TEST(ConvertTest, E5m2EqualsTheToolkit) {
  compareFp8("e5m2x2", __NV_E5M2);
}

TEST(ConvertTest, Fp8WidensExactly) {
  for (const auto &[name, format] :
       {std::pair{"e4m3x2", __NV_E4M3}, std::pair{"e5m2x2", __NV_E5M2}}) {
    std::vector<std::uint32_t> codes;
    for (std::uint32_t code = 0; code < 256; ++code) {
      codes.push_back(code << 8 | (255 - code));
    }
    const auto half = [format = format](std::uint64_t code) -> std::uint64_t {
      const auto raw =
          __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(code & 0xff), format);
      return (raw.x & 0x7fffU) > 0x7c00U ? 0x7fffU : raw.x;
    };
    compareAll(std::string("cvt.rn.f16x2.") + name + " %d, %ha;", 'd', codes,
               [&half](const LaneCase &one) { return half(one.a >> 8) << 16 | half(one.a); });
  }
}

TEST(ConvertTest, HalvesEqualTheToolkit) {
  const std::vector<std::uint32_t> bits = interestingFloats(__NV_E5M2);
  const auto half = [](std::uint64_t value) -> std::uint64_t {
    return __half_as_ushort(__float2half_rn(floatOf(value)));
  };
  const auto bfloat = [](std::uint64_t value) -> std::uint64_t {
    return __bfloat16_as_ushort(__float2bfloat16_rn(floatOf(value)));
  };
  compareAll("cvt.rn.f16.f32 %hd, %fa;", 'h', bits,
             [&half](const LaneCase &one) { return half(one.a); });
  compareAll("cvt.rn.bf16.f32 %hd, %fa;", 'h', bits,
             [&bfloat](const LaneCase &one) { return bfloat(one.a); });
  compareAll("cvt.rn.bf16x2.f32 %d, %fa, %fb;", 'd', bits,
             [&bfloat](const LaneCase &one) { return bfloat(one.a) << 16 | bfloat(one.b); });
  compareAll("cvt.rn.f16x2.f32 %d, %fa, %fb;", 'd', bits,
             [&half](const LaneCase &one) { return half(one.a) << 16 | half(one.b); });
  compareAll("cvt.rz.f16.f32 %hd, %fa;", 'h', bits, [](const LaneCase &one) -> std::uint64_t {
    return __half_as_ushort(__float2half_rz(floatOf(one.a)));
  });
  compareAll("cvt.rp.f16.f32 %hd, %fa;", 'h', bits, [](const LaneCase &one) -> std::uint64_t {
    return __half_as_ushort(__float2half_ru(floatOf(one.a)));
  });
}

TEST(ConvertTest, NarrowHalvesWiden) {
  std::vector<std::uint32_t> bits;
  for (std::uint32_t half = 0; half < 0x10000; ++half) {
    bits.push_back(half);
  }
  compareAll("cvt.f32.f16 %fd, %ha;", 'f', bits, [](const LaneCase &one) -> std::uint64_t {
    const float value = __half2float(__ushort_as_half(static_cast<unsigned short>(one.a)));
    return std::isnan(value) ? 0x7fffffffU : std::bit_cast<std::uint32_t>(value);
  });
}

TEST(ConvertTest, FloatToIntegerRoundsAndClamps) {
  constexpr std::uint64_t kNan = 0x7fc00000, kInf = 0x7f800000, kMinusInf = 0xff800000;
  runCases("cvt.rni.s32.f32 %d, %fa;", 'd',
           {{0x40200000, 0, 0, 2}, {0x40600000, 0, 0, 4}, {0xc0200000, 0, 0, 0xfffffffe}});
  runCases("cvt.rzi.s32.f32 %d, %fa;", 'd',
           {{0xc0266666, 0, 0, 0xfffffffe},
            {kNan, 0, 0, 0},
            {kInf, 0, 0, 0x7fffffff},
            {kMinusInf, 0, 0, 0x80000000}});
  runCases("cvt.rzi.u32.f32 %d, %fa;", 'd', {{0xbf800000, 0, 0, 0}, {kInf, 0, 0, 0xffffffff}});
  runCases("cvt.rmi.s32.f32 %d, %fa;", 'd', {{0xc0266666, 0, 0, 0xfffffffd}});
  runCases("cvt.rpi.s32.f32 %d, %fa;", 'd', {{0x40266666, 0, 0, 3}});
  runCases("cvt.rzi.s64.f32 %xd, %fa;", 'x',
           {{kNan, 0, 0, std::uint64_t{1} << 63}, {kInf, 0, 0, ~std::uint64_t{0} >> 1}});
  runCases("cvt.rzi.u8.f32 %d, %fa;", 'd', {{0x44000000, 0, 0, 255}});
  runCases("cvt.rni.f32.f32 %fd, %fa;", 'f', {{0x40200000, 0, 0, 0x40000000}});
  runCases("cvt.sat.f32.f32 %fd, %fa;", 'f', {{0x40200000, 0, 0, 0x3f800000}, {kNan, 0, 0, 0}});
}

TEST(ConvertTest, IntegerToFloatRounds) {
  runCases("cvt.rn.f32.u32 %fd, %a;", 'f',
           {{0xffffffff, 0, 0, 0x4f800000}, {0x1000001, 0, 0, 0x4b800000}});
  runCases("cvt.rz.f32.u32 %fd, %a;", 'f', {{0xffffffff, 0, 0, 0x4f7fffff}});
  runCases("cvt.rn.f32.s32 %fd, %a;", 'f', {{0xffffffff, 0, 0, 0xbf800000}});
  runCases("cvt.rn.f32.u64 %fd, %xa;", 'f', {{~std::uint64_t{0}, 0, 0, 0x5f800000}});
  runCases("cvt.rn.f64.s32 %dd, %a;", 'e',
           {{0xffffffff, 0, 0, std::bit_cast<std::uint64_t>(-1.0)}});
  runCases("cvt.rn.f16.s32 %hd, %a;", 'h', {{2049, 0, 0, 0x6800}, {70000, 0, 0, 0x7c00}});
  runCases("cvt.f64.f32 %dd, %fa;", 'e', {{0x40200000, 0, 0, std::bit_cast<std::uint64_t>(2.5)}});
  runCases("cvt.rn.f32.f64 %fd, %da;", 'f',
           {{std::bit_cast<std::uint64_t>(1.0 / 3.0), 0, 0, 0x3eaaaaab}});
}

TEST(ConvertTest, IntegersExtendWrapAndSaturate) {
  runCases("cvt.s64.s32 %xd, %a;", 'x', {{0x80000000, 0, 0, 0xffffffff80000000}});
  runCases("cvt.u64.u32 %xd, %a;", 'x', {{0x80000000, 0, 0, 0x80000000}});
  runCases("cvt.s32.s8 %d, %a;", 'd', {{0x1ff, 0, 0, 0xffffffff}, {0x7f, 0, 0, 0x7f}});
  runCases("cvt.u32.u16 %d, %ha;", 'd', {{0xffff, 0, 0, 0xffff}});
  runCases("cvt.s32.s16 %d, %ha;", 'd', {{0xffff, 0, 0, 0xffffffff}});
  runCases("cvt.sat.s8.s32 %d, %a;", 'd', {{1000, 0, 0, 127}, {0xfffff000, 0, 0, 0xffffff80}});
  runCases("cvt.sat.u8.s32 %d, %a;", 'd', {{1000, 0, 0, 255}, {0xffffffff, 0, 0, 0}});
  runCases("cvt.sat.s32.u64 %d, %xa;", 'd', {{~std::uint64_t{0}, 0, 0, 0x7fffffff}});
  runCases("cvt.u32.u64 %d, %xa;", 'd', {{0x1234567890, 0, 0, 0x34567890}});
}

} // namespace
} // namespace fp8jit::emulator::testing
