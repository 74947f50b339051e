// The steps of a run that need the device or the compiler; choosing and reporting is in
// tuning_report.cpp.
#include "tuner/tuning.h"

#include "generator/problem_text.h"
#include "runtime/ptxas_report.h"
#include "support/error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <thread>

namespace fp8jit {

/// Rounds over all candidates on a real device; interleaved, so that a drift of the clocks touches
/// all of them.
static constexpr int kRounds = 7;
/// Launches between two events: about a millisecond, so that the events cost nothing.
static constexpr double kSampleNs = 1e6;
static constexpr double kMostLaunches = 50;
/// Compilation scales to about two threads, and the caller may have use for the rest.
static constexpr int kCompileThreads = 2;

Tuning::Tuning(Engine &engine, const Problem &problem, const TuneOptions &options, WinnerKey key)
    : engine_(engine), internals_(engine.internals()), problem_(problem), options_(options),
      key_(std::move(key)),
      deadline_(std::chrono::steady_clock::now() +
                std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                    std::chrono::duration<double>(options.budgetSeconds))) {}

bool Tuning::isExpired() const {
  return std::chrono::steady_clock::now() >= deadline_;
}

bool Tuning::isCancelled() const {
  return options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed);
}

static llvm::Error cancelled() {
  return fail(ErrorCode::Cancelled, "tuning was cancelled; no winner was stored");
}

void Tuning::progress(llvm::StringRef step, const TuningCandidate &candidate, int done) const {
  if (options_.onProgress) {
    options_.onProgress({.step = step,
                         .config = candidate.text,
                         .done = done,
                         .total = static_cast<int>(chosen_.size())});
  }
}

void Tuning::rank() {
  const GpuProfile &profile = internals_.profile();
  // Cost grows with m, so the edge is what a bucket is tuned for.
  const Problem edge = atBucketEdge(problem_);
  for (RankedConfig &ranked : rankConfigs(edge, candidateConfigs(edge, profile), profile)) {
    TuningCandidate candidate;
    candidate.config = ranked.config;
    candidate.text = printConfig(ranked.config);
    candidate.modelNs = ranked.modelNs;
    candidates_.push_back(std::move(candidate));
  }
  excludeCrashed();
  const Config standard = defaultConfig(edge, profile);
  const auto wanted = static_cast<std::size_t>(std::max(options_.topK, 1));
  for (TuningCandidate &candidate : candidates_) {
    if (candidate.status == "pruned_model" && chosen_.size() < wanted) {
      chosen_.push_back(&candidate);
    }
  }
  // What serves without tuning is always measured against: tuning must not make it worse.
  const auto found = llvm::find_if(candidates_, [&](const TuningCandidate &candidate) {
    return candidate.config == standard && candidate.status == "pruned_model";
  });
  if (found != candidates_.end() && !llvm::is_contained(chosen_, &*found)) {
    if (chosen_.size() == wanted && wanted > 1) {
      chosen_.pop_back();
    }
    chosen_.push_back(&*found);
  }
}

/// Leaves out what ended a process or the device's context before on this target and toolchain.
void Tuning::excludeCrashed() {
  if (internals_.store() == nullptr) {
    return;
  }
  std::vector<std::string> excluded = internals_.store()->findQuarantined(key_);
  for (const Trial &trial : internals_.store()->findTrials(key_)) {
    if (trial.status == "launch_error" || trial.status == "crashed") {
      excluded.push_back(trial.config);
    }
  }
  for (TuningCandidate &candidate : candidates_) {
    if (llvm::is_contained(excluded, candidate.text)) {
      candidate.status = "invalid";
      candidate.message = "a launch of it failed before";
    }
  }
}

std::string reasonAgainst(const StoredBinary &binary) {
  for (const StoredEntry &entry : binary.entries) {
    if (entry.spillBytes > 0) {
      return llvm::formatv("{0} spills {1} bytes of registers", entry.name, entry.spillBytes).str();
    }
  }
  const PtxasReport report = parsePtxasReport(binary.log);
  return report.advisories.empty() ? std::string()
                                   : "ptxas advises against it: " + report.advisories[0].text;
}

void Tuning::compileOne(TuningCandidate &candidate) {
  llvm::Expected<std::shared_ptr<const BuiltKernel>> built =
      internals_.builder().build(problem_, candidate.config, internals_.profile());
  if (!built) {
    FailureInfo failure = takeFailure(built.takeError());
    candidate.status = "compile_error";
    candidate.message = std::string(codeName(failure.code())) + ": " + failure.text();
    return;
  }
  candidate.built = std::move(*built);
  candidate.message = reasonAgainst(candidate.built->binary);
  if (!candidate.message.empty()) {
    candidate.status = "invalid";
  }
}

llvm::Error Tuning::compile() {
  std::atomic<std::size_t> next{0};
  std::atomic<int> done{0};
  const auto work = [&](bool isReporter) {
    for (std::size_t i = next++; i < chosen_.size(); i = next++) {
      // One is compiled whatever the time, so that there is something to win.
      if (isCancelled()) {
        return;
      }
      if (i > 0 && isExpired()) {
        chosen_[i]->message = "out of time";
        continue;
      }
      compileOne(*chosen_[i]);
      const int count = ++done;
      if (isReporter) {
        progress("compile", *chosen_[i], count);
      }
    }
  };
  {
    std::vector<std::thread> helpers;
    for (int i = 1; i < kCompileThreads; ++i) {
      helpers.emplace_back(work, false);
    }
    work(true);
    for (std::thread &helper : helpers) {
      helper.join();
    }
  }
  compiled_ = static_cast<int>(llvm::count_if(
      chosen_, [](const TuningCandidate *candidate) { return candidate->built != nullptr; }));
  return isCancelled() ? cancelled() : llvm::Error::success();
}

