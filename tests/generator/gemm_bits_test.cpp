// Generated GEMM kernels on the emulated device equal the scalar model bit for bit, and touch
// nothing but D. Every case names its problem and configuration.
#include "generator/config.h"
#include "tests/generator/emulated_gpu.h"
#include "tests/generator/sample_problems.h"
#include "tests/support/matchers.h"
#include "tests/support/sm89_gemm_model.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <random>

namespace fp8jit::testing {

namespace {

struct GemmOperands {
  std::vector<std::uint8_t> a, b;
  std::vector<float> sa, sb;
};

struct RunOptions {
  float alpha = 1.0F;
  std::size_t shift = 0;   ///< bytes by which a, b and d miss their alignment
  std::string config = {}; ///< empty: the default
};

class GemmBitsTest : public ::testing::Test {
protected:
  static void SetUpTestSuite() { gpu_ = new EmulatedGpu; }
  static void TearDownTestSuite() {
    delete gpu_;
    gpu_ = nullptr;
  }

  /// D as bit patterns of its element, widened to 32 bits.
  static std::vector<std::uint32_t> run(const GemmProblem &problem, const GemmOperands &operands,
                                        const RunOptions &options);
  static void expectModelBits(const GemmProblem &problem, const GemmOperands &operands,
                              const RunOptions &options = {});

