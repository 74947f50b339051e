// Choosing the winner, storing and reporting.
#include "support/error.h"
#include "tuner/tuning.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace fp8jit {

/// Times closer than this are the same time; the better rank decides.
static constexpr double kTieBand = 0.01;

double medianOf(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

int chooseFastest(const std::vector<double> &times, double tieBand) {
  double fastest = 0;
  for (const double time : times) {
    if (time > 0 && (fastest == 0 || time < fastest)) {
      fastest = time;
    }
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i] > 0 && times[i] <= fastest * (1 + tieBand)) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

/// The spread of the samples of the fastest candidate, as a share: twice the median absolute
/// deviation.
static double noiseOf(const std::vector<TuningCandidate> &candidates) {
  const TuningCandidate *fastest = nullptr;
  for (const TuningCandidate &candidate : candidates) {
    if (candidate.timeNs > 0 && (fastest == nullptr || candidate.timeNs < fastest->timeNs)) {
      fastest = &candidate;
    }
  }
  if (fastest == nullptr) {
    return 0;
  }
  std::vector<double> deviations;
  for (const double sample : fastest->samplesNs) {
    deviations.push_back(std::fabs(sample - fastest->timeNs));
  }
  return 2 * medianOf(deviations) / fastest->timeNs;
}

TuningCandidate *Tuning::choose(double &margin) {
  std::vector<double> times;
  for (const TuningCandidate &candidate : candidates_) {
    times.push_back(candidate.status == "ok" ? candidate.timeNs : 0);
  }
  const int index = chooseFastest(times, std::max(kTieBand, noiseOf(candidates_)));
  if (index < 0) {
    return nullptr;
  }
  TuningCandidate &winner = candidates_[static_cast<std::size_t>(index)];
  double runnerUp = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (static_cast<int>(i) != index && times[i] > 0 && (runnerUp == 0 || times[i] < runnerUp)) {
      runnerUp = times[i];
    }
  }
  margin = runnerUp / winner.timeNs;
  return &winner;
}

std::string Tuning::provenance() const {
  return engine_.isEmulated() ? "modelled" : "measured";
}

void Tuning::warn(llvm::Error error) {
  if (error) {
    warnings_.push_back(takeFailure(std::move(error)).text());
  }
}

void Tuning::storeTrials() {
  if (internals_.store() == nullptr) {
    return;
  }
  std::vector<Trial> trials;
  for (const TuningCandidate &candidate : candidates_) {
    trials.push_back({.config = candidate.text,
                      .status = candidate.status,
                      .provenance = provenance(),
                      .kernelKey = candidate.built ? candidate.built->key : std::string(),
                      .timeNs = candidate.timeNs,
                      .modelNs = candidate.modelNs,
                      .relError = candidate.relError,
                      .message = candidate.message});
  }
  warn(internals_.store()->putTrials(key_, trials));
}

void Tuning::storeWinner(const TuningCandidate &winner, double margin) {
  if (internals_.store() == nullptr) {
    return;
  }
  warn(internals_.store()->putWinner(key_, {.config = winner.text,
                                            .provenance = provenance(),
                                            .kernelKey = winner.built->key,
                                            .timeNs = winner.timeNs,
                                            .margin = margin}));
  internals_.forgetChoice(problem_);
}

/// What to say when nothing won: how many ended how, and the first of them in full.
llvm::Error Tuning::noWinner() const {
  std::map<std::string, int> counts;
  const TuningCandidate *first = nullptr;
  for (const TuningCandidate &candidate : candidates_) {
    if (candidate.status == "pruned_model") {
      continue;
    }
    ++counts[candidate.status];
    first = first == nullptr ? &candidate : first;
  }
  std::string text = llvm::formatv("no configuration of '{0}' may be used", key_.problem).str();
  for (const auto &[status, count] : counts) {
    text += llvm::formatv(", {0} {1}", count, status).str();
  }
  if (first != nullptr) {
    text += "; " + first->text + ": " + first->message;
  }
  const ErrorCode code = counts["wrong_result"] > 0    ? ErrorCode::Internal
                         : counts["launch_error"] > 0  ? ErrorCode::DriverError
                         : counts["compile_error"] > 0 ? ErrorCode::CompileError
                                                       : ErrorCode::Internal;
  return fail(code, text);
}

TuneReport Tuning::report(const TuningCandidate &winner, double margin) const {
  TuneReport report;
  report.problem = key_.problem;
  report.winner = winner.text;
  report.kernelKey = winner.built->key;
  report.timeUs = winner.timeNs / 1000;
  report.margin = margin;
  report.provenance = engine_.isEmulated() ? Provenance::Modelled : Provenance::Measured;
  report.compiled = compiled_;
  report.checked = checked_;
  report.warnings = warnings_;
  for (const TuningCandidate &candidate : candidates_) {
    report.candidates.push_back({.config = candidate.text,
                                 .status = candidate.status,
                                 .timeUs = candidate.timeNs / 1000,
                                 .modelUs = candidate.modelNs / 1000,
                                 .relError = candidate.relError,
                                 .message = candidate.message});
  }
  return report;
}

} // namespace fp8jit
