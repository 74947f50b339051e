// Tracing one warp: every instruction that it executes, with the values it reads and writes. Main
// entry: executeTraced.
#pragma once

#include "emulator/exec/warp_state.h"

namespace fp8jit::emulator {

/// Executes `step` for the lanes of `mask` and gives the sink of the launch (warp_trace.h) a line:
///     line 45 lanes ffffffff add.s32 (0x40, 0x0+4*lane) -> 0x40+4*lane
/// Sources stand in parentheses; each value is one number if all lanes agree, an arithmetic
/// sequence where it is one, else the list of the lanes' values. "waits" or "faults" follows where
/// that is what became of the instruction.
Outcome executeTraced(Warp &warp, const Step &step, LaneMask mask);

} // namespace fp8jit::emulator
