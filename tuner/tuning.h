// One run of the tuner: the candidates and what becomes of them. Main entry: Tuning::run.
//
//   rank -> compile the best few -> check each on poisoned outputs -> time the right ones -> store
//
// A candidate's status only ever moves from pruned_model to its final one, so whatever ends the run
// early, the trials say how far each came.
#pragma once

#include "runtime/engine_internals.h"
#include "tuner/cost_estimate.h"
#include "tuner/trial_bench.h"
#include "tuner/tuner.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace fp8jit {

/// A configuration on its way through the run.
struct TuningCandidate {
  Config config;
  std::string text;
  double modelNs = 0;
  std::string status = "pruned_model";
  std::string message;
  double relError = 0;
  double timeNs = 0; ///< median of the samples
  std::shared_ptr<const BuiltKernel> built;
  std::shared_ptr<const LoadedKernel> loaded; ///< only while it is right and waits to be timed
  std::vector<double> samplesNs;
};

/// Not thread safe; used once.
class Tuning {
public:
  Tuning(Engine &engine, const Problem &problem, const TuneOptions &options, WinnerKey key);

  /// The whole run. Errors: as tune().
  llvm::Expected<TuneReport> run();

private:
  void rank();
  void excludeCrashed();
  llvm::Error compile();
  void compileOne(TuningCandidate &candidate);
  llvm::Error check();
  llvm::Error checkOne(TrialBench &bench, TuningCandidate &candidate);
  llvm::Error time(TrialBench &bench);
  llvm::Error timeRound(TrialBench &bench, int launches);
  TuningCandidate *choose(double &margin);
  void storeTrials();
  void storeWinner(const TuningCandidate &winner, double margin);
  llvm::Error noWinner() const;
  TuneReport report(const TuningCandidate &winner, double margin) const;

  bool isExpired() const;
  bool isCancelled() const;
  void progress(llvm::StringRef step, const TuningCandidate &candidate, int done) const;
  void warn(llvm::Error error);
  std::string provenance() const;

  Engine &engine_;
  Engine::Internals &internals_;
  const Problem problem_;
  const TuneOptions &options_;
  const WinnerKey key_;
  const std::chrono::steady_clock::time_point deadline_;
  std::vector<TuningCandidate> candidates_; ///< by rising estimate
  std::vector<TuningCandidate *> chosen_;   ///< those that are compiled
  std::unique_ptr<TrialBench> bench_;
  int compiled_ = 0, checked_ = 0;
  std::vector<std::string> warnings_;
};

/// Why the binary is not offered although it compiled (spills, advisories of ptxas); empty if it
/// is.
std::string reasonAgainst(const StoredBinary &binary);

/// The median; 0 for no values.
double medianOf(std::vector<double> values);

/// The index of the winner: among `times` (0: not timed), in order of rank, the first that is
/// within `tieBand` (a share) of the fastest. -1 if none is timed.
int chooseFastest(const std::vector<double> &times, double tieBand);

} // namespace fp8jit
