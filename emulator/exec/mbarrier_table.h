// The barriers that live in a block's shared memory (PTX ISA, "mbarrier"). Main type:
// MbarrierTable.
//
// The state of a barrier stands beside the memory, keyed by its offset; its eight bytes hold an
// image for copies and dumps, and count as unwritten so that an ordinary load of them is reported.
//  1. A phase completes when pending == 0 and tx == 0; then phase += 1 and pending = expected.
//  2. 1 <= expected <= kMaxCount, 0 <= pending, -kMaxTx <= tx <= kMaxTx.
//  3. A state value names the phase in which it was returned; a parity names its lowest bit.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace fp8jit::emulator {

/// What changed a barrier, for reports.
struct MbarrierEvent {
  std::uint32_t line = 0;      ///< PTX line of the instruction
  std::uint32_t blockRank = 0; ///< of the thread that executed or issued it
  std::uint32_t warp = 0;
  std::uint32_t arrivals = 0; ///< taken off the pending count
  std::int64_t tx = 0;        ///< added to the transaction count
  std::uint64_t phase = 0;    ///< in which it happened
};

/// One live barrier.
struct Mbarrier {
  static constexpr std::uint32_t kMaxCount = (1U << 20) - 1; ///< PTX ISA, "mbarrier contents"
  static constexpr std::int64_t kMaxTx = (1 << 20) - 1;
  static constexpr std::size_t kEventCount = 4;

  bool isLive = false;             ///< initialised and not invalidated
  std::uint32_t offset = 0;        ///< in the block's shared memory, from its first byte
  std::uint32_t expected = 0;      ///< arrivals of the running phase
  std::uint32_t expectedLater = 0; ///< of later phases: arrive_drop lowers it
  std::uint32_t pending = 0;       ///< arrivals that are missing
  std::int64_t tx = 0;
  std::uint64_t phase = 0;
  std::uint64_t eventCount = 0;
  std::array<MbarrierEvent, kEventCount> events; ///< the latest ones, a ring

  /// The opaque value that arrive returns: phase and pending count before it.
  std::uint64_t state() const { return (phase << 20) | pending; }
  /// Whether the phase of a state value has completed.
  bool hasPassed(std::uint64_t state) const { return phase != state >> 20; }
  /// The answer to a wait by parity: whether the phase of that parity has completed.
  bool hasPassedParity(std::uint32_t parity) const { return (phase & 1) != (parity & 1); }
};

/// The live barriers of one block. One thread at a time.
class MbarrierTable {
public:
  /// Forgets everything; a new block starts with `sharedBytes` bytes of shared memory.
  void reset(std::uint32_t sharedBytes);

  /// The live barrier at `offset` (from the first byte of the block's shared memory), or null.
  Mbarrier *find(std::uint32_t offset) {
    const std::uint32_t granule = offset / 8;
    if (offset % 8 != 0 || granule >= indexOf_.size() || indexOf_[granule] == 0) {
      return nullptr;
    }
    return &barriers_[indexOf_[granule] - 1U];
  }
  /// Makes a barrier that expects `count` arrivals; `offset` is a multiple of 8, inside and not
  /// live.
  Mbarrier &insert(std::uint32_t offset, std::uint32_t count);
  /// Ends the barrier at `offset`.
  void erase(std::uint32_t offset);
  /// The live barrier whose bytes overlap [offset, offset + bytes), or null.
  const Mbarrier *findOverlap(std::uint64_t offset, std::uint64_t bytes) const;

  /// All live barriers lie in [guardBegin, guardBegin + guardBytes); no bytes when there is none.
  std::uint32_t guardBegin() const { return guardBegin_; }
  std::uint32_t guardBytes() const { return guardBytes_; }

private:
  void updateGuard();

  std::vector<Mbarrier> barriers_;     ///< some not live
  std::vector<std::uint16_t> indexOf_; ///< per 8 bytes: 1 + index into barriers_, or 0
  std::uint32_t guardBegin_ = 0, guardBytes_ = 0;
};

} // namespace fp8jit::emulator
