// cvt to and from pairs of narrow floating-point values. Main entry: selectPackedConvert.
#pragma once

#include "emulator/exec/handlers.h"

#ifndef FP8JIT_HANDLER_TARGET
#error "handler files are compiled per target: set FP8JIT_HANDLER_TARGET (see CMakeLists.txt)"
#endif

namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET {

/// The handler of a cvt whose destination or source is a packed pair, else null.
Handler selectPackedConvert(const Instruction &instruction);

} // namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET
