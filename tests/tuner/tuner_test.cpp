// Tuning on the emulated GPU: the winner is right, stored and found again; a wrong kernel never
// wins.
#include "cache/store.h"
#include "generator/problem_text.h"
#include "runtime/engine_internals.h"
#include "tests/support/environment_scope.h"
#include "tests/support/matchers.h"
#include "tuner/tuner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace fp8jit::testing {

namespace fs = std::filesystem;

namespace {

/// A folder that lives as long as the object.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "fp8jit-tuner-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  const std::string &path() const { return path_; }

private:
  std::string path_;
};

} // namespace

static Result<Engine> openEngine(const std::string &cache, const std::string &templates = "") {
  EngineOptions options;
  options.device = "emulator:sm_89";
  options.cacheDirectory = cache;
  options.templatesDirectory = templates;
  options.onMiss = OnMiss::Tune;
  options.tuner = makeTunerHook({.topK = 2});
  return Engine::open(options);
}

static Problem problemOf(const std::string &text) {
  return llvm::cantFail(parseProblem(text));
}

static constexpr const char *kGemm = "gemm m=40 n=96 k=256 sa=1x128 sb=128x128";

/// A copy of the templates in which `from` reads `to`.
static void copyTemplates(const std::string &folder, const std::string &from,
                          const std::string &to) {
  fs::copy(FP8JIT_TEMPLATES_DIR, folder, fs::copy_options::recursive);
  int changes = 0;
  for (const auto &entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) {
      continue;
    }
    std::ifstream input(entry.path(), std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(input), {}};
    input.close();
    for (std::size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
      ++changes;
    }
    std::ofstream(entry.path(), std::ios::binary | std::ios::trunc) << text;
  }
  ASSERT_GT(changes, 0) << "no template has '" << from << "'";
}

TEST(TuneTest, FindsAndStoresAWinner) {
  const TemporaryFolder cache;
  Result<Engine> engine = openEngine(cache.path());
  ASSERT_OK(engine);

  llvm::Expected<TuneReport> report = tune(*engine, problemOf(kGemm), {.topK = 3});

  ASSERT_OK(report);
  EXPECT_EQ(report->problem, printBucketKey(problemOf(kGemm)));
  EXPECT_EQ(report->provenance, Provenance::Modelled);
  EXPECT_FALSE(report->isFromCache);
  EXPECT_EQ(report->compiled, 3);
  EXPECT_EQ(report->checked, 3);
  EXPECT_TRUE(report->warnings.empty());
  const auto ok = std::count_if(report->candidates.begin(), report->candidates.end(),
                                [](const TuneCandidate &c) { return c.status == "ok"; });
  EXPECT_EQ(ok, 3);
  EXPECT_GT(report->candidates.size(), 3U);
  for (const TuneCandidate &candidate : report->candidates) {
    EXPECT_GT(candidate.modelUs, 0) << candidate.config;
    EXPECT_EQ(candidate.timeUs > 0, candidate.status == "ok") << candidate.config;
    EXPECT_LE(candidate.relError, 1e-2) << candidate.config;
  }
  // The tie band is 1 %, so the winner may be that much behind.
  EXPECT_LE(report->timeUs, 1.01 * report->candidates.front().timeUs);
  const WinnerKey key = llvm::cantFail(engine->internals().winnerKey(problemOf(kGemm)));
  const std::optional<Winner> winner = engine->internals().store()->findWinner(key);
  ASSERT_TRUE(winner);
  EXPECT_EQ(winner->config, report->winner);
  EXPECT_EQ(winner->provenance, "modelled");
  EXPECT_EQ(winner->kernelKey, report->kernelKey);
}

TEST(TuneTest, TheSecondRunIsAnsweredByTheCache) {
  const TemporaryFolder cache;
  std::string winner;
  {
    Result<Engine> engine = openEngine(cache.path());
    ASSERT_OK(engine);
    llvm::Expected<TuneReport> report = tune(*engine, problemOf(kGemm), {.topK = 2});
    ASSERT_OK(report);
    winner = report->winner;
  }

  Result<Engine> engine = openEngine(cache.path());
  ASSERT_OK(engine);
  llvm::Expected<TuneReport> report = tune(*engine, problemOf(kGemm), {.topK = 2});
  const Result<Kernel> kernel = engine->prepare(problemOf(kGemm));

  ASSERT_OK(report);
  EXPECT_TRUE(report->isFromCache);
  EXPECT_EQ(report->winner, winner);
  EXPECT_EQ(report->compiled, 0);
  EXPECT_FALSE(report->candidates.empty());
  ASSERT_OK(kernel);
  EXPECT_EQ(kernel->info().config, winner);
  EXPECT_EQ(kernel->info().configSource, ConfigSource::Winner);
  EXPECT_EQ(kernel->info().provenance, Provenance::Modelled);
  EXPECT_EQ(kernel->info().cache, CacheSource::Disk);
  EXPECT_EQ(kernel->info().kernelKey, report->kernelKey);
}

