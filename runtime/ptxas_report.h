// What ptxas says of a kernel, read from the NVRTC log (option -Xptxas -v). Main entry:
// parsePtxasReport.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace fp8jit {

/// The resources of one entry function.
struct PtxasEntry {
  std::string name;
  int registers = 0; ///< per thread
  int stackBytes = 0;
  int spillStoreBytes = 0;
  int spillLoadBytes = 0;
  int staticSmemBytes = 0;
  int barriers = 0;
};

/// A remark that costs speed or correctness, "C7504: Potential Performance Loss: ...".
struct PtxasAdvisory {
  std::string code; ///< "C7504"
  std::string text;
};

struct PtxasReport {
  std::vector<PtxasEntry> entries;       ///< in the order of the log
  std::vector<PtxasAdvisory> advisories; ///< each line once per occurrence
  std::vector<std::string> warnings;     ///< other ptxas warnings

  /// The named entry, or null.
  const PtxasEntry *find(llvm::StringRef name) const;
};

/// Reads a log; lines of other tools are skipped. Never fails: what is absent stays 0. Format:
/// ptxas of CUDA 12 and 13, "Compiling entry function", "Function properties", "Used N registers",
/// "(C7xxx)".
PtxasReport parsePtxasReport(llvm::StringRef log);

} // namespace fp8jit
