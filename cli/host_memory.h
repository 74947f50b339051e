// Refusing arrays that this machine cannot hold, before it starts to swap. Main entry:
// checkHostMemory.
#pragma once

#include "llvm/Support/Error.h"

namespace fp8jit {

/// InvalidArgument if `neededBytes` is more than the memory of this machine. A double, because the
/// sum over a legal problem may exceed 2^63.
llvm::Error checkHostMemory(double neededBytes);

} // namespace fp8jit
