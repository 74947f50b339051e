// The common memory accesses of a whole warp, without the general path's 64-bit offsets: lanes next
// to each other or at one address, and any 32-bit addresses of shared memory. Main entry:
// resolveQuickly.
#pragma once

#include "emulator/exec/access.h"

#include <cstdint>

namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET {

/// A checked access of all 32 lanes.
struct QuickAccess {
  std::uint8_t *data = nullptr;    ///< what the offsets count from
  std::uint8_t *written = nullptr; ///< the mark of that byte, or null where it is not tracked
  bool isShared = false;           ///< else global memory, which other threads may access
  bool isUniform = false;          ///< every offset is 0
  bool isContiguous = false;       ///< lane i has offset i times the size
  alignas(64) std::uint32_t offset[kLanes];
};

/// Resolves the access of all lanes by `step` (its first address, in the slot at `operand`) with
/// `sizeBytes` (1 to 16) per lane, and counts its traffic. False, without effect, where a check
/// fails or the access is of another kind: the general path (access.h) then decides and reports.
/// A read passes only if all its bytes were written.
bool resolveQuickly(Warp &warp, const Step &step, std::uint32_t operand, AccessKind kind,
                    std::uint32_t sizeBytes, QuickAccess &access);

/// checkRaces of access.h for such an access.
Outcome checkRaces(Warp &warp, const Step &step, AccessKind kind, const QuickAccess &access,
                   std::uint32_t sizeBytes);

/// Marks the bytes of all lanes as written.
void markWritten(const QuickAccess &access, std::uint32_t sizeBytes);

} // namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET
