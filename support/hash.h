// SHA-256, the one digest of keys and payloads. Main entries: sha256, sha256HexOfParts.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace fp8jit {

/// The SHA-256 of `bytes`: 32 raw bytes.
std::string sha256(llvm::StringRef bytes);

/// One SHA-256 over a list of texts, 64 hex digits. Each part enters as its length (8 bytes,
/// little endian) and its bytes, so ("ab", "c") and ("a", "bc") differ.
std::string sha256HexOfParts(llvm::ArrayRef<llvm::StringRef> parts);

} // namespace fp8jit
