// Which configuration serves a problem: the forced one, the winner of the cache, or the default.
// Main entry: chooseConfig.
#pragma once

#include "cache/store.h"
#include "fp8jit/engine.h"
#include "generator/config.h"
#include "runtime/engine_internals.h"

#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace fp8jit {

struct ConfigChoice {
  Config config;
  ConfigSource source = ConfigSource::Default;
  Provenance provenance = Provenance::Default;
  std::string kernelKey; ///< of a winner: its binary, which needs no compiler; else empty
  std::optional<WinnerKey> row = std::nullopt; ///< of a winner: where the cache keeps it
};

/// What the provenance of a stored winner means here: imported times were taken elsewhere, so
/// nothing on this device has measured them.
Provenance provenanceOf(llvm::StringRef text);

/// Reads and checks a configuration given by the caller. Errors: InvalidArgument.
llvm::Expected<ConfigChoice> forcedChoice(const Problem &problem, llvm::StringRef text,
                                          const GpuProfile &profile);

/// The winner for `problem`, if there is one that today's generator accepts for this device and
/// prints the same way. Rows of the device itself come before rows of its architecture alone; where
/// no compiler is present, rows of any compiler are looked at, because their binaries need none.
std::optional<ConfigChoice> winnerChoice(const Engine::Internals &internals,
                                         const Problem &problem);

} // namespace fp8jit
