// wgmma computes what the scalar model says, for every layout of its operands and in every
// asynchrony mode.
#include "tests/emulator/exec/wgmma_kernel.h"

#include <gtest/gtest.h>

namespace fp8jit::emulator::testing {
namespace {

constexpr MmaAccumulator kF16 = MmaAccumulator::F16;

constexpr MmaShape fp8Shape(int n, MmaFormat a = MmaFormat::E4M3, MmaFormat b = MmaFormat::E4M3) {
  return {.m = 64, .n = n, .a = a, .b = b};
}

constexpr MmaShape wideShape(int n, int k, MmaFormat format) {
  return {.m = 64, .n = n, .k = k, .a = format, .b = format};
}

constexpr MmaShape withF16(MmaShape shape) {
  shape.accumulator = kF16;
  return shape;
}

const WgmmaCase kCases[] = {
    {.name = "E4m3N8", .shape = fp8Shape(8)},
    {.name = "E4m3N64FourSteps", .shape = fp8Shape(64), .steps = 4},
    {.name = "E4m3N256", .shape = fp8Shape(256), .steps = 2},
    {.name = "E5m2N24", .shape = fp8Shape(24, MmaFormat::E5M2, MmaFormat::E5M2)},
    {.name = "MixedN16", .shape = fp8Shape(16, MmaFormat::E4M3, MmaFormat::E5M2)},
    {.name = "E4m3F16N32", .shape = withF16(fp8Shape(32)), .steps = 2},
    {.name = "Swizzle64", .shape = fp8Shape(16), .swizzle = Swizzle::Bytes64, .steps = 2},
    {.name = "Swizzle32", .shape = fp8Shape(16), .swizzle = Swizzle::Bytes32},
    {.name = "NoSwizzle", .shape = fp8Shape(16), .swizzle = Swizzle::None, .steps = 3},
    {.name = "RegistersA", .shape = fp8Shape(16), .steps = 2, .registersA = true},
    {.name = "NegatedA", .shape = fp8Shape(16), .negateA = true},
    {.name = "NegatedB", .shape = fp8Shape(16), .registersA = true, .negateB = true},
    {.name = "F16N64", .shape = wideShape(64, 16, MmaFormat::F16), .steps = 4},
    {.name = "F16F16N16", .shape = withF16(wideShape(16, 16, MmaFormat::F16)), .steps = 2},
    {.name = "Bf16N128", .shape = wideShape(128, 16, MmaFormat::BF16), .steps = 4},
    {.name = "Bf16RegistersA",
     .shape = wideShape(16, 16, MmaFormat::BF16),
     .steps = 2,
     .registersA = true,
     .negateA = true},
    {.name = "Tf32N32", .shape = wideShape(32, 8, MmaFormat::TF32), .steps = 4},
    {.name = "F16TransposedB",
     .shape = wideShape(64, 16, MmaFormat::F16),
     .steps = 4,
     .transposeB = true},
    {.name = "F16TransposedBoth64",
     .shape = wideShape(32, 16, MmaFormat::F16),
     .swizzle = Swizzle::Bytes64,
     .steps = 2,
     .transposeA = true,
     .transposeB = true},
    {.name = "Bf16TransposedBoth32",
     .shape = wideShape(16, 16, MmaFormat::BF16),
     .swizzle = Swizzle::Bytes32,
     .transposeA = true,
     .transposeB = true},
    {.name = "F16TransposedANoSwizzle",
     .shape = wideShape(16, 16, MmaFormat::F16),
     .swizzle = Swizzle::None,
     .steps = 2,
     .transposeA = true},
    {.name = "Bf16TransposedB256",
     .shape = wideShape(256, 16, MmaFormat::BF16),
     .steps = 2,
     .transposeB = true,
     .registersA = true},
};

class WgmmaFormTest : public ::testing::TestWithParam<WgmmaCase> {};

} // namespace

TEST_P(WgmmaFormTest, EqualsTheScalarModelInEveryMode) {
  const WgmmaCase &c = GetParam();
  const WgmmaOperandCodes codes(c);
  const std::string text = WgmmaKernel(c).text();
  const std::vector<std::uint32_t> expected = expectedAccumulators(c, codes);
  struct Mode {
    AsyncMode mode;
    std::uint64_t seed;
  };
  for (const Mode mode : {Mode{AsyncMode::Eager, 0}, Mode{AsyncMode::Lazy, 0},
                          Mode{AsyncMode::Random, 1}, Mode{AsyncMode::Random, 2}}) {
    LaunchRequest options;
    options.asyncMode = mode.mode;
    options.seed = mode.seed;

    const WgmmaRun run = runWgmma(c, codes, text, options);

    ASSERT_EQ(run.result.fault, Fault::None) << run.result.report;
    ASSERT_EQ(run.accumulators, expected) << "mode " << static_cast<int>(mode.mode);
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, WgmmaFormTest, ::testing::ValuesIn(kCases),
                         [](const auto &test) { return std::string(test.param.name); });

} // namespace fp8jit::emulator::testing
