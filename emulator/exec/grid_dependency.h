// Launches that overlap in a stream (programmatic dependent launch). Main entry: watchGlobal.
//
// A launch with the programmatic attribute may start before the one ahead of it has ended, if that
// one executes griddepcontrol.launch_dependents. The emulator runs them one after the other and
// looks for what may go wrong: until griddepcontrol.wait, bytes that the earlier launch wrote must
// not be touched. A wait counts for its whole block, since barriers pass it on. Source: PTX ISA,
// "griddepcontrol".
#pragma once

#include "emulator/exec/warp_state.h"

#include <cstdint>

namespace fp8jit::emulator {

/// To be called for accesses of global memory where LaunchContext::watchesGlobal is set: records
/// what is written, and reports bytes that the earlier launch wrote if the block has not waited.
/// Stop ends the launch.
Outcome watchGlobal(Warp &warp, const Step &step, unsigned lane, std::uint64_t address,
                    std::uint64_t bytes, bool isWrite);

} // namespace fp8jit::emulator
