// Opening the store's file: the folder's rules, versions, damaged files. Main entry: openStoreFile.
//
//   inspect --usable--------------------------------> go
//           --empty: create the schema--------------> go
//           --newer, readable by this version-------> go, reading only
//           --newer, not readable-------------------> start again with the second file name
//           --foreign or damaged: move it aside-----> start again, once
//           --anything else-------------------------> CacheError
#pragma once

#include "cache/sqlite.h"
#include "cache/store.h"

namespace fp8jit {

/// A file that passed inspection.
struct StoreFile {
  Database database; ///< for look-ups; waits 50 ms for a lock
  std::string path;
  bool isReadOnly = false;
  std::uint64_t inode = 0; ///< tells whether `path` still is this file
};

/// Opens or creates the file in options.directory. Errors: CacheError.
llvm::Expected<StoreFile> openStoreFile(const Store::Options &options);

/// Renames the file `path`, if it still is `inode`, with its journals to
/// path.corrupt-<UTC>-<pid>, and keeps the three newest of those. Serialised between processes by a
/// lock file. No connection to the file may be open in this process. Errors: CacheError.
llvm::Error moveStoreFileAside(const std::string &path, std::uint64_t inode);

/// The inode of `path`, or 0.
std::uint64_t inodeOf(const std::string &path);

inline constexpr int kLookupWaitMs = 50;
inline constexpr int kWriteWaitMs = 30000;

} // namespace fp8jit
