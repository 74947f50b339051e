// Gives registers their slots. Main entry: assignSlots.
#pragma once

#include "emulator/ptx/program.h"

#include <cstdint>
#include <vector>

namespace fp8jit::emulator {

/// Slot of each register by its number (the first of two for 64 bits); kNoSlot for unused ones.
struct SlotMap {
  std::vector<std::uint32_t> slots32, slots64;
  std::uint32_t slotCount = 0;
};

/// Reads the code of a kernel whose operands are still references (kernel_builder.h). With
/// `shareSlots`, registers of one width get the same slot when their live ranges do not meet: a
/// linear scan over ranges from real liveness on the control-flow graph, so values carried around a
/// loop keep their slot. A register that an instruction writes never shares with one that it reads.
/// Since each lane follows one path of that graph and writes only its own lane, lanes of a diverged
/// warp cannot disturb each other. Guarded writes do not end the life of the earlier value.
SlotMap assignSlots(const Kernel &kernel, std::uint32_t registers32, std::uint32_t registers64,
                    const std::vector<std::uint32_t> &pinned64, bool shareSlots);

} // namespace fp8jit::emulator
