// GEMMs through Engine on the emulator: exact results for small integers at every edge size, and
// canaries around every buffer.
#include "fp8jit/engine.h"
#include "generator/scale_shape.h"
#include "runtime/engine_internals.h"
#include "support/float_formats.h"
#include "tests/runtime/emulator_sizes.h"
#include "tests/runtime/guarded_buffer.h"
#include "tests/support/matchers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <tuple>

namespace fp8jit {

using testing::GuardedBuffer;
using testing::Sizes;

namespace {

/// Operands with integer values of at most 4 and power-of-two scales that do not vary along k, so
/// that every sum is exact whatever its order.
struct ExactOperands {
  std::vector<std::uint8_t> a, b;
  std::vector<float> sa, sb;
};

} // namespace

static Engine openEmulator() {
  Result<Engine> engine = Engine::open({.device = "emulator:sm_89", .cacheDirectory = "none"});
  EXPECT_OK(engine);
  return std::move(engine.value());
}

static std::vector<std::uint8_t> integerCodes(std::int64_t count, std::mt19937 &random) {
  std::uniform_int_distribution<int> value(-4, 4);
  std::vector<std::uint8_t> codes(static_cast<std::size_t>(count));
  for (std::uint8_t &code : codes) {
    code = encodeE4m3(static_cast<float>(value(random)));
  }
  return codes;
}

/// Scales of one operand: rows of the array differ, places along k do not.
static std::vector<float> rowScales(const ScaleShape &shape, std::mt19937 &random) {
  std::uniform_int_distribution<int> exponent(-3, 3);
  const std::int64_t columns = shape.dims.size() > 1 ? shape.dims[1] : 1;
  std::vector<float> scales;
  for (std::int64_t row = 0; row < shape.dims[0]; ++row) {
    scales.insert(scales.end(), static_cast<std::size_t>(columns),
                  std::ldexp(1.0F, exponent(random)));
  }
  return scales;
}

static ExactOperands makeOperands(const GemmProblem &problem) {
  std::mt19937 random(static_cast<unsigned>(problem.m * 7919 + problem.n * 104729 + problem.k));
  ExactOperands operands;
  operands.a = integerCodes(problem.m * problem.k, random);
  operands.b = integerCodes(problem.n * problem.k, random);
  operands.sa = rowScales(scaleShapeA(problem), random);
  operands.sb = rowScales(scaleShapeB(problem), random);
  return operands;
}

/// The scale of row `r` at k = 0, which is the scale of the whole row here.
static double scaleOfRow(const std::vector<float> &scales, ScaleUnit unit, std::int64_t r,
                         std::int64_t k) {
  const std::int64_t blocksK = (k + 127) / 128;
  switch (unit) {
  case ScaleUnit::Tensor:
    return scales[0];
  case ScaleUnit::Row:
    return scales[static_cast<std::size_t>(r)];
  case ScaleUnit::Block1x128:
    return k == 0 ? 0 : scales[static_cast<std::size_t>(r * blocksK)];
  case ScaleUnit::Block128x128:
    return k == 0 ? 0 : scales[static_cast<std::size_t>(r / 128 * blocksK)];
  case ScaleUnit::Block1x32:
    break;
  }
  return 0;
}

/// What D must be, in float64, then rounded once to the output format and widened again.
static std::vector<float> expectedD(const GemmProblem &problem, const ExactOperands &operands,
                                    float alpha) {
  std::vector<float> expected;
  for (std::int64_t i = 0; i < problem.m; ++i) {
    for (std::int64_t j = 0; j < problem.n; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < problem.k; ++k) {
        sum += static_cast<double>(
                   decodeE4m3(operands.a[static_cast<std::size_t>(i * problem.k + k)])) *
               decodeE4m3(operands.b[static_cast<std::size_t>(j * problem.k + k)]);
      }
      const auto exact = static_cast<float>(
          sum * scaleOfRow(operands.sa, problem.sa, i, problem.k) *
          scaleOfRow(operands.sb, problem.sb, j, problem.k) * static_cast<double>(alpha));
      expected.push_back(problem.d == Format::BF16 ? decodeBf16(encodeBf16(exact)) : exact);
    }
  }
  return expected;
}

static std::vector<float> readD(const GuardedBuffer &d, Format format) {
  if (format == Format::F32) {
    return d.read<float>("d");
  }
  std::vector<float> values;
  for (const std::uint16_t bits : d.read<std::uint16_t>("d")) {
    values.push_back(decodeBf16(bits));
  }
  return values;
}

