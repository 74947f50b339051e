// Generated text: banner, purity, limits, slots and launch plan.
#include "generator/generate.h"
#include "tests/generator/sample_problems.h"
#include "tests/support/matchers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fp8jit {

using testing::adaProfile;
using testing::allLines;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::problemOf;

static GeneratedSource sourceOf(const Problem &problem, const Config &config,
                                PointerAlignment alignment = PointerAlignment::Bytes16) {
  llvm::Expected<GeneratedSource> source =
      generateSource(problem, config, adaProfile(), TemplateLibrary::embedded(), alignment);
  EXPECT_OK(source);
  return source ? *source : (llvm::consumeError(source.takeError()), GeneratedSource()); // reported
}

static GeneratedSource defaultSource(const std::string &line,
                                     PointerAlignment alignment = PointerAlignment::Bytes16) {
  const Problem problem = problemOf(line);
  return sourceOf(problem, defaultConfig(problem, adaProfile()), alignment);
}

static llvm::SmallVector<llvm::StringRef> linesOf(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  return lines;
}

TEST(GenerateSourceTest, BannerNamesFormulaProblemConfigTargetAndCommand) {
  const GeneratedSource source = defaultSource("gemm m=100 n=512 k=384 sa=1x128 sb=128x128 d=f32");

  const auto lines = linesOf(source.text);

  EXPECT_EQ(lines[0], "// D[m,n] = alpha * sum over k of (A[m,k]*sa[m,k/128]) * "
                      "(B[n,k]*sb[n/128,k/128]), rounded once to f32");
  EXPECT_EQ(lines[1],
            "// problem: gemm m<=128 n=512 k=384 a=e4m3 b=e4m3 d=f32 sa=1x128 sb=128x128");
  EXPECT_THAT(lines[2].str(), HasSubstr("// config:  mma tile="));
  EXPECT_EQ(lines[3].str(),
            "// target:  sm_89, templates " + TemplateLibrary::embedded().hash().substr(0, 12));
  EXPECT_EQ(lines[4], "// rebuild: nvcc --cubin -arch=sm_89 -std=c++20 --expt-relaxed-constexpr -o "
                      "kernel.cubin kernel.cu");
  EXPECT_EQ(lines[5], "");
}

TEST(GenerateSourceTest, GivesTheSameBytesForTheSameInput) {
  for (const std::string &line : allLines()) {
    EXPECT_EQ(defaultSource(line).text, defaultSource(line).text) << line;
  }
}

TEST(GenerateSourceTest, SourcesOfOneBucketAreEqual) {
  const Config config = GemmConfig{64, 64, 128, 2, 2, 3, 8};

  const GeneratedSource small = sourceOf(problemOf("gemm m=1001 n=512 k=384"), config);
  const GeneratedSource large = sourceOf(problemOf("gemm m=1023 n=512 k=384"), config);

  EXPECT_EQ(small.text, large.text);
  EXPECT_THAT(small.text, Not(HasSubstr("1001")));
}

TEST(GenerateSourceTest, StaysInItsLineLimitsAndIncludesNothing) {
  for (const std::string &line : allLines()) {
    for (const auto alignment : {PointerAlignment::Bytes16, PointerAlignment::Element}) {
      const GeneratedSource source = defaultSource(line, alignment);
      const auto lines = linesOf(source.text);
      const std::size_t limit = line.starts_with("gemm") ? 400 : 150;

      EXPECT_LT(llvm::StringRef(source.text).count('\n'), limit) << line;
      EXPECT_THAT(source.text, Not(HasSubstr("#include"))) << line;
      EXPECT_THAT(source.text, Not(HasSubstr("#pragma once"))) << line;
      for (const llvm::StringRef textLine : llvm::drop_begin(lines, 5)) {
        EXPECT_LE(textLine.size(), 102U) << textLine.str(); // 100 signs, some of two bytes
      }
    }
  }
}

TEST(GenerateSourceTest, NamesTheEntriesThatTheTextDefines) {
  for (const std::string &line : allLines()) {
    const GeneratedSource source = defaultSource(line);

    ASSERT_FALSE(source.entries.empty()) << line;
    EXPECT_EQ(llvm::StringRef(source.text).count("extern \"C\""), source.entries.size()) << line;
    for (const KernelEntry &entry : source.entries) {
      EXPECT_THAT(source.text, HasSubstr(entry.name + "(")) << line;
      EXPECT_GE(entry.threads, 1) << line;
    }
  }
}

