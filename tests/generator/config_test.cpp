// Configurations: text form, rules, candidates, and what is not supported.
#include "generator/config.h"
#include "tests/generator/sample_problems.h"
#include "tests/support/matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace fp8jit {

using testing::adaProfile;
using testing::allLines;
using ::testing::HasSubstr;
using testing::outcomeOf;
using testing::problemOf;

TEST(ConfigTextTest, RoundTripsEveryCandidate) {
  for (const std::string &line : allLines()) {
    for (const Config &config : candidateConfigs(problemOf(line), adaProfile())) {
      llvm::Expected<Config> parsed = parseConfig(printConfig(config));

      ASSERT_OK(parsed);
      EXPECT_EQ(*parsed, config) << printConfig(config);
    }
  }
}

TEST(ConfigTextTest, PrintsTheDocumentedForm) {
  EXPECT_EQ(printConfig(GemmConfig{128, 64, 128, 2, 2, 4, 8}),
            "mma tile=128x64x128 warps=2x2 stages=4 group=8");
  EXPECT_EQ(printConfig(QuantConfig{256, 16, 32}), "quant threads=256 vector=16 units=32");
}

TEST(ConfigTextTest, RefusesMalformedTextNamingTheField) {
  const struct {
    const char *text;
    const char *message;
  } cases[] = {
      {"", "expected 'mma tile=MxNxK"},
      {"wgmma tile=128x128x128", "expected 'mma tile=MxNxK"},
      {"mma tile=128x128x128 warps=2x4 stages=3", "expected 'mma tile=MxNxK"},
      {"mma tile=128x128 warps=2x4 stages=3 group=8", "tile= and 3 numbers"},
      {"mma tile=128x128x0 warps=2x4 stages=3 group=8", "tile= and 3 numbers"},
      {"mma tile=128x128x128 warps=2x-4 stages=3 group=8", "warps= and 2 numbers"},
      {"mma tile=128x128x128 stages=3 warps=2x4 group=8", "'stages=3' is malformed"},
      {"mma tile=128x128x128 warps=2x4 stages=3 group=99999999999", "group= and 1 numbers"},
      {"quant threads=256 vector=16", "expected 'quant threads=T"},
      {"quant threads=256 vector=wide units=1", "vector= and 1 numbers"},
  };
  for (const auto &entry : cases) {
    const testing::Outcome outcome = outcomeOf(parseConfig(entry.text));

    EXPECT_FALSE(outcome.isOk) << entry.text;
    EXPECT_EQ(outcome.code, ErrorCode::InvalidArgument) << entry.text;
    EXPECT_THAT(outcome.message, HasSubstr(entry.message)) << entry.text;
  }
}

TEST(ConfigRulesTest, RefusesConfigsThatDoNotFit) {
  const struct {
    const char *problem;
    const char *config;
    const char *message;
  } cases[] = {
      {"gemm m=64 n=64 k=64", "quant threads=256 vector=16 units=32", "is for quantization"},
      {"quant m=64 n=64", "mma tile=64x64x128 warps=2x2 stages=3 group=8", "is for gemm"},
      {"gemm m=64 n=64 k=64", "mma tile=64x64x96 warps=2x2 stages=3 group=8", "tileK=96"},
      {"gemm m=64 n=64 k=64", "mma tile=64x72x128 warps=2x2 stages=3 group=8",
       "warp tile of 32x36"},
      {"gemm m=64 n=64 k=64", "mma tile=128x128x128 warps=2x2 stages=3 group=8", "64x64"},
      {"gemm m=64 n=64 k=64", "mma tile=64x64x128 warps=2x2 stages=9 group=8", "9 stages"},
      {"gemm m=64 n=64 k=64", "mma tile=64x64x128 warps=2x2 stages=3 group=33", "group=33"},
      {"gemm m=64 n=64 k=64", "mma tile=128x128x128 warps=2x4 stages=4 group=8", "131072 bytes"},
      {"gemm m=64 n=64 k=64", "mma tile=1024x32x64 warps=64x1 stages=2 group=8", "2048 threads"},
      {"quant m=64 n=17", "quant threads=256 vector=16 units=2", "expected 2 to 2"},
      {"quant m=64 n=64 x=f32", "quant threads=256 vector=2 units=2", "expected 4 to 16"},
      {"quant m=64 n=64", "quant threads=48 vector=16 units=2", "32 to 1024 threads"},
      {"quant m=64 n=64 s=row", "quant threads=256 vector=16 units=2", "a warp or a block per row"},
      {"quant m=64 n=64 s=128x128", "quant threads=64 vector=16 units=1", "units=1"},
      {"quant m=64 n=64 s=1x128", "quant threads=256 vector=16 units=8", "each with a vector"},
      {"quant m=64 n=64 s=1x128", "quant threads=96 vector=16 units=32", "threads per unit"},
  };
  for (const auto &entry : cases) {
    llvm::Expected<Config> config = parseConfig(entry.config);
    ASSERT_OK(config);

    const testing::Outcome outcome =
        outcomeOf(checkConfig(problemOf(entry.problem), *config, adaProfile()));

    EXPECT_EQ(outcome.code, ErrorCode::InvalidArgument) << entry.config;
    EXPECT_THAT(outcome.message, HasSubstr(entry.message)) << entry.config;
  }
}

