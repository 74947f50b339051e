// What matrix instructions need besides registers and memory. Main entries: findTensorFunction,
// requireWarp.
#pragma once

#include "emulator/exec/warp_state.h"

#include <string_view>

namespace fp8jit::emulator {

/// The tensor-core function of an Mma (an MmaFunction) or Wgmma (a WgmmaFunction) instruction on
/// `arch` ("89"), or null if it has none.
void (*findTensorFunction(const Instruction &instruction, std::string_view arch))();

/// Registers of the A (`rows` = m) or B (`rows` = n) fragment of an Mma instruction.
unsigned fragmentRegisters(const Instruction &instruction, unsigned rows);

/// Next if the whole warp executes the instruction, Park if lanes of other splits may still come,
/// Stop if lanes have exited. For .aligned instructions that need all 32 lanes.
Outcome requireWarp(Warp &warp, const Step &step, LaneMask mask);

} // namespace fp8jit::emulator