TEST(TuneTest, AStoredWinnerIsAnsweredWithoutACompiler) {
  const TemporaryFolder cache;
  std::string winner;
  {
    Result<Engine> engine = openEngine(cache.path());
    ASSERT_OK(engine);
    llvm::Expected<TuneReport> report = tune(*engine, problemOf(kGemm), {.topK = 1});
    ASSERT_OK(report);
    winner = report->winner;
  }
  const testing::EnvironmentScope nvrtc("FP8JIT_NVRTC", "/nowhere/libnvrtc.so.13");
  Result<Engine> engine = openEngine(cache.path());
  ASSERT_OK(engine);

  llvm::Expected<TuneReport> report = tune(*engine, problemOf(kGemm), {.topK = 1});
  EXPECT_FAILS(tune(*engine, problemOf("gemm m=64 n=256 k=256"), {.topK = 1}),
               ErrorCode::NvrtcNotFound);

  ASSERT_OK(report);
  EXPECT_TRUE(report->isFromCache);
  EXPECT_EQ(report->winner, winner);
}

TEST(TuneTest, TheHookTunesOnAMissAndServesTheWinner) {
  const TemporaryFolder cache;
  Result<Engine> engine = openEngine(cache.path());
  ASSERT_OK(engine);

  const Result<Kernel> kernel = engine->prepare(problemOf(kGemm));

  ASSERT_OK(kernel);
  EXPECT_EQ(kernel->info().configSource, ConfigSource::Winner);
  EXPECT_EQ(engine->internals().store()->stats().winners, 1);
}

TEST(TuneTest, TunesEveryKindOfScaling) {
  for (const char *text : {"gemm m=33 n=40 k=200", "gemm m=20 n=64 k=130 d=f32 sa=row sb=row",
                           "gemm m=1 n=17 k=64", "quant m=70 n=200", "quant m=9 n=300 x=f32 s=row",
                           "quant m=130 n=257 s=1x128", "quant m=140 n=260 x=f32 s=128x128",
                           "quant m=70 n=200 sc=given", "quant m=130 n=256 s=1x128 sc=given"}) {
    Result<Engine> engine = openEngine("none");
    ASSERT_OK(engine);

    llvm::Expected<TuneReport> report = tune(*engine, problemOf(text), {.topK = 2});

    const bool isTuned = static_cast<bool>(report);
    const std::string winner = isTuned ? report->winner : llvm::toString(report.takeError());
    EXPECT_TRUE(isTuned) << text << ": " << winner;
  }
}

/// Tunes with changed templates and expects that every candidate is found wrong.
static void expectWrong(const std::string &problem, const std::string &from,
                        const std::string &to) {
  const TemporaryFolder cache;
  const TemporaryFolder templates;
  copyTemplates(templates.path() + "/t", from, to);
  Result<Engine> engine = openEngine(cache.path(), templates.path() + "/t");
  ASSERT_OK(engine);

  const Outcome outcome = outcomeOf(tune(*engine, problemOf(problem), {.topK = 2}));

  EXPECT_FALSE(outcome.isOk) << from << " -> " << to;
  EXPECT_EQ(outcome.code, ErrorCode::Internal) << outcome.message;
  EXPECT_NE(outcome.message.find("2 wrong_result"), std::string::npos) << outcome.message;
  Store &store = *engine->internals().store();
  EXPECT_EQ(store.stats().winners, 0);
  const WinnerKey key = llvm::cantFail(engine->internals().winnerKey(problemOf(problem)));
  EXPECT_FALSE(store.findWinner(key));
  const std::vector<Trial> trials = store.findTrials(key);
  EXPECT_EQ(std::count_if(trials.begin(), trials.end(),
                          [](const Trial &trial) { return trial.status == "wrong_result"; }),
            2);
  // The engine refuses as well, and still works with a configuration that the caller forces.
  EXPECT_FAILS(engine->prepare(problemOf(problem)), ErrorCode::Internal);
  EXPECT_OK(engine->prepare(problemOf(problem), trials.front().config));
}

