// Checks of memory accesses of a warp, shared by all handlers that touch memory. Main entries:
// readAddresses, resolve, checkWritten.
//
// resolve() takes the lanes of an access that fall into one region (the block's shared memory, the
// local memory, or one global allocation), checks bounds and alignment, and gives their offsets.
// A handler repeats it until all lanes are done; nearly always once is enough.
#pragma once

#include "emulator/exec/block.h"
#include "emulator/exec/race_checker.h"

#include <cstdint>

#ifndef FP8JIT_HANDLER_TARGET
#error "handler files are compiled per target: set FP8JIT_HANDLER_TARGET (see CMakeLists.txt)"
#endif

namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET {

/// What an access does, for its report.
enum class AccessKind : std::uint8_t { Read, Write, Update };

/// One access of a warp before its checks.
struct AccessRequest {
  Space space = Space::Global;
  AccessKind kind = AccessKind::Read;
  std::uint32_t sizeBytes = 4; ///< per lane: the whole vector; a power of two
  alignas(64) std::uint64_t address[kLanes];
};

/// Checked lanes in one region. Lanes outside `lanes` have the offset of the first of them, so that
/// loads may run over all 32.
struct Span {
  std::uint8_t *data = nullptr;    ///< first byte of the region
  std::uint8_t *written = nullptr; ///< one mark per byte, or null where it is not tracked
  const Block *owner = nullptr;    ///< whose shared memory it is; null elsewhere
  Space space = Space::Global;     ///< Global, Shared or Local
  std::uint64_t shownBegin = 0;    ///< reports show offsets plus this
  LaneMask lanes = 0;
  bool isUniform = false;    ///< every lane has the same offset
  bool isContiguous = false; ///< lane i has the offset of lane 0 plus i times the size; all lanes
  alignas(64) std::uint64_t offset[kLanes];
};

/// Fills `address` from the slot at `operand` (64-bit lanes if `is64`) plus `displacement`. In
/// spaces with 32-bit addresses the sum wraps at 32 bits.
void readAddresses(const Warp &warp, std::uint32_t operand, bool is64, std::int64_t displacement,
                   AccessRequest &request);

/// Resolves the region of the first lane of `lanes` (not empty) and those lanes that share it.
/// Counts sectors and wavefronts. Stop if a lane is out of bounds or misaligned.
Outcome resolve(Warp &warp, const Step &step, const AccessRequest &request, LaneMask lanes,
                Span &span);

/// What reports put before an address of `space`.
const char *spaceWord(Space space);

/// Makes warp.region the live allocation that holds `address`; false if there is none.
bool findGlobal(Warp &warp, std::uint64_t address);

/// Reports lanes that read a byte which was never written. `sizeBytes` as in the request.
Outcome checkWritten(Warp &warp, const Step &step, const Span &span, std::uint32_t sizeBytes);

/// The access of `instruction` as race_shadow.h classes it.
RaceAccess raceAccess(const Instruction &instruction, AccessKind kind);

/// Reports lanes that race with earlier accesses, where these are checked (race_checker.h). For
/// every access by the generic proxy, after it.
Outcome checkRaces(Warp &warp, const Step &step, AccessKind kind, const Span &span,
                   std::uint32_t sizeBytes);

/// Marks the bytes of all lanes of `span` as written.
void markWritten(const Span &span, std::uint32_t sizeBytes);

/// Counts the shared-memory wavefronts of one access (32 banks of 4 bytes; 8-byte accesses go in
/// half-warps, 16-byte accesses in quarter-warps).
void countWavefronts(MemoryCounters &counters, const std::uint64_t *offset, LaneMask lanes,
                     std::uint32_t sizeBytes);

/// The same for all lanes with 32-bit offsets.
void countWavefronts(MemoryCounters &counters, const std::uint32_t *offset,
                     std::uint32_t sizeBytes);

/// 32-byte sectors that the lanes of `span` touch; a sector counts once per access.
std::uint64_t countSectors(const std::uint64_t *address, LaneMask lanes, std::uint32_t sizeBytes);

/// Relaxed atomic accesses: global memory is shared with concurrent launches and the host. For
/// naturally aligned T.
template <typename T>
inline T loadRelaxed(const std::uint8_t *from) {
  return __atomic_load_n(reinterpret_cast<const T *>(from), __ATOMIC_RELAXED);
}
template <typename T>
inline void storeRelaxed(std::uint8_t *to, T value) {
  __atomic_store_n(reinterpret_cast<T *>(to), value, __ATOMIC_RELAXED);
}

} // namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET
