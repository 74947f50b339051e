// Bytes as the store keeps them: keys, checksums of rows, compressed blobs. Main entries:
// RowChecksum, packPayload, unpackPayload.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace fp8jit {

/// The 32 bytes that 64 lower-case hex digits stand for; empty when `hex` is anything else.
std::string keyFromHex(llvm::StringRef hex);
/// 64 lower-case hex digits of a 32-byte key.
std::string hexFromKey(llvm::StringRef key);

/// A checksum over the fields of a row: SQLite's own checks do not notice bytes that changed inside
/// a payload. xxHash64 over the length-prefixed fields: it finds accidents, and costs a look-up far
/// less than SHA-256 would.
class RowChecksum {
public:
  RowChecksum &add(llvm::StringRef field);
  RowChecksum &add(std::int64_t field);
  RowChecksum &add(double field);
  std::int64_t value() const;

private:
  std::string fields_;
};

/// A blob with what is needed to verify it.
struct Payload {
  std::string codec; ///< "zstd", or "raw" where compression saves less than a tenth
  std::int64_t rawSize = 0;
  std::string sha; ///< SHA-256 of the plain bytes
  std::string data;
};

/// Compresses with zstd at level 3.
Payload packPayload(llvm::StringRef plain);

/// The plain bytes, verified; nothing when codec, size or digest do not match. Never allocates more
/// than 256 MiB.
std::optional<std::string> unpackPayload(llvm::StringRef codec, std::int64_t rawSize,
                                         llvm::StringRef sha, llvm::StringRef data);

} // namespace fp8jit
