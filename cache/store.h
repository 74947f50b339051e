// The tuning store: winners, trials and compiled binaries in one SQLite file per user. Knows no
// GEMM: keys are text, payloads are bytes. Main entry: Store::open.
//
// Invariants
//  1. A bad row (checksum, codec, foreign text) is a miss, counted and skipped; a bad file is moved
//     aside and replaced; neither is ever an error of a look-up.
//  2. Every write is one BEGIN IMMEDIATE transaction; no transaction spans compiling or measuring.
//  3. A look-up waits at most 50 ms for a lock and is then a miss; a write waits at most 30 s. They
//     use a connection each, so that a look-up never stands behind a write of its own process.
#pragma once

#include "support/warning.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fp8jit {

/// What decides whether a winner may be used. All parts are canonical text and are compared
/// exactly.
struct WinnerKey {
  std::string problem{};   ///< bucket line, "gemm m<=64 n=..."
  std::string target{};    ///< device name and what distinguishes it, or an architecture alone
  std::string toolchain{}; ///< NVRTC identity, architecture flag, template hash
};

struct Winner {
  std::string config{};     ///< configuration text
  std::string provenance{}; ///< "measured", "modelled" or "imported"
  std::string kernelKey{};  ///< 64 hex digits of the binary
  double timeNs = 0;
  double margin = 0;          ///< time of the runner-up divided by timeNs; 0 if there was none
  std::int64_t updatedAt = 0; ///< seconds since 1970; filled by the store
};

/// One candidate that tuning looked at.
struct Trial {
  std::string config{};
  std::string status{}; ///< ok, pruned_model, invalid, compile_error, launch_error, wrong_result,
                        ///< timeout, crashed, started (see markStarted)
  std::string provenance{};
  std::string kernelKey{}; ///< empty if never compiled
  double timeNs = 0;       ///< median; 0 if never timed
  double modelNs = 0;      ///< estimate of the cost model
  double relError = 0;
  std::string message{};
};

struct StoredEntry {
  std::string name{};
  std::int32_t threads = 0, smemBytes = 0;
  std::int32_t registers = 0, spillBytes = 0, staticSmemBytes = 0;
};

/// A compiled program. `cubin` and `ptx` are stored zstd-compressed with the SHA-256 of their plain
/// bytes.
struct StoredBinary {
  std::string arch{}; ///< "sm_89"
  std::string cubin{};
  std::string ptx{};
  std::string log{}; ///< ptxas report
  double compileMs = 0;
  std::vector<StoredEntry> entries{};
};

struct StoreStats {
  std::int64_t winners = 0, trials = 0, binaries = 0;
  std::int64_t binaryBytes = 0; ///< stored (compressed)
  std::int64_t fileBytes = 0;
  std::int64_t rejectedRows = 0; ///< bad rows met since open
};

struct ListedWinner {
  WinnerKey key;
  Winner winner;
};

/// Thread safe. Not to be used across fork.
class Store {
public:
  struct Options {
    std::string directory; ///< created with mode 0700 if absent; the file is fp8jit-v1.db in it
    bool readOnly = false;
    /// Hard cap of the file. From nine tenths of it on, the binaries that were not used for longest
    /// give way; winners and trials stay.
    std::int64_t maxBytes = std::int64_t{2} << 30;
    WarningSink onWarning{}; ///< may be empty
  };
  /// Errors: CacheError saying what is wrong with the folder or file and what to do. Callers that
  /// can do without (the engine) turn it into one warning.
  static llvm::Expected<std::unique_ptr<Store>> open(Options options);
  ~Store();

  /// Look-ups: never an error. Nothing on a miss, a locked or damaged file, or a bad row.
  std::optional<Winner> findWinner(const WinnerKey &key);
  std::optional<StoredBinary> findBinary(llvm::StringRef kernelKey);
  std::vector<Trial> findTrials(const WinnerKey &key);
  std::vector<ListedWinner> listWinners();
  StoreStats stats();

  /// Replaces the winner of `key` if the new one has the higher confidence (measured, imported,
  /// modelled), or the same confidence and a time better by more than 1 %, or the same
  /// configuration (refresh); else keeps it, which is no error. Errors: CacheError; InvalidArgument
  /// for a kernelKey that is neither empty nor 64 lower-case hex digits.
  llvm::Error putWinner(const WinnerKey &key, const Winner &winner);
  /// Adds trials, each in place of an earlier trial of the same key and configuration. Errors as
  /// putWinner.
  llvm::Error putTrials(const WinnerKey &key, const std::vector<Trial> &trials);
  /// The crash marker: notes that this process is about to run `config`. A later putTrials with the
  /// same configuration replaces it. Errors: CacheError.
  llvm::Error markStarted(const WinnerKey &key, llvm::StringRef config);
  /// Turns started trials of `key` whose process is gone into crashed ones with a strike, and
  /// returns the configurations with two strikes or more on this target and toolchain. Empty when
  /// the cache cannot be written.
  std::vector<std::string> findQuarantined(const WinnerKey &key);
  /// Keeps an existing good row of the same key. Errors as putWinner.
  llvm::Error putBinary(llvm::StringRef kernelKey, const StoredBinary &binary);

  /// Path of the database file.
  const std::string &path() const;

private:
  class Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The cache folder by the ladder: `explicitDirectory`, FP8JIT_CACHE_DIR, $XDG_CACHE_HOME/fp8jit,
/// $HOME/.cache/fp8jit; empty if there is none.
std::string cacheDirectory(llvm::StringRef explicitDirectory);

/// The file of a store in `directory`, where no newer version of the program owns that name.
std::string storeFilePath(llvm::StringRef directory);

/// The store in cacheDirectory(requested), for callers that can do without: null for "none", and,
/// with one warning, where there is no folder or it cannot be used.
std::unique_ptr<Store> openUserStore(llvm::StringRef requested, const WarningSink &onWarning);

} // namespace fp8jit
