#include "runtime/config_choice.h"

#include "generator/problem_text.h"
#include "support/error.h"

#include "llvm/ADT/StringExtras.h"

#include <array>
#include <utility>

namespace fp8jit {

llvm::Expected<ConfigChoice> forcedChoice(const Problem &problem, llvm::StringRef text,
                                          const GpuProfile &profile) {
  llvm::Expected<Config> config = parseConfig(text);
  if (!config) {
    return config.takeError();
  }
  if (llvm::Error error = checkConfig(problem, *config, profile)) {
    return error;
  }
  return ConfigChoice{.config = std::move(*config),
                      .source = ConfigSource::Forced,
                      .provenance = Provenance::Default,
                      .kernelKey = {}};
}

Provenance provenanceOf(llvm::StringRef text) {
  return text == "measured" ? Provenance::Measured : Provenance::Modelled;
}

/// The choice that a stored winner stands for; nothing if it does not fit any more.
static std::optional<ConfigChoice> acceptWinner(const Problem &problem, const WinnerKey &row,
                                                const Winner &winner, const GpuProfile &profile) {
  llvm::Expected<ConfigChoice> choice = forcedChoice(problem, winner.config, profile);
  if (!choice) {
    llvm::consumeError(choice.takeError()); // a row of another version is a miss, not an error
    return std::nullopt;
  }
  if (printConfig(choice->config) != winner.config) {
    return std::nullopt;
  }
  choice->source = ConfigSource::Winner;
  choice->provenance = provenanceOf(winner.provenance);
  choice->kernelKey = winner.kernelKey;
  choice->row = row;
  return std::move(*choice);
}

/// Without a compiler its identity is unknown: any row of this problem, target and template set
/// will do.
static std::optional<ConfigChoice> winnerOfAnyCompiler(const Engine::Internals &internals,
                                                       const Problem &problem,
                                                       llvm::ArrayRef<std::string> targets) {
  const GpuProfile &profile = internals.profile();
  const std::string bucket = printBucketKey(problem);
  const std::string toolchain =
      toolchainText("", profile.arch, internals.builder().templates().hash());
  const std::vector<ListedWinner> rows = internals.store()->listWinners();
  for (const std::string &target : targets) {
    for (const ListedWinner &row : rows) {
      if (row.key.problem == bucket && row.key.target == target &&
          llvm::StringRef(row.key.toolchain).startswith(toolchain)) {
        if (std::optional<ConfigChoice> choice =
                acceptWinner(problem, row.key, row.winner, profile)) {
          return choice;
        }
      }
    }
  }
  return std::nullopt;
}

std::optional<ConfigChoice> winnerChoice(const Engine::Internals &internals,
                                         const Problem &problem) {
  if (internals.store() == nullptr) {
    return std::nullopt;
  }
  const Device &device = internals.device();
  const std::array<std::string, 2> targets = {device.targetText(), device.arch()};
  llvm::Expected<WinnerKey> key = internals.winnerKey(problem);
  if (!key) {
    llvm::consumeError(key.takeError()); // reported by whoever has to compile
    return winnerOfAnyCompiler(internals, problem, targets);
  }
  for (const std::string &target : targets) {
    key->target = target;
    if (const std::optional<Winner> winner = internals.store()->findWinner(*key)) {
      if (std::optional<ConfigChoice> choice =
              acceptWinner(problem, *key, *winner, internals.profile())) {
        return choice;
      }
    }
  }
  return std::nullopt;
}

} // namespace fp8jit