/// One GEMM with canaries; `shift` moves a, b and d off the 16-byte grid by whole elements.
static void checkGemm(Engine &engine, const GemmProblem &problem, std::size_t shift = 0) {
  SCOPED_TRACE(problemText(problem));
  Device &device = engine.internals().device();
  const ExactOperands operands = makeOperands(problem);
  const std::size_t elementD = problem.d == Format::F32 ? 4 : 2;
  const auto countD = static_cast<std::size_t>(problem.m * problem.n);
  const GuardedBuffer a = GuardedBuffer::of(device, operands.a, shift);
  const GuardedBuffer b = GuardedBuffer::of(device, operands.b, shift);
  const GuardedBuffer sa = GuardedBuffer::of(device, operands.sa);
  const GuardedBuffer sb = GuardedBuffer::of(device, operands.sb);
  const GuardedBuffer d = GuardedBuffer::output(device, countD * elementD, shift * elementD);
  const float alpha = 0.5F;

  ASSERT_OK(engine.gemm(problem, {.a = a.data(),
                                  .b = b.data(),
                                  .sa = sa.data(),
                                  .sb = sb.data(),
                                  .d = d.data(),
                                  .alpha = alpha}));
  ASSERT_OK(device.synchronize());

  EXPECT_EQ(readD(d, problem.d), expectedD(problem, operands, alpha));
  a.expectUntouched("a");
  b.expectUntouched("b");
  sa.expectUntouched("sa");
  sb.expectUntouched("sb");
}

static GemmProblem problemOf(const Sizes &sizes, ScaleUnit sa, ScaleUnit sb, Format d) {
  GemmProblem problem;
  problem.m = sizes.m;
  problem.n = sizes.n;
  problem.k = sizes.k;
  problem.sa = sa;
  problem.sb = sb;
  problem.d = d;
  return problem;
}

/// Scale mode of A and B, and output format.
class EngineGemmEmuTest
    : public ::testing::TestWithParam<std::tuple<std::pair<ScaleUnit, ScaleUnit>, Format>> {};

TEST_P(EngineGemmEmuTest, IsExactAndKeepsCanariesAtEveryEdgeSize) {
  const auto [units, d] = GetParam();
  Engine engine = openEmulator();

  for (const Sizes &sizes : testing::sizeCombinations(0)) {
    checkGemm(engine, problemOf(sizes, units.first, units.second, d));
  }
}

static std::string
caseName(const ::testing::TestParamInfo<EngineGemmEmuTest::ParamType> &parameters) {
  const auto &[units, d] = parameters.param;
  const char *unit = units.first == ScaleUnit::Tensor ? "Tensor"
                     : units.first == ScaleUnit::Row  ? "Row"
                                                      : "Block";
  return std::string(unit) + (d == Format::BF16 ? "Bf16" : "F32");
}

INSTANTIATE_TEST_SUITE_P(
    AllModes, EngineGemmEmuTest,
    ::testing::Combine(::testing::Values(std::pair{ScaleUnit::Tensor, ScaleUnit::Tensor},
                                         std::pair{ScaleUnit::Row, ScaleUnit::Row},
                                         std::pair{ScaleUnit::Block1x128, ScaleUnit::Block128x128}),
                       ::testing::Values(Format::BF16, Format::F32)),
    caseName);

TEST(EngineGemmEmuTest, UnalignedBuffersGiveTheSameResult) {
  Engine engine = openEmulator();

  for (const std::size_t shift : {1, 4, 8}) {
    checkGemm(
        engine,
        problemOf({33, 48, 128}, ScaleUnit::Block1x128, ScaleUnit::Block128x128, Format::BF16),
        shift);
    checkGemm(engine, problemOf({33, 48, 64}, ScaleUnit::Row, ScaleUnit::Row, Format::F32), shift);
  }
}

TEST(EngineGemmEmuTest, ASumOfNothingIsZero) {
  Engine engine = openEmulator();

  checkGemm(engine, problemOf({5, 9, 0}, ScaleUnit::Tensor, ScaleUnit::Tensor, Format::F32));
  checkGemm(engine,
            problemOf({17, 3, 0}, ScaleUnit::Block1x128, ScaleUnit::Block128x128, Format::BF16));
}

TEST(EngineGemmEmuTest, EveryOfferedConfigurationGivesTheSameBits) {
  Engine engine = openEmulator();
  Device &device = engine.internals().device();
  const GemmProblem problem =
      problemOf({65, 130, 272}, ScaleUnit::Block1x128, ScaleUnit::Block128x128, Format::F32);
  const ExactOperands operands = makeOperands(problem);
  const std::vector<float> expected = expectedD(problem, operands, 1.0F);
  const GuardedBuffer a = GuardedBuffer::of(device, operands.a);
  const GuardedBuffer b = GuardedBuffer::of(device, operands.b);
  const GuardedBuffer sa = GuardedBuffer::of(device, operands.sa);
  const GuardedBuffer sb = GuardedBuffer::of(device, operands.sb);

  for (const Config &config : candidateConfigs(problem, engine.internals().profile())) {
    SCOPED_TRACE(printConfig(config));
    const GuardedBuffer d = GuardedBuffer::output(device, expected.size() * 4);
    Result<Kernel> kernel = engine.prepare(problem, printConfig(config));
    ASSERT_OK(kernel);
    ASSERT_OK(kernel->launch(
        {.a = a.data(), .b = b.data(), .sa = sa.data(), .sb = sb.data(), .d = d.data()}));
    ASSERT_OK(device.synchronize());

    EXPECT_EQ(readD(d, problem.d), expected);
    EXPECT_EQ(kernel->info().spillBytes, 0);
  }
}

} // namespace fp8jit
