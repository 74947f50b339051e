#include "support/hash.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/SHA256.h"

#include <array>
#include <cstdint>

namespace fp8jit {

static std::string finish(llvm::SHA256 &hasher) {
  const auto digest = hasher.final();
  return llvm::toHex(digest, /*LowerCase=*/true);
}

std::string sha256Hex(llvm::StringRef bytes) {
  llvm::SHA256 hasher;
  hasher.update(bytes);
  return finish(hasher);
}

std::string sha256HexOfParts(llvm::ArrayRef<llvm::StringRef> parts) {
  llvm::SHA256 hasher;
  for (const llvm::StringRef part : parts) {
    std::array<std::uint8_t, 8> length{};
    llvm::support::endian::write64le(length.data(), part.size());
    hasher.update(llvm::ArrayRef<std::uint8_t>(length));
    hasher.update(part);
  }
  return finish(hasher);
}

} // namespace fp8jit
