// NVRTC as it is installed here, and its absence caused for real.
#include "runtime/nvrtc_compiler.h"
#include "runtime/ptxas_report.h"
#include "tests/support/matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace fp8jit {

using ::testing::HasSubstr;

static const std::vector<std::string> kOptions = {
    "-arch=sm_89", "--minimal", "-modify-stack-limit=false", "--no-cache", "-Xptxas", "-v"};
static constexpr const char *kSource =
    "extern \"C\" __global__ void twice(float *x) { x[threadIdx.x] *= 2.0f; }\n";

TEST(NvrtcCompilerTest, GivesPtxCubinAndReportFromOneCall) {
  const auto compiler = NvrtcCompiler::create();

  llvm::Expected<CompiledProgram> program =
      compiler->compile({.source = kSource, .options = kOptions});

  ASSERT_OK(program);
  EXPECT_THAT(program->ptx, HasSubstr(".target sm_89"));
  EXPECT_EQ(program->cubin.substr(0, 4), "\x7f"
                                         "ELF");
  const PtxasReport report = parsePtxasReport(program->log);
  ASSERT_NE(report.find("twice"), nullptr);
  EXPECT_GT(report.find("twice")->registers, 0);
  EXPECT_GT(program->compileMs, 0);
}

TEST(NvrtcCompilerTest, RefusalCarriesLogAndSource) {
  const auto compiler = NvrtcCompiler::create();

  llvm::Expected<CompiledProgram> program = compiler->compile(
      {.source = "__global__ void broken() { undefinedName(); }\n", .options = kOptions});

  ASSERT_FALSE(static_cast<bool>(program));
  const FailureInfo failure = takeFailure(program.takeError());
  EXPECT_EQ(failure.code(), ErrorCode::CompileError);
  EXPECT_THAT(failure.text(), HasSubstr("undefinedName"));
  EXPECT_THAT(failure.details(), HasSubstr("__global__ void broken()"));
  EXPECT_THAT(failure.details(), HasSubstr("-arch=sm_89"));
  EXPECT_OK(compiler->compile({.source = kSource, .options = kOptions}));
}

TEST(NvrtcCompilerTest, CompilesInSeveralThreadsAtOnce) {
  const auto compiler = NvrtcCompiler::create();
  std::vector<std::string> cubins(4);

  std::vector<std::thread> threads;
  for (std::string &cubin : cubins) {
    threads.emplace_back([&cubin, &compiler] {
      llvm::Expected<CompiledProgram> program =
          compiler->compile({.source = kSource, .options = kOptions});
      if (program) {
        cubin = program->cubin;
      } else {
        llvm::consumeError(program.takeError()); // the empty cubin fails the test
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }

  for (const std::string &cubin : cubins) {
    EXPECT_FALSE(cubin.empty());
    EXPECT_EQ(cubin, cubins.front());
  }
}

TEST(NvrtcCompilerTest, NamesTheFileThatIsNotThere) {
  const auto compiler = NvrtcCompiler::create({.file = "/nowhere/libnvrtc.so.13", .folders = {}});

  llvm::Expected<std::string> identity = compiler->identity();

  ASSERT_FALSE(static_cast<bool>(identity));
  const FailureInfo failure = takeFailure(identity.takeError());
  EXPECT_EQ(failure.code(), ErrorCode::NvrtcNotFound);
  EXPECT_THAT(failure.text(), HasSubstr("/nowhere/libnvrtc.so.13"));
  EXPECT_THAT(failure.text(), HasSubstr("FP8JIT_NVRTC"));
}

TEST(NvrtcCompilerTest, ListsTheFoldersItSearchedAndTheRemedy) {
  const auto compiler =
      NvrtcCompiler::create({.file = "", .folders = {"/nowhere/lib64", "/nowhere/lib"}});

  llvm::Expected<CompiledProgram> program =
      compiler->compile({.source = kSource, .options = kOptions});

  ASSERT_FALSE(static_cast<bool>(program));
  const FailureInfo failure = takeFailure(program.takeError());
  EXPECT_EQ(failure.code(), ErrorCode::NvrtcNotFound);
  EXPECT_THAT(failure.text(), HasSubstr("/nowhere/lib64, /nowhere/lib"));
  EXPECT_THAT(failure.text(), HasSubstr("pip install"));
}

TEST(NvrtcCompilerTest, RefusesALibraryThatIsNotNvrtc) {
  const auto compiler = NvrtcCompiler::create({.file = "/proc/self/exe", .folders = {}});

  EXPECT_FAILS(compiler->compile({.source = kSource, .options = kOptions}),
               ErrorCode::NvrtcNotFound);
}

TEST(NvrtcCompilerTest, IdentityIsStableAndNamesTheLibrary) {
  llvm::Expected<std::string> first = NvrtcCompiler::create()->identity();
  llvm::Expected<std::string> second = NvrtcCompiler::create()->identity();

  ASSERT_OK(first);
  ASSERT_OK(second);
  EXPECT_EQ(*first, *second);
  EXPECT_THAT(*first, HasSubstr("libnvrtc.so."));
  EXPECT_THAT(*first, HasSubstr("libnvrtc-builtins.so."));
}

} // namespace fp8jit
