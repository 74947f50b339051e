// Contiguous bytes that a single thread hands to a copy unit. Main type: MemoryRange; main entry:
// resolveRange.
#pragma once

#include "emulator/exec/warp_state.h"

#include <cstdint>
#include <vector>

namespace fp8jit::emulator {

/// Checked bytes in the shared memory of one block, or in global memory.
struct MemoryRange {
  std::uint8_t *data = nullptr;
  std::uint8_t *written = nullptr; ///< one mark per byte, or null where it is not tracked
  Block *owner = nullptr;          ///< of shared memory; null: global
  std::uint64_t address = 0;       ///< as the program names it: shared::cluster, or global
  std::uint32_t bytes = 0;

  /// Offset in the shared memory of `owner`.
  std::uint32_t offset() const;
};

/// What a copy does with a range.
enum class RangeUse : std::uint8_t { Read, Write };

/// Resolves `bytes` bytes (> 0) at `address` in `space` (Shared, SharedCluster, Global or Generic)
/// for `lane`, aligned to `alignment`. Stop, with a report, if they are misaligned, outside, in a
/// block that cannot be reached, or written over a live mbarrier.
Outcome resolveRange(Warp &warp, const Step &step, unsigned lane, Space space,
                     std::uint64_t address, std::uint32_t bytes, std::uint32_t alignment,
                     RangeUse use, MemoryRange &range);

/// Copies the bytes out and reports, for `lane` of `warp`, the first that was never written.
Outcome readRange(Warp &warp, const Step &step, unsigned lane, const MemoryRange &range,
                  std::vector<std::uint8_t> &bytes);
/// Copies `range.bytes` bytes in and marks them written.
void writeRange(const MemoryRange &range, const std::uint8_t *bytes);
/// Declares the bytes written, or unwritten.
void markRange(const MemoryRange &range, bool isWritten);

} // namespace fp8jit::emulator
