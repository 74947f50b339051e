// Every misuse of the engine is refused before a launch, with code, argument, found and expected,
// and the engine works on afterwards.
#include "fp8jit/engine.h"
#include "tests/runtime/fake_engine.h"
#include "tests/support/matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace fp8jit {

using testing::at;
using testing::FakeDriver;
using testing::FakeEngine;
using testing::gemmBuffers;
using ::testing::HasSubstr;
using testing::quantBuffers;
using testing::smallGemm;
using testing::smallQuant;

namespace {

struct GemmMisuse {
  const char *name;
  std::function<void(GemmProblem &, GemmBuffers &)> spoil;
  ErrorCode code;
  std::vector<std::string> messageParts;
};

struct QuantMisuse {
  const char *name;
  std::function<void(QuantProblem &, QuantBuffers &)> spoil;
  ErrorCode code;
  std::vector<std::string> messageParts;
};

} // namespace

static const std::vector<GemmMisuse> &gemmMisuses() {
  static const std::vector<GemmMisuse> misuses = {
      {"null a",
       [](auto &, auto &b) { b.a = nullptr; },
       ErrorCode::InvalidArgument,
       {"argument a", "null"}},
      {"null b",
       [](auto &, auto &b) { b.b = nullptr; },
       ErrorCode::InvalidArgument,
       {"argument b", "null"}},
      {"null sa",
       [](auto &, auto &b) { b.sa = nullptr; },
       ErrorCode::InvalidArgument,
       {"argument sa", "null", "4 bytes"}},
      {"null sb",
       [](auto &, auto &b) { b.sb = nullptr; },
       ErrorCode::InvalidArgument,
       {"argument sb", "null"}},
      {"null d",
       [](auto &, auto &b) { b.d = nullptr; },
       ErrorCode::InvalidArgument,
       {"argument d", "null"}},
      {"odd d",
       [](auto &, auto &b) { b.d = at(0x50000001); },
       ErrorCode::InvalidArgument,
       {"argument d", "0x50000001", "multiple of 2"}},
      {"odd f32 d",
       [](auto &p, auto &b) {
         p.d = Format::F32;
         b.d = at(0x50000002);
       },
       ErrorCode::InvalidArgument,
       {"argument d", "multiple of 4"}},
      {"odd sa",
       [](auto &, auto &b) { b.sa = at(0x30000002); },
       ErrorCode::InvalidArgument,
       {"argument sa", "0x30000002", "multiple of 4"}},
      {"odd sb",
       [](auto &, auto &b) { b.sb = at(0x40000001); },
       ErrorCode::InvalidArgument,
       {"argument sb", "multiple of 4"}},
      {"d on a",
       [](auto &, auto &b) { b.d = at(0x10000000); },
       ErrorCode::InvalidArgument,
       {"argument d", "overlaps a", "separate"}},
      {"d reaches into b",
       [](auto &, auto &b) { b.d = at(0x20000000 - 16); },
       ErrorCode::InvalidArgument,
       {"argument d", "overlaps b"}},
      {"negative m", [](auto &p, auto &) { p.m = -1; }, ErrorCode::InvalidArgument, {"m", "-1"}},
      {"negative n",
       [](auto &p, auto &) { p.n = -128; },
       ErrorCode::InvalidArgument,
       {"n", "-128"}},
      {"negative k", [](auto &p, auto &) { p.k = -5; }, ErrorCode::InvalidArgument, {"k", "-5"}},
      {"huge m",
       [](auto &p, auto &) { p.m = std::int64_t{1} << 40; },
       ErrorCode::InvalidArgument,
       {"m", "1099511627776"}},
      {"scale pair",
       [](auto &p, auto &) { p.sa = ScaleUnit::Row; },
       ErrorCode::InvalidArgument,
       {"sa", "sb"}},
      {"no format", [](auto &p, auto &) { p.a = Format::None; }, ErrorCode::InvalidArgument, {"a"}},
      {"wide a", [](auto &p, auto &) { p.a = Format::BF16; }, ErrorCode::InvalidArgument, {"a"}},
      {"short lda",
       [](auto &p, auto &) { p.lda = 8; },
       ErrorCode::InvalidArgument,
       {"lda", "8", "256"}},
      {"e5m2", [](auto &p, auto &) { p.a = Format::E5M2; }, ErrorCode::Unsupported, {"a", "e4m3"}},
      {"f16 out",
       [](auto &p, auto &) { p.d = Format::F16; },
       ErrorCode::Unsupported,
       {"d", "bf16"}},
      {"bias", [](auto &p, auto &) { p.bias = Format::F32; }, ErrorCode::Unsupported, {"bias"}},
      {"split k",
       [](auto &p, auto &) { p.splitk = SplitK::Deterministic; },
       ErrorCode::Unsupported,
       {"splitk"}},
  };
  return misuses;
}

