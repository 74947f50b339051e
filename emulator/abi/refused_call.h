// Entry points of the driver that the emulator does not implement.
#pragma once

#include <mutex>

namespace fp8jit::emulator {

/// Prints one log line the first time and returns CUDA_ERROR_NOT_SUPPORTED (or an injected fault).
int refuseCall(std::once_flag &once, const char *name);

} // namespace fp8jit::emulator