TEST(TuneWrongKernelTest, NeverWinsWithoutTheScaleOfB) {
  expectWrong(kGemm, "__fmul_rn(scaleA, scaleB)", "scaleA");
}

TEST(TuneWrongKernelTest, NeverWinsWithoutAlpha) {
  expectWrong(kGemm, "__fmul_rn(params.alpha, sum.tile[i][j][half * 2 + 1])",
              "sum.tile[i][j][half * 2 + 1]");
}

TEST(TuneWrongKernelTest, NeverWinsWhenItForgetsTheLastColumn) {
  expectWrong("gemm m=40 n=97 k=256 sa=row sb=row", "column < place.columnsLeft",
              "column + 1 < place.columnsLeft");
}

TEST(TuneWrongKernelTest, NeverWinsWithAnInexactQuantizationScale) {
  expectWrong("quant m=70 n=200 s=1x128", "__fdiv_rn(448.0F, amax)", "__fdiv_rn(447.0F, amax)");
}

TEST(TuneTest, ATemplateWithoutItsKernelIsReported) {
  const TemporaryFolder templates;
  copyTemplates(templates.path() + "/t", "fp8jit_gemm(", "renamed_gemm(");
  Result<Engine> engine = openEngine("none", templates.path() + "/t");
  ASSERT_OK(engine);

  const Outcome outcome =
      outcomeOf(engine->prepare(problemOf(kGemm), "mma tile=64x32x128 warps=2x2 stages=4 group=8"));

  EXPECT_EQ(outcome.code, ErrorCode::CompileError) << outcome.message;
  EXPECT_NE(outcome.message.find("look for it in the template"), std::string::npos)
      << outcome.message;
}

TEST(TuneTest, ATemplateThatDoesNotCompileIsReported) {
  const TemporaryFolder cache;
  const TemporaryFolder templates;
  copyTemplates(templates.path() + "/t", "__fmul_rn(scaleA, scaleB)", "fmulOf(scaleA, scaleB)");
  Result<Engine> engine = openEngine(cache.path(), templates.path() + "/t");
  ASSERT_OK(engine);

  const Outcome outcome = outcomeOf(tune(*engine, problemOf(kGemm), {.topK = 2}));

  EXPECT_EQ(outcome.code, ErrorCode::CompileError) << outcome.message;
  EXPECT_NE(outcome.message.find("2 compile_error"), std::string::npos) << outcome.message;
  EXPECT_EQ(engine->internals().store()->stats().winners, 0);
}

TEST(TuneTest, RefusesWhatCannotBeTuned) {
  Result<Engine> engine = openEngine("none");
  ASSERT_OK(engine);
  GemmProblem negative;
  negative.m = -1;

  EXPECT_FAILS(tune(*engine, problemOf("gemm m=0 n=8 k=8")), ErrorCode::InvalidArgument);
  EXPECT_FAILS(tune(*engine, negative), ErrorCode::InvalidArgument);
  EXPECT_FAILS(tune(*engine, problemOf("gemm m=8 n=8 k=8 c=f32")), ErrorCode::Unsupported);
}

TEST(TuneTest, StopsWhenCancelled) {
  const TemporaryFolder cache;
  Result<Engine> engine = openEngine(cache.path());
  ASSERT_OK(engine);
  const std::atomic<bool> cancel{true};

  EXPECT_FAILS(tune(*engine, problemOf(kGemm), {.cancel = &cancel}), ErrorCode::Cancelled);

  EXPECT_EQ(engine->internals().store()->stats().winners, 0);
}

TEST(TuneTest, WithoutTimeItStillTimesOne) {
  Result<Engine> engine = openEngine("none");
  ASSERT_OK(engine);

  llvm::Expected<TuneReport> report = tune(*engine, problemOf(kGemm), {.budgetSeconds = 0});

  ASSERT_OK(report);
  EXPECT_EQ(report->checked, 1);
  EXPECT_FALSE(report->winner.empty());
}

TEST(TuneTest, ReportsItsProgress) {
  Result<Engine> engine = openEngine("none");
  ASSERT_OK(engine);
  std::set<std::string> steps;

  llvm::Expected<TuneReport> report =
      tune(*engine, problemOf(kGemm), {.topK = 2, .onProgress = [&](const TuneProgress &progress) {
                                         steps.insert(progress.step.str());
                                         EXPECT_EQ(progress.total, 2);
                                         EXPECT_LE(progress.done, progress.total);
                                       }});

  ASSERT_OK(report);
  EXPECT_EQ(steps, (std::set<std::string>{"check", "compile", "time"}));
}

} // namespace fp8jit::testing