/// A launch that failed leaves the candidate out; when it took the context with it, the run ends.
llvm::Error Tuning::checkOne(TrialBench &bench, TuningCandidate &candidate) {
  const auto launchFailed = [&](llvm::Error error) -> llvm::Error {
    const FailureInfo failure = takeFailure(std::move(error));
    candidate.status = "launch_error";
    candidate.message = failure.text();
    candidate.loaded = nullptr;
    if (llvm::Error lost = bench.device().synchronize()) {
      return fail(failure.code(),
                  "running " + candidate.text + ": " + failure.text() +
                      "; the device takes no more work from this process, and the next tuning "
                      "leaves this configuration out (" +
                      takeFailure(std::move(lost)).text() + ")",
                  failure.details());
    }
    return llvm::Error::success();
  };
  llvm::Expected<std::shared_ptr<const LoadedKernel>> loaded =
      LoadedKernel::load(internals_.sharedDevice(), candidate.built, candidate.config);
  if (!loaded) {
    return launchFailed(loaded.takeError());
  }
  candidate.loaded = std::move(*loaded);
  llvm::Expected<CheckResult> result = bench.check(*candidate.loaded);
  if (!result) {
    return launchFailed(result.takeError());
  }
  ++checked_;
  candidate.relError = result->relError;
  if (result->isRight) {
    candidate.status = "ok";
  } else {
    candidate.status = "wrong_result";
    candidate.message = result->message;
    candidate.loaded = nullptr;
  }
  return llvm::Error::success();
}

llvm::Error Tuning::check() {
  llvm::Expected<std::unique_ptr<TrialBench>> bench =
      TrialBench::create(internals_.sharedDevice(), problem_, options_.seed);
  if (!bench) {
    return bench.takeError();
  }
  bench_ = std::move(*bench);
  int done = 0;
  for (TuningCandidate *candidate : chosen_) {
    ++done;
    if (isCancelled()) {
      return cancelled();
    }
    if (candidate->built == nullptr || candidate->status == "invalid") {
      continue;
    }
    const bool isAnyRight =
        llvm::any_of(chosen_, [](const TuningCandidate *other) { return other->status == "ok"; });
    if (isAnyRight && isExpired()) {
      candidate->message = "out of time";
      continue;
    }
    if (internals_.store() != nullptr) {
      warn(internals_.store()->markStarted(key_, candidate->text));
    }
    if (llvm::Error error = checkOne(*bench_, *candidate)) {
      return error;
    }
    progress("check", *candidate, done);
  }
  return llvm::Error::success();
}

llvm::Error Tuning::timeRound(TrialBench &bench, int launches) {
  for (TuningCandidate *candidate : chosen_) {
    if (candidate->loaded == nullptr) {
      continue;
    }
    llvm::Expected<double> time = bench.timeNs(*candidate->loaded, launches);
    if (!time) {
      candidate->status = "launch_error";
      return addContext(time.takeError(), "timing " + candidate->text);
    }
    candidate->samplesNs.push_back(*time);
  }
  return llvm::Error::success();
}

/// Modelled times do not vary: one launch tells them. Real ones are sampled in rounds, the first of
/// which warms up and finds how many launches make a sample.
llvm::Error Tuning::time(TrialBench &bench) {
  if (llvm::Error error = timeRound(bench, 1)) {
    return error;
  }
  if (!bench.device().isEmulated()) {
    double fastest = kSampleNs;
    for (TuningCandidate *candidate : chosen_) {
      if (!candidate->samplesNs.empty()) {
        fastest = std::min(fastest, candidate->samplesNs.front());
      }
    }
    const int launches = static_cast<int>(std::clamp(kSampleNs / fastest, 1.0, kMostLaunches));
    for (TuningCandidate *candidate : chosen_) {
      candidate->samplesNs.clear();
    }
    for (int round = 0; round < kRounds && (round == 0 || !isExpired()); ++round) {
      if (llvm::Error error = timeRound(bench, launches)) {
        return error;
      }
    }
  }
  int done = 0;
  for (TuningCandidate *candidate : chosen_) {
    candidate->timeNs = medianOf(candidate->samplesNs);
    candidate->loaded = nullptr;
    progress("time", *candidate, ++done);
  }
  return llvm::Error::success();
}

llvm::Expected<TuneReport> Tuning::run() {
  rank();
  llvm::Error error = compile();
  if (!error && compiled_ > 0) {
    error = check();
  }
  if (!error && bench_ != nullptr) {
    error = time(*bench_);
  }
  storeTrials();
  if (error) {
    return error;
  }
  double margin = 0;
  const TuningCandidate *winner = choose(margin);
  if (winner == nullptr) {
    return noWinner();
  }
  storeWinner(*winner, margin);
  return report(*winner, margin);
}

} // namespace fp8jit
