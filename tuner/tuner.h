// Finding the best configuration for a problem on a device: candidates by the generator's rules,
// ranked by an estimate, the best few compiled, each checked against a reference, then timed. Main
// entries: tune, makeTunerHook.
#pragma once

#include "fp8jit/engine.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace fp8jit {

/// One step forward, for a progress bar.
struct TuneProgress {
  llvm::StringRef step; ///< "compile", "check" or "time"
  llvm::StringRef config;
  int done = 0, total = 0; ///< candidates of this step, including this one
};

struct TuneOptions {
  /// No candidate is begun after this time. The first correct one is always timed.
  double budgetSeconds = 60;
  /// How many of the ranked candidates are compiled, checked and timed.
  int topK = 6;
  /// Seed of operands and samples.
  std::uint64_t seed = 1;
  /// Tune even where the cache knows a winner.
  bool isForced = false;
  std::function<void(const TuneProgress &)> onProgress{}; ///< called from the tuning thread
  const std::atomic<bool> *cancel = nullptr;              ///< true: stop with Cancelled
};

struct TuneCandidate {
  std::string config;
  /// ok, pruned_model (not among the best by estimate, or out of time), invalid (spills,
  /// advisories, or a crash before), compile_error, launch_error, wrong_result.
  std::string status;
  double timeUs = 0; ///< median; 0 unless ok
  double modelUs = 0;
  double relError = 0;
  std::string message; ///< what was wrong; else empty
};

struct TuneReport {
  std::string problem;   ///< the bucket line that the winner serves
  std::string winner;    ///< configuration text
  std::string kernelKey; ///< of the winner's binary
  double timeUs = 0;     ///< of the winner
  double margin = 0;     ///< time of the runner-up divided by timeUs; 0 if there is none
  Provenance provenance = Provenance::Modelled;
  bool isFromCache = false;              ///< answered by the cache; nothing was compiled or run
  int compiled = 0;                      ///< candidates that compiled, from the cache or anew
  int checked = 0;                       ///< candidates whose result was compared
  std::vector<TuneCandidate> candidates; ///< timed ones first, fastest first
  std::vector<std::string> warnings;     ///< what could not be stored, and why
};

/// Tunes `problem` on the engine's device and stores trials and winner in its cache, if it has one.
/// A problem whose winner is known is answered from the cache.
///
/// A candidate that gives a wrong result gets the status wrong_result and never wins. When no
/// candidate is left, nothing wins: the error says how many failed how, and the trials are stored.
/// Times are measured with a warm L2 on a real device, and modelled on an emulated one.
///
/// Errors: InvalidArgument, Unsupported (problem); CompileError, DriverError or Internal (no
/// candidate compiled, ran, was right); NvrtcNotFound; Cancelled. Thread safe, but two tunings of
/// one device disturb each other's times.
llvm::Expected<TuneReport> tune(Engine &engine, const Problem &problem,
                                const TuneOptions &options = {});

/// tune() as the engine calls it under OnMiss::Tune.
std::shared_ptr<TunerHook> makeTunerHook(TuneOptions options);

} // namespace fp8jit