  static inline EmulatedGpu *gpu_ = nullptr;
};

} // namespace

static std::size_t countOf(std::int64_t rows, std::int64_t columns) {
  return static_cast<std::size_t>(rows * columns);
}

/// Any finite code; scales around 1 of either sign.
static GemmOperands randomOperands(const GemmProblem &p, unsigned seed) {
  std::mt19937 random(seed);
  const auto code = [&] {
    std::uint32_t byte = random() & 0xFF;
    while ((byte & 0x7F) == 0x7F) {
      byte = random() & 0xFF;
    }
    return static_cast<std::uint8_t>(byte);
  };
  const auto scale = [&] {
    const float magnitude = 0.5F + static_cast<float>(random() % 1000) / 977.0F;
    return random() % 8 == 0 ? -magnitude : magnitude;
  };
  const std::int64_t blocksK = (p.k + 127) / 128;
  const bool isTensor = p.sa == ScaleUnit::Tensor;
  const bool isRow = p.sa == ScaleUnit::Row;
  GemmOperands operands;
  operands.a.resize(countOf(p.m, p.k));
  operands.b.resize(countOf(p.n, p.k));
  operands.sa.resize(isTensor ? 1 : countOf(p.m, isRow ? 1 : blocksK));
  operands.sb.resize(isTensor ? 1 : isRow ? countOf(p.n, 1) : countOf((p.n + 127) / 128, blocksK));
  std::generate(operands.a.begin(), operands.a.end(), code);
  std::generate(operands.b.begin(), operands.b.end(), code);
  std::generate(operands.sa.begin(), operands.sa.end(), scale);
  std::generate(operands.sb.begin(), operands.sb.end(), scale);
  return operands;
}

std::vector<std::uint32_t> GemmBitsTest::run(const GemmProblem &problem,
                                             const GemmOperands &operands,
                                             const RunOptions &options) {
  Result<Kernel> kernel = gpu_->engine().prepare(problem, options.config);
  EXPECT_OK(kernel);
  const std::size_t elementBytes = problem.d == Format::F32 ? 4 : 2;
  const GuardedBuffer a = gpu_->upload(operands.a, options.shift);
  const GuardedBuffer b = gpu_->upload(operands.b, options.shift);
  const GuardedBuffer sa = gpu_->upload(operands.sa);
  const GuardedBuffer sb = gpu_->upload(operands.sb);
  const GuardedBuffer d =
      gpu_->output(countOf(problem.m, problem.n) * elementBytes, options.shift * elementBytes);
  const GemmBuffers buffers = {.a = a.data(),
                               .b = b.data(),
                               .sa = sa.data(),
                               .sb = sb.data(),
                               .d = d.data(),
                               .alpha = options.alpha};
  // Only Engine::gemm chooses the kernel by the alignment of the buffers.
  EXPECT_OK(options.shift == 0 ? kernel->launch(buffers) : gpu_->engine().gemm(problem, buffers));
  EXPECT_OK(gpu_->device().synchronize());
  for (const GuardedBuffer *input : {&a, &b, &sa, &sb}) {
    static_cast<void>(input->read()); // checks the canaries
  }
  if (problem.d == Format::F32) {
    return valuesOf<std::uint32_t>(d.read());
  }
  const std::vector<std::uint16_t> halves = valuesOf<std::uint16_t>(d.read());
  return {halves.begin(), halves.end()};
}

void GemmBitsTest::expectModelBits(const GemmProblem &problem, const GemmOperands &operands,
                                   const RunOptions &options) {
  SCOPED_TRACE(printProblem(problem) + ", " + options.config);
  const std::vector<float> model = modelGemm({.problem = problem,
                                              .a = operands.a,
                                              .b = operands.b,
                                              .sa = operands.sa,
                                              .sb = operands.sb,
                                              .alpha = options.alpha});

  const std::vector<std::uint32_t> d = run(problem, operands, options);

  ASSERT_EQ(d.size(), model.size());
  std::size_t mismatches = 0;
  std::size_t first = 0;
  for (std::size_t i = d.size(); i-- > 0;) {
    const bool isF32 = problem.d == Format::F32;
    const bool isBothNan = std::isnan(model[i]) && (isF32 ? std::isnan(std::bit_cast<float>(d[i]))
                                                          : (d[i] & 0x7FFF) > 0x7F80);
    const std::uint32_t expected =
        isF32 ? std::bit_cast<std::uint32_t>(model[i]) : modelBf16(model[i]);
    if (!isBothNan && d[i] != expected) {
      ++mismatches;
      first = i;
    }
  }
  EXPECT_EQ(mismatches, 0U) << "first at row " << first / static_cast<std::size_t>(problem.n)
                            << ", column " << first % static_cast<std::size_t>(problem.n)
                            << std::hex << ": found " << d[first] << ", expected bits of "
                            << model[first];
}

// Every size around a tile edge in every place, each scale pair, both outputs: 42 kernels.
TEST_F(GemmBitsTest, DefaultKernelsEqualTheModel) {
  constexpr std::array<std::int64_t, 14> kSizes = {1,  2,   7,   16,  17,  63,  64,
                                                   65, 127, 128, 129, 255, 300, 384};
  unsigned seed = 1;
  for (std::size_t i = 0; i < kSizes.size(); ++i) {
    for (const char *scales : {"", " sa=row sb=row", " sa=1x128 sb=128x128"}) {
      const char *output = seed % 2 == 0 ? " d=bf16" : " d=f32";
      auto problem =
          std::get<GemmProblem>(problemOf(std::string("gemm m=1 n=1 k=1") + output + scales));
      problem.m = kSizes[i];
      problem.n = kSizes[(5 * i + 3) % kSizes.size()]; // 3 and 5 share no factor with 14
      problem.k = kSizes[(3 * i + 1) % kSizes.size()];

      expectModelBits(problem, randomOperands(problem, seed++), {.alpha = 0.75F});
    }
  }
}

TEST_F(GemmBitsTest, LargerKernelsEqualTheModel) {
  unsigned seed = 100;
  for (const char *line :
       {"gemm m=128 n=255 k=300 sa=1x128 sb=128x128", "gemm m=255 n=129 k=384 sa=row sb=row",
        "gemm m=300 n=384 k=255 d=f32", "gemm m=129 n=300 k=384 d=f32 sa=1x128 sb=128x128"}) {
    const auto problem = std::get<GemmProblem>(problemOf(line));

    expectModelBits(problem, randomOperands(problem, seed++));
  }
}

TEST_F(GemmBitsTest, EveryOfferedConfigGivesTheSameBits) {
  const auto problem =
      std::get<GemmProblem>(problemOf("gemm m=130 n=140 k=272 d=f32 sa=1x128 sb=128x128"));
  const GemmOperands operands = randomOperands(problem, 7);
  for (const Config &config : candidateConfigs(problem, adaProfile())) {
    expectModelBits(problem, operands, {.config = printConfig(config)});
  }
  expectModelBits(problem, operands, {.config = "mma tile=128x64x64 warps=2x2 stages=3 group=2"});
}

TEST_F(GemmBitsTest, BuffersOffTheirAlignmentAreServed) {
  for (const char *line :
       {"gemm m=33 n=66 k=144 sa=1x128 sb=128x128", "gemm m=33 n=66 k=144 d=f32"}) {
    const auto problem = std::get<GemmProblem>(problemOf(line));

    expectModelBits(problem, randomOperands(problem, 9), {.shift = 1});
  }
}

TEST_F(GemmBitsTest, NanCodesReachTheirRowsAndColumnsOnly) {
  const auto problem = std::get<GemmProblem>(problemOf("gemm m=20 n=24 k=160 d=bf16"));
  GemmOperands operands = randomOperands(problem, 11);
  operands.a[3 * 160 + 150] = 0x7F;
  operands.b[5 * 160 + 1] = 0xFF;

  expectModelBits(problem, operands);
}

TEST_F(GemmBitsTest, WithoutKTheProductIsZeroWhateverTheScales) {
  const auto problem = std::get<GemmProblem>(problemOf("gemm m=20 n=24 k=0 d=f32 sa=row sb=row"));
  GemmOperands operands = randomOperands(problem, 13);
  operands.sa[0] = std::numeric_limits<float>::infinity();

  expectModelBits(problem, operands);
}

} // namespace fp8jit::testing
