// Quantizations through Engine on the emulator: the codes and scales of a scalar reference of the
// numeric policy at every edge size, and canaries around every buffer.
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

namespace {

struct QuantResult {
  std::vector<std::uint8_t> q;
  std::vector<float> s, amax;
};

} // namespace

static Engine openEmulator() {
  Result<Engine> engine = Engine::open({.device = "emulator:sm_89", .cacheDirectory = "none"});
  EXPECT_OK(engine);
  return std::move(engine.value());
}

/// Index of the scale unit of element (i, j).
static std::size_t unitOf(const QuantProblem &problem, std::int64_t i, std::int64_t j) {
  const std::int64_t blocksN = (problem.n + 127) / 128;
  switch (problem.s) {
  case ScaleUnit::Tensor:
    return 0;
  case ScaleUnit::Row:
    return static_cast<std::size_t>(i);
  case ScaleUnit::Block1x128:
    return static_cast<std::size_t>(i * blocksN + j / 128);
  case ScaleUnit::Block128x128:
    return static_cast<std::size_t>(i / 128 * blocksN + j / 128);
  case ScaleUnit::Block1x32:
    break;
  }
  return 0;
}

/// The numeric policy of docs/problems.md, one element after the other.
static QuantResult quantizeSlowly(const QuantProblem &problem, const std::vector<float> &x,
                                  const std::vector<float> &given) {
  const auto units = static_cast<std::size_t>(scaleShapeRow(problem).count());
  QuantResult result{.q = std::vector<std::uint8_t>(x.size()),
                     .s = std::vector<float>(units),
                     .amax = std::vector<float>(units, 0.0F)};
  const auto forEach = [&](auto function) {
    for (std::int64_t i = 0; i < problem.m; ++i) {
      for (std::int64_t j = 0; j < problem.n; ++j) {
        function(static_cast<std::size_t>(i * problem.n + j), unitOf(problem, i, j));
      }
    }
  };
  forEach([&](std::size_t at, std::size_t unit) {
    if (!std::isnan(x[at])) {
      result.amax[unit] = std::max(result.amax[unit], std::fabs(x[at]));
    }
  });
  std::vector<float> multipliers(units);
  for (std::size_t unit = 0; unit < units; ++unit) {
    const float amax = result.amax[unit];
    if (problem.sc == ScaleSource::Given) {
      multipliers[unit] = 1.0F / given[unit];
      result.s[unit] = given[unit];
      continue;
    }
    const bool isOrdinary = amax > 0 && std::isfinite(amax);
    const float multiplier =
        isOrdinary ? std::min(kMaxE4m3 / amax, std::numeric_limits<float>::max()) : 1.0F;
    multipliers[unit] = multiplier;
    result.s[unit] = 1.0F / multiplier;
  }
  forEach([&](std::size_t at, std::size_t unit) {
    result.q[at] = encodeE4m3(x[at] * multipliers[unit]);
  });
  return result;
}

/// Values over many magnitudes, with zeros, one NaN and one infinity where there is room.
static std::vector<float> makeX(const QuantProblem &problem) {
  std::mt19937 random(static_cast<unsigned>(problem.m * 7919 + problem.n));
  std::normal_distribution<float> normal;
  std::uniform_int_distribution<int> exponent(-12, 8);
  std::vector<float> x(static_cast<std::size_t>(problem.m * problem.n));
  for (float &value : x) {
    value = std::ldexp(normal(random), exponent(random));
  }
  if (x.size() > 100) {
    x[17] = 0.0F;
    x[18] = -0.0F;
    x[19] = std::numeric_limits<float>::quiet_NaN();
  }
  if (x.size() > 1000) {
    x[x.size() - 3] = -std::numeric_limits<float>::infinity();
  }
  return x;
}

static void checkQuant(Engine &engine, const QuantProblem &problem, std::size_t shift = 0) {
  SCOPED_TRACE(problemText(problem));
  Device &device = engine.internals().device();
  std::vector<float> x = makeX(problem);
  std::vector<std::uint16_t> bf16(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    bf16[i] = encodeBf16(x[i]);
    x[i] = problem.x == Format::BF16 ? decodeBf16(bf16[i]) : x[i];
  }
  const auto units = static_cast<std::size_t>(scaleShapeRow(problem).count());
  std::vector<float> given(units, 0.125F);
  const bool isGiven = problem.sc == ScaleSource::Given;
  const GuardedBuffer deviceX = problem.x == Format::BF16
                                    ? GuardedBuffer::of(device, bf16, shift * 2)
                                    : GuardedBuffer::of(device, x, shift * 4);
  const GuardedBuffer q = GuardedBuffer::output(device, x.size(), shift);
  const GuardedBuffer s =
      isGiven ? GuardedBuffer::of(device, given) : GuardedBuffer::output(device, units * 4);
  const GuardedBuffer amax = GuardedBuffer::output(device, units * 4);

  ASSERT_OK(engine.quantize(problem, {.x = deviceX.data(),
                                      .q = q.data(),
                                      .s = s.data(),
                                      .amax = static_cast<float *>(amax.data())}));
  ASSERT_OK(device.synchronize());

  const QuantResult expected = quantizeSlowly(problem, x, given);
  EXPECT_EQ(q.read<std::uint8_t>("q"), expected.q);
  EXPECT_EQ(s.read<float>("s"), expected.s);
  EXPECT_EQ(amax.read<float>("amax"), expected.amax);
  deviceX.expectUntouched("x");
}

/// Scale unit, input format and source of the scale.
class EngineQuantEmuTest
    : public ::testing::TestWithParam<std::tuple<ScaleUnit, Format, ScaleSource>> {};

TEST_P(EngineQuantEmuTest, FollowsThePolicyAndKeepsCanariesAtEveryEdgeSize) {
  const auto [unit, x, source] = GetParam();
  Engine engine = openEmulator();

  for (const testing::Sizes &sizes : testing::sizeCombinations(1)) {
    QuantProblem problem;
    problem.m = sizes.m;
    problem.n = sizes.n;
    problem.x = x;
    problem.s = unit;
    problem.sc = source;
    checkQuant(engine, problem);
  }
}

static std::string
caseName(const ::testing::TestParamInfo<EngineQuantEmuTest::ParamType> &parameters) {
  static constexpr const char *kUnits[] = {"Tensor", "Row", "Block1x128", "Block128x128"};
  const auto [unit, x, source] = parameters.param;
  return std::string(kUnits[static_cast<int>(unit)]) + (x == Format::BF16 ? "Bf16" : "F32") +
         (source == ScaleSource::Amax ? "Amax" : "Given");
}

INSTANTIATE_TEST_SUITE_P(
    AllModes, EngineQuantEmuTest,
    ::testing::Combine(::testing::Values(ScaleUnit::Tensor, ScaleUnit::Row, ScaleUnit::Block1x128,
                                         ScaleUnit::Block128x128),
                       ::testing::Values(Format::BF16, Format::F32),
                       ::testing::Values(ScaleSource::Amax, ScaleSource::Given)),
    caseName);

TEST(EngineQuantEmuTest, UnalignedBuffersGiveTheSameResult) {
  Engine engine = openEmulator();

  for (const ScaleUnit unit : {ScaleUnit::Tensor, ScaleUnit::Row, ScaleUnit::Block1x128}) {
    QuantProblem problem;
    problem.m = 9;
    problem.n = 256;
    problem.s = unit;
    checkQuant(engine, problem, 1);
    checkQuant(engine, problem, 3);
  }
}

} // namespace fp8jit
