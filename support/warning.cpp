#include "support/warning.h"

#include "llvm/Support/raw_ostream.h"

#include <string>

namespace fp8jit {

void printWarning(llvm::StringRef line) {
  const std::string whole = "warning: " + line.str() + "\n";
  llvm::errs() << whole; // unbuffered: one write
}

} // namespace fp8jit
