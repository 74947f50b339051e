// Generated quantization kernels on the emulated device equal the scalar policy: codes, scales,
// amax.
#include "generator/config.h"
#include "tests/generator/emulated_gpu.h"
#include "tests/generator/sample_problems.h"
#include "tests/support/matchers.h"
#include "tests/support/quant_model.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

namespace fp8jit::testing {

namespace {

struct RunOptions {
  std::size_t shift = 0;   ///< elements by which x and q miss their alignment
  std::string config = {}; ///< empty: the default
  bool hasAmax = true;
};

class QuantBitsTest : public ::testing::Test {
protected:
  static void SetUpTestSuite() { gpu_ = new EmulatedGpu; }
  static void TearDownTestSuite() {
    delete gpu_;
    gpu_ = nullptr;
  }

  static QuantModelResult run(const QuantProblem &problem, const std::vector<float> &x,
                              const std::vector<float> &given, const RunOptions &options);
  static void expectModelBits(const QuantProblem &problem, const std::vector<float> &x,
                              const std::vector<float> &given = {}, const RunOptions &options = {});

  static inline EmulatedGpu *gpu_ = nullptr;
};

} // namespace

static float bf16(std::uint32_t bits) {
  return std::bit_cast<float>(bits << 16);
}

/// Values of many magnitudes, all exact in BF16; some zeros, NaN and infinities.
static std::vector<float> randomValues(const QuantProblem &problem, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(static_cast<std::size_t>(problem.m * problem.n));
  for (float &value : values) {
    const std::uint32_t kind = random() % 400;
    const std::uint32_t sign = random() % 2 << 15;
    value = bf16(sign | (110 + random() % 24) << 7 | random() % 128);
    if (kind == 0) {
      value = bf16(sign | 0x7FC0);
    } else if (kind == 1 && problem.sc == ScaleSource::Given) {
      value = bf16(sign | 0x7F80);
    } else if (kind < 12) {
      value = bf16(sign);
    }
  }
  return values;
}

static GuardedBuffer uploadX(EmulatedGpu &gpu, const QuantProblem &problem,
                             const std::vector<float> &x, std::size_t shift) {
  if (problem.x == Format::F32) {
    return gpu.upload(x, shift * 4);
  }
  std::vector<std::uint16_t> halves(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    halves[i] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x[i]) >> 16);
  }
  return gpu.upload(halves, shift * 2);
}

QuantModelResult QuantBitsTest::run(const QuantProblem &problem, const std::vector<float> &x,
                                    const std::vector<float> &given, const RunOptions &options) {
  Result<Kernel> kernel = gpu_->engine().prepare(problem, options.config);
  EXPECT_OK(kernel);
  const std::size_t units = modelQuantize(problem, x, given).amax.size();
  const GuardedBuffer input = uploadX(*gpu_, problem, x, options.shift);
  const GuardedBuffer q = gpu_->output(x.size(), options.shift);
  const GuardedBuffer s = given.empty() ? gpu_->output(units * 4) : gpu_->upload(given);
  const GuardedBuffer amax = gpu_->output(units * 4);
  const QuantBuffers buffers = {.x = input.data(),
                                .q = q.data(),
                                .s = s.data(),
                                .amax =
                                    options.hasAmax ? static_cast<float *>(amax.data()) : nullptr};
  // Only Engine::quantize chooses the kernel by the alignment of the buffers.
  EXPECT_OK(options.shift == 0 ? kernel->launch(buffers)
                               : gpu_->engine().quantize(problem, buffers));
  EXPECT_OK(gpu_->device().synchronize());
  static_cast<void>(input.read()); // checks the canaries
  return {
      .codes = q.read(), .scales = valuesOf<float>(s.read()), .amax = valuesOf<float>(amax.read())};
}

static std::vector<std::uint32_t> bitsOf(const std::vector<float> &values) {
  std::vector<std::uint32_t> bits(values.size());
  std::transform(values.begin(), values.end(), bits.begin(),
                 [](float value) { return std::bit_cast<std::uint32_t>(value); });
  return bits;
}

void QuantBitsTest::expectModelBits(const QuantProblem &problem, const std::vector<float> &x,
                                    const std::vector<float> &given, const RunOptions &options) {
  SCOPED_TRACE(printProblem(problem) + ", " + options.config);
  const QuantModelResult model = modelQuantize(problem, x, given);

  const QuantModelResult found = run(problem, x, given, options);

  EXPECT_EQ(bitsOf(found.scales), bitsOf(model.scales));
  if (options.hasAmax) {
    EXPECT_EQ(bitsOf(found.amax), bitsOf(model.amax));
  }
  ASSERT_EQ(found.codes.size(), model.codes.size());
  for (std::size_t i = 0; i < model.codes.size(); ++i) {
    ASSERT_EQ(found.codes[i], model.codes[i]) << "element " << i << ", x = " << x[i];
  }
}

static std::vector<float> givenScales(const QuantProblem &problem, const std::vector<float> &x) {
  std::vector<float> scales = modelQuantize(problem, x).scales;
  for (float &scale : scales) {
    scale *= 0.7F; // stale: some codes saturate
  }
  return scales;
}

