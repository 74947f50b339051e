// Warnings: one line each, to whom the caller chooses. Main entries: WarningSink, printWarning.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <functional>

namespace fp8jit {

/// Takes one line without "warning: " and without a newline. May be called from any thread.
using WarningSink = std::function<void(llvm::StringRef)>;

/// The default sink: "warning: <line>" on standard error, in one write. Thread safe.
void printWarning(llvm::StringRef line);

} // namespace fp8jit
