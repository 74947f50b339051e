// Directives between the header and the body of a function. Main entry: readTuningDirectives.
#pragma once

#include "emulator/ptx/module_parser.h"

namespace fp8jit::emulator {

/// Reads directives into `function` up to its body or semicolon. Returns false after a failure.
bool readTuningDirectives(TokenCursor &cursor, Function &function);

} // namespace fp8jit::emulator