TEST_F(QuantBitsTest, RandomUnitsEqualThePolicy) {
  const struct {
    std::int64_t m, n;
  } shapes[] = {{1, 1}, {7, 17}, {3, 128}, {130, 129}, {65, 300}, {2, 2560}};
  unsigned seed = 1;
  for (const char *unit : {"tensor", "row", "1x128", "128x128"}) {
    for (const char *source : {"amax", "given"}) {
      for (const char *format : {"bf16", "f32"}) {
        for (const auto &shape : shapes) {
          auto problem = std::get<QuantProblem>(
              problemOf(std::string("quant m=1 n=1 x=") + format + " s=" + unit + " sc=" + source));
          problem.m = shape.m, problem.n = shape.n;
          const std::vector<float> x = randomValues(problem, seed++);
          const bool isGiven = problem.sc == ScaleSource::Given;

          expectModelBits(problem, x, isGiven ? givenScales(problem, x) : std::vector<float>{});
        }
      }
    }
  }
}

TEST_F(QuantBitsTest, EveryOfferedConfigGivesTheSameBits) {
  for (const char *line :
       {"quant m=70 n=384 x=bf16 s=tensor", "quant m=70 n=384 x=f32 s=row",
        "quant m=70 n=388 x=bf16 s=1x128", "quant m=140 n=390 x=bf16 s=128x128"}) {
    const auto problem = std::get<QuantProblem>(problemOf(line));
    const std::vector<float> x = randomValues(problem, 77);
    for (const Config &config : candidateConfigs(problem, adaProfile())) {
      expectModelBits(problem, x, {}, {.config = printConfig(config)});
    }
  }
}

TEST_F(QuantBitsTest, BuffersOffTheirAlignmentAreServed) {
  for (const char *line : {"quant m=9 n=256 x=bf16 s=tensor", "quant m=9 n=256 x=f32 s=row",
                           "quant m=9 n=256 x=bf16 s=1x128", "quant m=9 n=256 x=f32 s=128x128"}) {
    const auto problem = std::get<QuantProblem>(problemOf(line));

    expectModelBits(problem, randomValues(problem, 5), {}, {.shift = 1});
  }
}

TEST_F(QuantBitsTest, AmaxIsOptional) {
  for (const char *line : {"quant m=9 n=256 s=tensor", "quant m=9 n=256 s=tensor sc=given",
                           "quant m=9 n=256 s=row", "quant m=9 n=256 s=128x128"}) {
    const auto problem = std::get<QuantProblem>(problemOf(line));
    const std::vector<float> x = randomValues(problem, 5);
    const bool isGiven = problem.sc == ScaleSource::Given;

    expectModelBits(problem, x, isGiven ? givenScales(problem, x) : std::vector<float>{},
                    {.hasAmax = false});
  }
}

TEST_F(QuantBitsTest, EdgesOfTheScaleRuleEqualThePolicy) {
  auto problem = std::get<QuantProblem>(problemOf("quant m=13 n=2 x=f32 s=row"));
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {0.0F,    -0.0F,    nan,   nan,       -nan,   3.0F,      inf,
                                2.0F,    -inf,     nan,   0x1p-149F, 0.0F,   0x1p-126F, 1e-38F,
                                3.4e38F, 1.0F,     1.75F, 1.0F,      448.0F, 449.0F,    464.0F,
                                0x1p-9F, 0x1p-10F, 1.0F,  57344.0F,  1e-30F};

  expectModelBits(problem, x);
}

// The amax of BF16 is taken of two elements at once.
TEST_F(QuantBitsTest, SpecialValuesInEitherHalfOfABf16WordEqualThePolicy) {
  const auto problem = std::get<QuantProblem>(problemOf("quant m=8 n=2 x=bf16 s=row"));
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {nan, -3.0F, -3.0F, -nan, nan,       -nan,  -0.0F,      0.0F,
                                inf, nan,   -2.0F, -inf, 0x1p-133F, -0.0F, -0x1p-120F, nan};

  expectModelBits(problem, x);
}

TEST_F(QuantBitsTest, GivenScalesAreUsedAsTheyAre) {
  const auto problem = std::get<QuantProblem>(problemOf("quant m=4 n=4 x=f32 s=row sc=given"));
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {1.0F, -2.0F, 0.0F, nan,  1.0F, -2.0F, 0.0F, inf,
                                1.0F, -2.0F, 0.0F, 3.0F, 1.0F, -2.0F, 0.0F, 3.0F};

  expectModelBits(problem, x, {0.0F, nan, inf, -0.5F});
}

// sc=given with D = 1 is the bare conversion.
TEST_F(QuantBitsTest, AllFiniteBf16ValuesGiveTheToolkitsCodes) {
  const auto problem =
      std::get<QuantProblem>(problemOf("quant m=255 n=256 x=bf16 s=tensor sc=given"));
  std::vector<float> x;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    if ((bits & 0x7F80) != 0x7F80) {
      x.push_back(bf16(bits));
    }
  }
  ASSERT_EQ(x.size(), 65280U);

  const QuantModelResult found = run(problem, x, {1.0F}, {});

  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(found.codes[i], modelE4M3(x[i])) << x[i];
  }
}

} // namespace fp8jit::testing
