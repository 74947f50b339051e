// Reading and writing the rows of the store, one file per kind: winner_rows.cpp, binary_rows.cpp,
// trial_rows.cpp. Writers run inside the caller's transaction and return Done on success.
#pragma once

#include "cache/sqlite.h"
#include "cache/store.h"

namespace fp8jit {

/// The digest of a text that rarely changes from one look-up to the next.
class RememberedDigest {
public:
  const std::string &of(const std::string &text);

private:
  std::string text_, digest_;
};

/// What the hot look-ups keep: their statements, prepared at first use, and the digests of the one
/// device and toolchain that a process asks for.
struct LookupStatements {
  Statement winner, binary, entries, blob;
  RememberedDigest target, toolchain;
};

/// Where a look-up runs. `rejectedRows` counts rows that failed verification.
struct RowReader {
  Database &database;
  LookupStatements &statements;
  std::int64_t &rejectedRows;
};

[[nodiscard]] SqlResult readWinner(RowReader reader, const WinnerKey &key,
                                   std::optional<Winner> &winner);
[[nodiscard]] SqlResult readAllWinners(RowReader reader, std::vector<ListedWinner> &winners);
[[nodiscard]] SqlResult writeWinner(RowReader reader, const WinnerKey &key, const Winner &winner);

/// `lastUsedAt`: seconds since 1970 at which the row was last touched.
[[nodiscard]] SqlResult readBinary(RowReader reader, llvm::StringRef key,
                                   std::optional<StoredBinary> &binary, std::int64_t &lastUsedAt);
[[nodiscard]] SqlResult writeBinary(RowReader reader, llvm::StringRef key,
                                    const StoredBinary &binary);
[[nodiscard]] SqlResult touchBinary(Database &database, llvm::StringRef key, std::int64_t now);
/// Drops the binaries that were not used for longest until the file is below four fifths of
/// `maxBytes`, if it is above nine tenths.
[[nodiscard]] SqlResult evictBinaries(Database &database, std::int64_t maxBytes);

[[nodiscard]] SqlResult readTrials(Database &database, const WinnerKey &key,
                                   std::vector<Trial> &trials);
[[nodiscard]] SqlResult writeTrials(Database &database, const WinnerKey &key,
                                    const std::vector<Trial> &trials);
/// Started trials of dead processes become crashed, with a strike each.
[[nodiscard]] SqlResult strikeCrashed(Database &database, const WinnerKey &key);
[[nodiscard]] SqlResult readQuarantined(Database &database, const WinnerKey &key,
                                        std::vector<std::string> &configs);

[[nodiscard]] SqlResult readStats(Database &database, StoreStats &stats);

/// The row ids of a key and a configuration.
struct RowIds {
  std::int64_t problem = 0, target = 0, toolchain = 0, config = 0;
};
/// Finds or adds the rows.
[[nodiscard]] SqlResult internKey(Database &database, const WinnerKey &key, llvm::StringRef config,
                                  RowIds &ids);

/// Binds a hex key as 32 bytes, or null for an empty one.
void bindHexKey(Statement &statement, int index, llvm::StringRef hex);

} // namespace fp8jit
