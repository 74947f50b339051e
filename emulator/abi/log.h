// The emulator's own messages, on standard error, one line each.
#pragma once

#include <string_view>

namespace fp8jit::emulator {

/// Prints "fp8jit-emulator: <message>".
void logLine(std::string_view message);

} // namespace fp8jit::emulator
