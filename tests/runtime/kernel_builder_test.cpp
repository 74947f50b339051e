#include "runtime/kernel_builder.h"
#include "runtime/loaded_kernel.h"
#include "tests/runtime/fake_compiler.h"
#include "tests/runtime/fake_engine.h"
#include "tests/support/matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <set>
#include <thread>

namespace fp8jit {

using testing::FakeCompiler;
using ::testing::HasSubstr;

namespace {

/// A builder that keeps nothing on disk, with its fake compiler.
struct Workshop {
  std::shared_ptr<FakeCompiler> compiler = std::make_shared<FakeCompiler>();
  const GpuProfile &profile = kGpuProfiles.front();
  Problem problem = testing::smallGemm();
  Config config = defaultConfig(problem, profile);
  KernelBuilder builder{{.templates = TemplateLibrary::embedded(),
                         .compiler = compiler,
                         .store = nullptr,
                         .onWarning = nullptr}};
};

} // namespace

TEST(KernelKeyTest, DependsOnNothingButItsInput) {
  const std::string key = kernelKey("source", "89", "compiler");

  EXPECT_EQ(key.size(), 64U);
  EXPECT_EQ(key, kernelKey("source", "89", "compiler"));
}

TEST(KernelKeyTest, ChangesWithEachPartAndWithItsPlace) {
  const std::set<std::string> keys = {
      kernelKey("source", "89", "compiler"),  kernelKey("source2", "89", "compiler"),
      kernelKey("source", "90a", "compiler"), kernelKey("source", "89", "compiler2"),
      kernelKey("compiler", "89", "source"),  kernelKey("ource", "89s", "compiler"),
      kernelKey("sourcecompiler", "89", ""),
  };

  EXPECT_EQ(keys.size(), 7U);
}

TEST(ToolchainTextTest, NamesEveryPart) {
  const std::string text = toolchainText("nvrtc x", "89", "abcd");

  EXPECT_EQ(text, "abi=1 arch=sm_89 templates=abcd compiler=nvrtc x");
}

TEST(KernelBuilderTest, OneKeyForAllThreadsIsCompiledOnce) {
  constexpr int kThreads = 8;
  Workshop workshop;
  std::latch allHere(kThreads);
  std::vector<std::shared_ptr<const BuiltKernel>> results(kThreads);

  std::vector<std::thread> threads;
  for (auto &result : results) {
    threads.emplace_back([&] {
      allHere.arrive_and_wait();
      auto built = workshop.builder.build(workshop.problem, workshop.config, workshop.profile);
      if (built) {
        result = *built;
      } else {
        llvm::consumeError(built.takeError()); // the null result fails the test
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }

  EXPECT_EQ(workshop.compiler->compilations, 1);
  for (const auto &result : results) {
    ASSERT_NE(result, nullptr);
    EXPECT_EQ(result, results.front());
  }
}

TEST(KernelBuilderTest, KeysOfDifferentProblemsAreCompiledSideBySide) {
  Workshop workshop;
  std::latch bothCompiling(2); // blocks for ever if one compilation waited for the other
  workshop.compiler->whileCompiling = [&] { bothCompiling.arrive_and_wait(); };
  GemmProblem other = testing::smallGemm();
  other.k = 512;

  std::thread second([&] {
    EXPECT_OK(workshop.builder.build(Problem(other), workshop.config, workshop.profile));
  });
  EXPECT_OK(workshop.builder.build(workshop.problem, workshop.config, workshop.profile));
  second.join();

  EXPECT_EQ(workshop.compiler->compilations, 2);
}

TEST(KernelBuilderTest, AFailureIsToldAndNotKept) {
  Workshop workshop;
  workshop.compiler->doesRefuse = true;

  auto refused = workshop.builder.build(workshop.problem, workshop.config, workshop.profile);
  ASSERT_FALSE(static_cast<bool>(refused));
  const FailureInfo failure = takeFailure(refused.takeError());
  workshop.compiler->doesRefuse = false;
  auto built = workshop.builder.build(workshop.problem, workshop.config, workshop.profile);

  EXPECT_EQ(failure.code(), ErrorCode::CompileError);
  EXPECT_THAT(failure.details(), HasSubstr("fp8jit_gemm"));
  EXPECT_OK(built);
  EXPECT_EQ(workshop.compiler->compilations, 2);
}

TEST(KernelBuilderTest, MEntersAsItsBucketOnly) {
  Workshop workshop;
  GemmProblem shorter = testing::smallGemm();
  shorter.m = 33; // of the bucket of 64, like smallGemm

  auto first = workshop.builder.plan(workshop.problem, workshop.config, workshop.profile);
  auto second = workshop.builder.plan(Problem(shorter), workshop.config, workshop.profile);

  ASSERT_OK(first);
  ASSERT_OK(second);
  EXPECT_EQ(first->key, second->key);
}

TEST(KernelBuilderTest, AlignmentMakesAnotherKernel) {
  Workshop workshop;

  auto fast = workshop.builder.plan(workshop.problem, workshop.config, workshop.profile);
  auto any = workshop.builder.plan(workshop.problem, workshop.config, workshop.profile,
                                   PointerAlignment::Element);

  ASSERT_OK(fast);
  ASSERT_OK(any);
  EXPECT_NE(fast->key, any->key);
}

TEST(KernelBuilderTest, WithoutCompilerSaysSo) {
  Workshop workshop;
  workshop.compiler->isMissing = true;

  EXPECT_FAILS(workshop.builder.build(workshop.problem, workshop.config, workshop.profile),
               ErrorCode::NvrtcNotFound);
  EXPECT_OK(workshop.builder.generate(workshop.problem, workshop.config, workshop.profile));
}

TEST(PtxVersionTest, FollowsTheDriver) {
  const std::pair<int, int> cases[] = {{11080, 78}, {12000, 80}, {12020, 82}, {12040, 84},
                                       {12060, 85}, {12090, 88}, {13000, 90}, {14000, 91}};
  for (const auto &[driver, ptx] : cases) {
    EXPECT_EQ(ptxVersionOfDriver(driver), ptx) << driver;
  }
}

TEST(PtxVersionTest, LowersOnlyNewerTexts) {
  const std::string ptx = "//\n.version 9.0\n.target sm_89\n";

  EXPECT_EQ(lowerPtxVersion(ptx, 84), "//\n.version 8.4\n.target sm_89\n");
  EXPECT_EQ(lowerPtxVersion(ptx, 90), ptx);
  EXPECT_EQ(lowerPtxVersion(ptx, 91), ptx);
  EXPECT_EQ(lowerPtxVersion("no directive", 84), "no directive");
}

} // namespace fp8jit
