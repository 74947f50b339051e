// tune() and the hook: answer from the cache, or run.
#include "tuner/tuner.h"

#include "generator/problem_text.h"
#include "runtime/config_choice.h"
#include "runtime/prepared_kernel.h"
#include "runtime/result.h"
#include "support/error.h"
#include "tuner/tuning.h"

#include <algorithm>
#include <mutex>
#include <optional>

namespace fp8jit {

static llvm::Error checkProblem(const Engine::Internals &internals, const Problem &problem) {
  if (llvm::Error error = validateProblem(problem)) {
    return error;
  }
  if (llvm::Error error = checkSupported(problem, internals.profile())) {
    return error;
  }
  if (isEmpty(problem)) {
    return fail(ErrorCode::InvalidArgument, "problem '" + printProblem(problem) +
                                                "' writes nothing, expected m and n of 1 or more");
  }
  return llvm::Error::success();
}

/// The report of an earlier run, if its winner still serves. Needs no compiler.
static std::optional<TuneReport> storedReport(Engine::Internals &internals,
                                              const Problem &problem) {
  const std::optional<ConfigChoice> choice = winnerChoice(internals, problem);
  if (!choice || choice->row->target != internals.device().targetText()) {
    return std::nullopt; // a row of the architecture alone: tune for the device
  }
  const WinnerKey &key = *choice->row;
  const std::optional<Winner> winner = internals.store()->findWinner(key);
  if (!winner) {
    return std::nullopt; // removed meanwhile
  }
  TuneReport report;
  report.problem = key.problem;
  report.winner = winner->config;
  report.kernelKey = winner->kernelKey;
  report.timeUs = winner->timeNs / 1000;
  report.margin = winner->margin;
  report.provenance = provenanceOf(winner->provenance);
  report.isFromCache = true;
  for (const Trial &trial : internals.store()->findTrials(key)) {
    report.candidates.push_back({.config = trial.config,
                                 .status = trial.status,
                                 .timeUs = trial.timeNs / 1000,
                                 .modelUs = trial.modelNs / 1000,
                                 .relError = trial.relError,
                                 .message = trial.message});
  }
  return report;
}

/// Timed ones first, fastest first; the others by estimate.
static void sortCandidates(std::vector<TuneCandidate> &candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const TuneCandidate &a, const TuneCandidate &b) {
                     const bool isTimedA = a.status == "ok";
                     const bool isTimedB = b.status == "ok";
                     if (isTimedA != isTimedB) {
                       return isTimedA;
                     }
                     return isTimedA ? a.timeUs < b.timeUs : a.modelUs < b.modelUs;
                   });
}

llvm::Expected<TuneReport> tune(Engine &engine, const Problem &problem,
                                const TuneOptions &options) {
  Engine::Internals &internals = engine.internals();
  if (llvm::Error error = checkProblem(internals, problem)) {
    return error;
  }
  if (!options.isForced) {
    if (std::optional<TuneReport> stored = storedReport(internals, problem)) {
      sortCandidates(stored->candidates);
      return std::move(*stored);
    }
  }
  llvm::Expected<WinnerKey> key = internals.winnerKey(problem);
  if (!key) {
    return key.takeError();
  }
  llvm::Expected<TuneReport> report = Tuning(engine, problem, options, std::move(*key)).run();
  if (report) {
    sortCandidates(report->candidates);
  }
  return report;
}

namespace {

class Hook final : public TunerHook {
public:
  explicit Hook(TuneOptions options) : options_(std::move(options)) {}

  Result<std::string> tune(Engine &engine, const Problem &problem) override {
    // One at a time: tunings disturb each other's times, and whoever waited finds the winner.
    const std::lock_guard lock(mutex_);
    llvm::Expected<TuneReport> report = fp8jit::tune(engine, problem, options_);
    if (!report) {
      return toPublicError(report.takeError());
    }
    return report->winner;
  }

private:
  const TuneOptions options_;
  std::mutex mutex_; ///< held for a whole tuning
};

} // namespace

std::shared_ptr<TunerHook> makeTunerHook(TuneOptions options) {
  return std::make_shared<Hook>(std::move(options));
}

} // namespace fp8jit
