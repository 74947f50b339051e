// Who calls whom. Main entry: markRecursiveFunctions.
#pragma once

#include "emulator/ptx/module_parser.h"

namespace fp8jit::emulator {

/// Sets Function::isRecursive of the device functions from which calls lead into a cycle; their
/// code cannot be expanded where they are called. The cursor's position changes.
void markRecursiveFunctions(TokenCursor &cursor, ParsedModule &module);

} // namespace fp8jit::emulator
