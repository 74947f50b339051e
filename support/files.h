// Reading files and replacing them whole. Main entries: readFileRange, writeFileAtomically,
// checkWritable.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>

namespace fp8jit {

/// Size of the regular file `path`. Errors: NotFound if there is none; InvalidArgument if it is not
/// a regular file or cannot be looked at.
llvm::Expected<std::int64_t> fileSize(llvm::StringRef path);

/// The same for a file that this process may read. Errors: as fileSize; InvalidArgument if not.
llvm::Expected<std::int64_t> readableFileSize(llvm::StringRef path);

/// Exactly `sizeBytes` bytes of `path` from `offset` on. Errors: as fileSize; InvalidArgument if it
/// cannot be read or is shorter.
llvm::Expected<std::string> readFileRange(llvm::StringRef path, std::int64_t offset,
                                          std::int64_t sizeBytes);

/// The same, into memory of the caller: as many bytes as `bytes` has.
llvm::Error readFileInto(llvm::StringRef path, std::int64_t offset,
                         llvm::MutableArrayRef<std::uint8_t> bytes);

/// The whole file. Errors: as readFileRange.
llvm::Expected<std::string> readFile(llvm::StringRef path);

/// One spelling for all names of a file, which need not exist: absolute, without links and dots as
/// far as its folder exists.
std::string canonicalPath(llvm::StringRef path);

/// Whether writeFileAtomically(path) would work now, tried by making a temporary file beside it.
/// `path` and what it holds stay as they are. Errors: InvalidArgument with the reason.
llvm::Error checkWritable(llvm::StringRef path);

/// Replaces or makes `path` with `parts`, one after the other: readers see the old file or the new
/// one, never half of it. Errors: InvalidArgument with the reason; the old file then stays.
llvm::Error writeFileAtomically(llvm::StringRef path, llvm::ArrayRef<llvm::StringRef> parts);

} // namespace fp8jit
