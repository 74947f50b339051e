// The texts and hashes under which binaries and winners are kept (declared in kernel_builder.h).
#include "runtime/kernel_builder.h"
#include "support/hash.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace fp8jit {

std::string kernelKey(llvm::StringRef source, llvm::StringRef arch,
                      llvm::StringRef compilerIdentity) {
  const std::string abi = std::to_string(kKernelAbiVersion);
  const std::vector<std::string> options = compileOptions(arch);
  llvm::SmallVector<llvm::StringRef, 16> parts = {"fp8jit kernel 1", abi, compilerIdentity, arch,
                                                  source};
  parts.append(options.begin(), options.end());
  return sha256HexOfParts(parts);
}

std::string toolchainText(llvm::StringRef compilerIdentity, llvm::StringRef arch,
                          llvm::StringRef templatesHash) {
  return llvm::formatv("abi={0} arch=sm_{1} templates={2} compiler={3}", kKernelAbiVersion, arch,
                       templatesHash, compilerIdentity)
      .str();
}

} // namespace fp8jit
