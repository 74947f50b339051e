// Checksums with xxHash, compression with zstd.
#include "cache/payload.h"

#include "support/hash.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include <zstd.h>

#include <bit>

namespace fp8jit {

static constexpr int kZstdLevel = 3;
static constexpr std::int64_t kLargestPayload = std::int64_t{256} << 20;
static constexpr std::size_t kKeyBytes = 32;

std::string keyFromHex(llvm::StringRef hex) {
  const bool isKey = hex.size() == 2 * kKeyBytes && llvm::all_of(hex, [](char c) {
                       return llvm::isDigit(c) || (c >= 'a' && c <= 'f');
                     });
  return isKey ? llvm::fromHex(hex) : std::string();
}

std::string hexFromKey(llvm::StringRef key) {
  return llvm::toHex(key, /*LowerCase=*/true);
}

RowChecksum &RowChecksum::add(llvm::StringRef field) {
  fields_ += llvm::utostr(field.size());
  fields_ += ':';
  fields_ += field;
  return *this;
}

RowChecksum &RowChecksum::add(std::int64_t field) {
  return add(llvm::itostr(field));
}

RowChecksum &RowChecksum::add(double field) {
  return add(llvm::utohexstr(std::bit_cast<std::uint64_t>(field)));
}

std::int64_t RowChecksum::value() const {
  return static_cast<std::int64_t>(llvm::xxHash64(fields_));
}

Payload packPayload(llvm::StringRef plain) {
  Payload payload{.codec = "raw",
                  .rawSize = static_cast<std::int64_t>(plain.size()),
                  .sha = sha256(plain),
                  .data = {}};
  std::string compressed(ZSTD_compressBound(plain.size()), '\0');
  const std::size_t size =
      ZSTD_compress(compressed.data(), compressed.size(), plain.data(), plain.size(), kZstdLevel);
  if (ZSTD_isError(size) == 0 && size * 10 <= plain.size() * 9) {
    compressed.resize(size);
    payload.codec = "zstd";
    payload.data = std::move(compressed);
  } else {
    payload.data = plain.str();
  }
  return payload;
}

std::optional<std::string> unpackPayload(llvm::StringRef codec, std::int64_t rawSize,
                                         llvm::StringRef sha, llvm::StringRef data) {
  if (rawSize < 0 || rawSize > kLargestPayload) {
    return std::nullopt;
  }
  std::string plain;
  if (codec == "zstd") {
    plain.resize(static_cast<std::size_t>(rawSize));
    const std::size_t size = ZSTD_decompress(plain.data(), plain.size(), data.data(), data.size());
    if (ZSTD_isError(size) != 0 || size != plain.size()) {
      return std::nullopt;
    }
  } else if (codec == "raw") {
    plain = data.str();
  } else {
    return std::nullopt;
  }
  if (static_cast<std::int64_t>(plain.size()) != rawSize || sha != sha256(plain)) {
    return std::nullopt;
  }
  return plain;
}

} // namespace fp8jit