TEST(GenerateSourceTest, PicksTheLoadByAlignment) {
  const struct {
    const char *problem;
    PointerAlignment alignment;
    const char *instruction;
  } cases[] = {
      {"gemm m=64 n=64 k=160", PointerAlignment::Bytes16, "cp.async.cg.shared.global"},
      {"gemm m=64 n=64 k=164", PointerAlignment::Bytes16, "cp.async.ca.shared.global"},
      {"gemm m=64 n=64 k=162", PointerAlignment::Bytes16, "__ldg(global + byte)"},
      {"gemm m=64 n=64 k=160", PointerAlignment::Element, "__ldg(global + byte)"},
      {"gemm m=64 n=64 k=160", PointerAlignment::Bytes16, "cvt.rn.bf16x2.f32"},
      {"gemm m=64 n=63 k=160", PointerAlignment::Bytes16, "cvt.rn.bf16.f32"},
      {"gemm m=64 n=64 k=160", PointerAlignment::Element, "cvt.rn.bf16.f32"},
      {"quant m=64 n=64", PointerAlignment::Bytes16, ".vectorBytes = 16"},
      {"quant m=64 n=64", PointerAlignment::Element, ".vectorBytes = 2,"},
      {"quant m=64 n=64 x=f32", PointerAlignment::Element, ".vectorBytes = 4,"},
  };
  for (const auto &entry : cases) {
    EXPECT_THAT(defaultSource(entry.problem, entry.alignment).text, HasSubstr(entry.instruction))
        << entry.problem;
  }
}

TEST(GenerateSourceTest, RefusesWhatItCannotServe) {
  const auto generate = [](const Problem &problem, const Config &config) {
    return generateSource(problem, config, adaProfile(), TemplateLibrary::embedded());
  };

  EXPECT_FAILS(generate(problemOf("gemm m=64 n=64 k=64 act=relu"), GemmConfig{}),
               ErrorCode::Unsupported);
  EXPECT_FAILS(generate(problemOf("gemm m=64 n=64 k=64"), QuantConfig{256, 16, 2}),
               ErrorCode::InvalidArgument);
}

TEST(LaunchPlanTest, CoversEveryUnit) {
  const struct {
    const char *problem;
    const char *config;
    std::size_t entry;
    std::int64_t blocks;
  } cases[] = {
      {"gemm m=129 n=65 k=1", "mma tile=128x64x128 warps=2x2 stages=3 group=8", 0, 4},
      {"gemm m=0 n=65 k=1", "mma tile=128x64x128 warps=2x2 stages=3 group=8", 0, 0},
      {"quant m=3 n=1000", "quant threads=256 vector=16 units=2", 0, 1},
      {"quant m=3 n=4096", "quant threads=256 vector=16 units=2", 1, 3},
      {"quant m=3 n=4096", "quant threads=256 vector=16 units=2", 2, 3},
      {"quant m=0 n=4096", "quant threads=256 vector=16 units=2", 0, 0},
      {"quant m=9 n=4096 s=row", "quant threads=256 vector=16 units=8", 0, 2},
      {"quant m=9 n=129 s=1x128", "quant threads=256 vector=2 units=16", 0, 2},
      {"quant m=129 n=129 s=128x128", "quant threads=1024 vector=2 units=1", 0, 4},
  };
  for (const auto &entry : cases) {
    llvm::Expected<Config> config = parseConfig(entry.config);
    ASSERT_OK(config);

    EXPECT_EQ(gridBlocks(problemOf(entry.problem), *config, entry.entry), entry.blocks)
        << entry.problem << ", " << entry.config;
  }
}

TEST(LaunchPlanTest, OnlyTensorScalesNeedAWorkspace) {
  EXPECT_EQ(workspaceBytes(problemOf("quant m=4 n=4")), 4);
  EXPECT_EQ(workspaceBytes(problemOf("quant m=4 n=4 s=row")), 0);
  EXPECT_EQ(workspaceBytes(problemOf("gemm m=4 n=4 k=4")), 0);
}

} // namespace fp8jit
