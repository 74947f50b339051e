// Shared memory of one block with a written mark per byte. Main type: SharedMemory.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace fp8jit::emulator {

/// Static and dynamic shared memory. Its first byte has the address `base`: 0 on sm_75 to sm_89;
/// from sm_90 on the block's rank in the upper eight bits and 1 KiB that is reserved in front. One
/// thread at a time.
struct SharedMemory {
  static constexpr std::uint8_t kPoison = 0xcb; ///< never-written bytes

  static constexpr unsigned kRankShift = 24;            ///< of the rank in an address
  static constexpr std::uint32_t kReservedBytes = 1024; ///< from sm_90 on

  std::uint32_t base = 0;
  std::vector<std::uint8_t> data;
  std::vector<std::uint8_t> written; ///< 1 for each byte that was written

  std::uint32_t sizeBytes() const { return static_cast<std::uint32_t>(data.size()); }

  /// Forgets everything; `bytes` is the size of the block's shared memory.
  void reset(std::uint32_t bytes) {
    data.assign(bytes, kPoison);
    written.assign(bytes, 0);
  }
};

} // namespace fp8jit::emulator