TEST(ConfigSpaceTest, OffersAtMostTwentyFourValidConfigsWithTheDefaultAmongThem) {
  for (const std::string &line : allLines()) {
    const Problem problem = problemOf(line);

    const std::vector<Config> configs = candidateConfigs(problem, adaProfile());

    EXPECT_LE(configs.size(), 24U) << line;
    EXPECT_THAT(configs, ::testing::Contains(defaultConfig(problem, adaProfile()))) << line;
    for (const Config &config : configs) {
      EXPECT_OK(checkConfig(problem, config, adaProfile()));
    }
  }
}

TEST(ConfigSpaceTest, DefaultIsOfferedForEveryShape) {
  for (const std::int64_t m :
       {0, 1, 15, 16, 17, 33, 64, 65, 128, 129, 511, 513, 8192, 2147483647}) {
    for (const std::int64_t n : {0, 1, 63, 64, 65, 128, 4096, 2147483647}) {
      for (const std::int64_t k : {0, 1, 7168}) {
        GemmProblem problem;
        problem.m = m, problem.n = n, problem.k = k;

        EXPECT_THAT(candidateConfigs(problem, adaProfile()),
                    ::testing::Contains(defaultConfig(problem, adaProfile())))
            << printProblem(problem);
      }
    }
  }
}

TEST(ConfigSpaceTest, OffersEachConfigOnce) {
  for (const std::string &line : allLines()) {
    const std::vector<Config> configs = candidateConfigs(problemOf(line), adaProfile());
    std::vector<std::string> texts;
    for (const Config &config : configs) {
      texts.push_back(printConfig(config));
    }

    EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), texts.size()) << line;
  }
}

TEST(SupportRulesTest, AcceptsEveryServedProblem) {
  for (const std::string &line : allLines()) {
    SCOPED_TRACE(line);
    EXPECT_OK(checkSupported(problemOf(line), adaProfile()));
  }
}

TEST(SupportRulesTest, RefusesTheRestNamingWhatWorks) {
  const struct {
    const char *problem;
    const char *works;
  } cases[] = {
      {"gemm m=64 n=64 k=64 a=e5m2", "a=e4m3"},
      {"gemm m=64 n=64 k=64 d=f16", "d=bf16 or d=f32"},
      {"gemm m=64 n=64 k=64 sa=1x128 sb=1x128", "sa=1x128 sb=128x128"},
      {"gemm m=64 n=64 k=64 sa=1x32 sb=1x32", "sa=1x128 sb=128x128"},
      {"gemm m=64 n=64 k=64 sa=1x128 sb=128x128 st=ue8m0", "st=f32"},
      {"gemm m=64 n=64 k=64 sa=1x128 sb=128x128 la=mn", "la=row"},
      {"gemm m=64 n=64 k=64 acc=fast", "acc=split"},
      {"gemm m=64 n=64 k=64 c=bf16", "c=none"},
      {"gemm m=64 n=64 k=64 bias=f32", "bias=none"},
      {"gemm m=64 n=64 k=64 act=relu", "act=none"},
      {"gemm m=64 n=64 k=64 ta=mn", "ta=k"},
      {"gemm m=64 n=64 k=64 ldb=80", "contiguous rows"},
      {"gemm m=64 n=64 k=64 splitk=det", "splitk=no"},
      {"quant m=64 n=64 x=f16", "x=bf16 or x=f32"},
      {"quant m=64 n=64 q=e5m2", "q=e4m3"},
      {"quant m=64 n=64 s=1x32", "s=tensor, row, 1x128 or 128x128"},
      {"quant m=64 n=64 s=1x128 st=ue8m0", "st=f32"},
      {"quant m=64 n=64 s=1x128 out=both", "out=row"},
      {"quant m=64 n=64 s=1x128 l=mn", "l=row"},
      {"quant m=64 n=64 ldx=128", "contiguous rows"},
  };
  for (const auto &entry : cases) {
    llvm::Expected<Problem> problem = parseProblem(entry.problem);
    ASSERT_OK(problem);

    const testing::Outcome outcome = outcomeOf(checkSupported(*problem, adaProfile()));

    EXPECT_EQ(outcome.code, ErrorCode::Unsupported) << entry.problem;
    EXPECT_THAT(outcome.message, HasSubstr(entry.works)) << entry.problem;
  }
}

TEST(SupportRulesTest, NamesWhatWasFound) {
  const std::pair<const char *, const char *> cases[] = {
      {"gemm m=64 n=64 k=64 a=e5m2", "found a=e5m2,"},
      {"gemm m=64 n=64 k=64 sa=1x128 sb=1x128", "found sa=1x128 sb=1x128,"},
      {"gemm m=64 n=64 k=64 lda=128", "found lda=128,"},
      {"quant m=64 n=64 x=f16", "found x=f16,"},
  };
  for (const auto &[line, found] : cases) {
    llvm::Expected<Problem> problem = parseProblem(line);
    ASSERT_OK(problem);

    const testing::Outcome outcome = outcomeOf(checkSupported(*problem, adaProfile()));

    EXPECT_THAT(outcome.message, HasSubstr(found)) << line;
  }
}

TEST(SupportRulesTest, RefusesOtherTargets) {
  GpuProfile profile = adaProfile();
  profile.arch = "90a";

  const testing::Outcome outcome = outcomeOf(checkSupported(GemmProblem{}, profile));

  EXPECT_EQ(outcome.code, ErrorCode::Unsupported);
  EXPECT_THAT(outcome.message, HasSubstr("sm_90a"));
  EXPECT_OK(checkSupported(QuantProblem{}, profile));
  profile.arch = "100a";
  EXPECT_EQ(outcomeOf(checkSupported(QuantProblem{}, profile)).code, ErrorCode::Unsupported);
}

} // namespace fp8jit
