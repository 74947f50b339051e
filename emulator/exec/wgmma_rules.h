// The rules of wgmma that a kernel can break without a crash (PTX ISA, "wgmma.fence", "wgmma.
// mma_async", "wgmma.wait_group"). Main entries: checkWarpgroupIssue, guardWarpgroupRegisters.
//
//  1. wgmma.fence stands before the first wgmma of a warp, and between any other access of a
//     register and a wgmma that uses it as accumulator or for A; accumulators of wgmma of the same
//     shape need none between them.
//  2. Between a wgmma and the wait that covers its group nothing else accesses these registers.
//  3. The four warps of a warp group issue the same wgmma, with the same descriptors, in the same
//     order, and wait for all of them before they exit.
#pragma once

#include "emulator/exec/warp_state.h"

#include <cstdint>
#include <vector>

namespace fp8jit::emulator {

struct PreparedKernel;

/// Warps of a warp group; the first has a rank that is a multiple of it.
inline constexpr std::uint32_t kWarpsPerGroup = 4;
/// Registers of A in one warp, where it comes from registers.
inline constexpr std::uint32_t kWgmmaRegistersA = 4;

/// The instructions of a kernel that share registers with its wgmma.
struct WarpgroupGuards {
  std::vector<bool> slots;       ///< that are accumulators of a wgmma or hold its A
  std::vector<Handler> handlers; ///< by pc: the real handler of a guarded step, else null
};

/// Gives every step of `prepared` that is not a wgmma but has one of its registers a handler that
/// checks the access (rules 1 and 2) and goes on to the real one. Other steps cost nothing.
void guardWarpgroupRegisters(const Kernel &kernel, PreparedKernel &prepared);

/// Checks rules 1 and 3 for a wgmma that `warp` is about to issue and notes its registers. Stop
/// ends the launch.
Outcome checkWarpgroupIssue(Warp &warp, const Step &step, const WarpgroupIssue &issue);

/// Checks rule 3 for a warp whose last lanes exit at `exit`. Stop ends the launch.
Outcome leaveWarpgroup(Warp &warp, const Instruction &exit);

/// Whether wgmma `step` has A in registers; they follow the accumulators.
inline bool hasRegistersA(const Step &step) {
  return !step.instruction->mods.descriptorA;
}

} // namespace fp8jit::emulator