static const std::vector<QuantMisuse> &quantMisuses() {
  static const std::vector<QuantMisuse> misuses = {
      {"null x",
       [](auto &, auto &b) { b.x = nullptr; },
       ErrorCode::InvalidArgument,
       {"argument x", "null"}},
      {"null q",
       [](auto &, auto &b) { b.q = nullptr; },
       ErrorCode::InvalidArgument,
       {"argument q", "null"}},
      {"null s",
       [](auto &, auto &b) { b.s = nullptr; },
       ErrorCode::InvalidArgument,
       {"argument s", "null"}},
      {"odd x",
       [](auto &, auto &b) { b.x = at(0x10000001); },
       ErrorCode::InvalidArgument,
       {"argument x", "0x10000001", "multiple of 2"}},
      {"odd amax",
       [](auto &, auto &b) { b.amax = reinterpret_cast<float *>(std::uintptr_t{0x40000002}); },
       ErrorCode::InvalidArgument,
       {"argument amax", "multiple of 4"}},
      {"in place",
       [](auto &, auto &b) { b.q = at(0x10000000); },
       ErrorCode::InvalidArgument,
       {"argument q", "overlaps x"}},
      {"negative m", [](auto &p, auto &) { p.m = -3; }, ErrorCode::InvalidArgument, {"m", "-3"}},
      {"given pow2",
       [](auto &p, auto &) {
         p.sc = ScaleSource::Given;
         p.st = ScaleType::Pow2;
       },
       ErrorCode::InvalidArgument,
       {"st", "sc"}},
      {"both", [](auto &p, auto &) { p.out = QuantOutput::Both; }, ErrorCode::Unsupported, {"out"}},
      {"f16 in", [](auto &p, auto &) { p.x = Format::F16; }, ErrorCode::Unsupported, {"x"}},
  };
  return misuses;
}

static void expectRefused(const Result<void> &result, ErrorCode code,
                          const std::vector<std::string> &parts) {
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(codeName(result.error().code), codeName(code)) << result.error().message;
  for (const std::string &part : parts) {
    EXPECT_THAT(result.error().message, HasSubstr(part));
  }
}

TEST(BadInputTest, GemmMisuseIsRefusedAndTheEngineWorksOn) {
  FakeDriver &driver = FakeDriver::reset();
  FakeEngine fake;
  for (const bool isWarm : {false, true}) {
    for (const GemmMisuse &misuse : gemmMisuses()) {
      SCOPED_TRACE(std::string(misuse.name) + (isWarm ? " (warm)" : " (cold)"));
      GemmProblem problem = smallGemm();
      GemmBuffers buffers = gemmBuffers();
      misuse.spoil(problem, buffers);

      expectRefused(fake.engine.gemm(problem, buffers), misuse.code, misuse.messageParts);

      EXPECT_TRUE(driver.launches.empty());
    }
    EXPECT_OK(fake.engine.gemm(smallGemm(), gemmBuffers()));
    GemmProblem f32 = smallGemm();
    f32.d = Format::F32;
    EXPECT_OK(fake.engine.gemm(f32, gemmBuffers()));
    EXPECT_EQ(driver.launches.size(), 2U);
    driver.launches.clear();
  }
}

TEST(BadInputTest, QuantMisuseIsRefusedAndTheEngineWorksOn) {
  FakeDriver &driver = FakeDriver::reset();
  FakeEngine fake;
  for (const bool isWarm : {false, true}) {
    for (const QuantMisuse &misuse : quantMisuses()) {
      SCOPED_TRACE(std::string(misuse.name) + (isWarm ? " (warm)" : " (cold)"));
      QuantProblem problem = smallQuant();
      QuantBuffers buffers = quantBuffers();
      misuse.spoil(problem, buffers);

      expectRefused(fake.engine.quantize(problem, buffers), misuse.code, misuse.messageParts);

      EXPECT_TRUE(driver.launches.empty());
    }
    EXPECT_OK(fake.engine.quantize(smallQuant(), quantBuffers()));
    EXPECT_EQ(driver.launches.size(), 3U);
    driver.launches.clear();
  }
}

