#include "support/hash.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/SHA256.h"

#include <array>
#include <cstdint>

namespace fp8jit {

std::string sha256(llvm::StringRef bytes) {
  llvm::SHA256 hasher;
  hasher.update(bytes);
  return hasher.final().str();
}

std::string sha256HexOfParts(llvm::ArrayRef<llvm::StringRef> parts) {
  llvm::SHA256 hasher;
  for (const llvm::StringRef part : parts) {
    std::array<std::uint8_t, 8> length{};
    llvm::support::endian::write64le(length.data(), part.size());
    hasher.update(llvm::ArrayRef<std::uint8_t>(length));
    hasher.update(part);
  }
  return llvm::toHex(hasher.final(), /*LowerCase=*/true);
}

} // namespace fp8jit
