// A tile configuration of any kernel family, its text form and the configuration space. Main
// entries: candidateConfigs, defaultConfig, printConfig, parseConfig.
#pragma once

#include "fp8jit/problem.h"
#include "generator/profiles/gpu_profile.h"
#include "templates/shared/gemm_config.h"
#include "templates/shared/quant_config.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

namespace fp8jit {

/// With GemmConfig's own: equality of Config.
inline bool operator==(const QuantConfig &a, const QuantConfig &b) {
  return a.threads == b.threads && a.vectorBytes == b.vectorBytes &&
         a.unitsPerBlock == b.unitsPerBlock;
}

using Config = std::variant<GemmConfig, QuantConfig>;

/// The text that --config takes, for example "mma tile=128x128x128 warps=2x4 stages=3 group=8".
std::string printConfig(const Config &config);

/// Reads printConfig's form. Errors: InvalidArgument naming the field, found and expected.
llvm::Expected<Config> parseConfig(llvm::StringRef text);

/// Whether this build can serve a valid `problem` on `profile`. Errors: Unsupported, naming what
/// works.
llvm::Error checkSupported(const Problem &problem, const GpuProfile &profile);

/// Whether `config` fits the problem and the device (kind, isValid, shared memory). Errors:
/// InvalidArgument.
llvm::Error checkConfig(const Problem &problem, const Config &config, const GpuProfile &profile);

/// How many configurations are offered for one problem at the most.
inline constexpr std::size_t kMostCandidates = 24;

/// The configurations offered to tuning: at most kMostCandidates, by rules, in a fixed order, each
/// passing checkConfig. `problem` must pass checkSupported.
std::vector<Config> candidateConfigs(const Problem &problem, const GpuProfile &profile);

/// The configuration used without tuning; one of candidateConfigs.
Config defaultConfig(const Problem &problem, const GpuProfile &profile);

} // namespace fp8jit