TEST(BadInputTest, PreparedKernelsCheckTheirBuffersToo) {
  FakeDriver &driver = FakeDriver::reset();
  FakeEngine fake;
  Result<Kernel> gemm = fake.engine.prepare(smallGemm());
  Result<Kernel> quant = fake.engine.prepare(smallQuant());
  ASSERT_OK(gemm);
  ASSERT_OK(quant);
  GemmBuffers shifted = gemmBuffers();
  shifted.b = at(0x20000001);

  expectRefused(gemm->launch(GemmBuffers{}), ErrorCode::InvalidArgument, {"argument d", "null"});
  expectRefused(gemm->launch(shifted), ErrorCode::InvalidArgument, {"misaligned", "16 bytes"});
  expectRefused(gemm->launch(quantBuffers()), ErrorCode::InvalidArgument,
                {"a GEMM", "a quantization"});
  expectRefused(quant->launch(gemmBuffers()), ErrorCode::InvalidArgument,
                {"a quantization", "a GEMM"});
  expectRefused(Kernel().launch(gemmBuffers()), ErrorCode::InvalidArgument, {"empty"});

  EXPECT_TRUE(driver.launches.empty());
}

TEST(BadInputTest, ConfigurationsThatDoNotFitAreRefused) {
  FakeDriver::reset();
  FakeEngine fake;
  const GpuProfile &profile = fake.engine.internals().profile();

  EXPECT_FAILS(fake.engine.prepare(smallGemm(), "nonsense"), ErrorCode::InvalidArgument);
  EXPECT_FAILS(fake.engine.prepare(smallGemm(), printConfig(defaultConfig(smallQuant(), profile))),
               ErrorCode::InvalidArgument);
  EXPECT_FAILS(fake.engine.prepare(smallQuant(), printConfig(defaultConfig(smallGemm(), profile))),
               ErrorCode::InvalidArgument);
  EXPECT_OK(fake.engine.prepare(smallGemm()));
}

TEST(BadInputTest, ProblemLinesAreCheckedByThePublicReader) {
  EXPECT_FAILS(parseProblemText("gemm m=1 n=1 k=1 m=2"), ErrorCode::InvalidArgument);
  EXPECT_FAILS(parseProblemText("gemm m=1 n=1 k=1 colour=red"), ErrorCode::InvalidArgument);
  EXPECT_FAILS(parseProblemText("gemm m=-1 n=1 k=1"), ErrorCode::InvalidArgument);
  Result<Problem> problem = parseProblemText("gemm k=3 m=1 n=2");
  ASSERT_OK(problem);
  EXPECT_EQ(problemText(*problem), "gemm m=1 n=2 k=3 a=e4m3 b=e4m3 d=bf16 sa=tensor sb=tensor");
}

TEST(BadInputTest, FailuresOfMachineAndCompilerLeaveTheEngineUsable) {
  FakeDriver &driver = FakeDriver::reset();
  FakeEngine fake;

  fake.compiler->doesRefuse = true;
  EXPECT_FAILS(fake.engine.gemm(smallGemm(), gemmBuffers()), ErrorCode::CompileError);
  fake.compiler->doesRefuse = false;
  fake.compiler->isMissing = true;
  EXPECT_FAILS(fake.engine.gemm(smallGemm(), gemmBuffers()), ErrorCode::NvrtcNotFound);
  fake.compiler->isMissing = false;
  driver.cubinResult = CUDA_ERROR_OUT_OF_MEMORY;
  EXPECT_FAILS(fake.engine.gemm(smallGemm(), gemmBuffers()), ErrorCode::DriverError);
  driver.cubinResult = CUDA_SUCCESS;
  driver.allocResult = CUDA_ERROR_OUT_OF_MEMORY;
  EXPECT_FAILS(fake.engine.quantize(smallQuant(), quantBuffers()), ErrorCode::DriverError);
  driver.allocResult = CUDA_SUCCESS;
  driver.launchResult = CUDA_ERROR_ILLEGAL_ADDRESS;
  EXPECT_FAILS(fake.engine.gemm(smallGemm(), gemmBuffers()), ErrorCode::DriverError);
  driver.launchResult = CUDA_SUCCESS;

  EXPECT_OK(fake.engine.gemm(smallGemm(), gemmBuffers()));
  EXPECT_OK(fake.engine.quantize(smallQuant(), quantBuffers()));
}

TEST(BadInputTest, OpenNamesWhatIsWrong) {
  const Result<Engine> unknown = Engine::open({.device = "gpu7"});
  const Result<Engine> noTuner = Engine::open({.device = "cuda:0", .onMiss = OnMiss::Tune});
  const Result<Engine> noFolder =
      Engine::open({.device = "cuda:0", .templatesDirectory = "/nowhere/templates"});

  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, ErrorCode::NoDevice);
  EXPECT_THAT(unknown.error().message, HasSubstr("gpu7"));
  ASSERT_FALSE(noTuner.ok());
  EXPECT_EQ(noTuner.error().code, ErrorCode::InvalidArgument);
  ASSERT_FALSE(noFolder.ok());
  EXPECT_EQ(noFolder.error().code, ErrorCode::NotFound);
}

} // namespace fp8jit
