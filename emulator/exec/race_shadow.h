// The latest accesses of each byte of one block's shared memory. Main type: RaceShadow.
//
// The unit is a chunk of 16 bytes that are always accessed together, which is how copies, matrix
// instructions and whole warps access memory. A chunk that is accessed in part is split into its
// four words, a word into its bytes; it becomes whole again when it is written as a whole.
//
//  1. A cell holds its last weak write and a set of accesses since: reads, and atomic updates.
//  2. Of the accesses since, one that happens before a later one of the same kind is forgotten:
//     whatever races with the earlier one races with the later one, too.
//  3. A weak write that is ordered behind all of them empties the set.
// Source: C. Flanagan, S. Freund, "FastTrack", PLDI 2009, extended by proxies and atomics.
#pragma once

#include "emulator/exec/race_clock.h"

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

namespace fp8jit::emulator {

/// Kinds of accesses. Two accesses conflict if one of them is a Write, or one a Read and the other
/// an Update.
enum class RaceAccess : std::uint8_t {
  Read,
  StrongRead, ///< with a memory order
  Update,     ///< atomic, or a store with a memory order
  Write,
};

/// One access, packed: who, when, what and by which instruction. Up to four components of a group
/// (number / 4) share a record if they executed it at equal clocks. 0 is no access.
class RaceRecord {
public:
  static constexpr std::uint32_t kMaxComponents = 1U << 14;
  static constexpr std::uint32_t kMaxPc = (1U << 18) - 1; ///< stands for all beyond it

  RaceRecord() = default;
  RaceRecord(const RaceStamp &stamp, RaceAccess kind, std::uint32_t pc)
      : bits_((std::uint64_t{stamp.clock} << 36) | (std::uint64_t{stamp.component >> 2} << 24) |
              (std::uint64_t{1U << (stamp.component & 3U)} << 20) |
              (static_cast<std::uint64_t>(kind) << 18) | std::min(pc, kMaxPc)) {}

  explicit operator bool() const { return bits_ != 0; }
  bool operator==(const RaceRecord &) const = default;
  std::uint32_t clock() const { return static_cast<std::uint32_t>(bits_ >> 36); }
  std::uint32_t firstComponent() const { return static_cast<std::uint32_t>(bits_ >> 22) & 0x3ffcU; }
  std::uint32_t mask() const { return static_cast<std::uint32_t>(bits_ >> 20) & 15U; }
  RaceAccess kind() const { return static_cast<RaceAccess>((bits_ >> 18) & 3U); }
  std::uint32_t pc() const { return static_cast<std::uint32_t>(bits_) & kMaxPc; }

  /// Whether `other` differs in its components of the group at most.
  bool isSameMoment(const RaceRecord &other) const {
    return ((bits_ ^ other.bits_) & ~(std::uint64_t{15} << 20)) == 0;
  }
  void addComponents(const RaceRecord &other) { bits_ |= other.bits_; }

private:
  std::uint64_t bits_ = 0;
};

/// Why two accesses are not in order.
enum class RaceVerdict : std::uint8_t {
  Ordered,
  Unordered,    ///< nothing orders them
  NoProxyFence, ///< ordered, but the async proxy need not see the earlier one
};

/// What is kept of one or more bytes that are accessed together.
struct RaceCell {
  RaceRecord writer{};
  std::array<RaceRecord, 2> since{};
  std::uint32_t more = 0;  ///< index of a set of further accesses since, or 0
  std::uint32_t split = 0; ///< index of the four cells that replace this one, or 0
  bool operator==(const RaceCell &) const = default;
};

/// An access to check: its record and what its warp knows.
struct RaceProbe {
  RaceRecord record;
  const RaceOrder *order = nullptr;
  bool isAsync = false; ///< of the async proxy
  // The first conflict that was found:
  RaceVerdict verdict = RaceVerdict::Ordered;
  RaceRecord earlier{};
  std::uint32_t offset = 0; ///< first byte in question
  // What the access made of the latest whole chunk: mostly the next one is in the same state.
  RaceCell before{.split = UINT32_MAX}, after{}; // a state that no cell has, at first
};

/// Shadow of one block's shared memory. Offsets are those of SharedMemory, in bounds.
class RaceShadow {
public:
  static constexpr std::uint32_t kChunkBytes = 16;
  static constexpr std::uint32_t kWholeChunk = (1U << kChunkBytes) - 1;

  /// Forgets everything; `bytes` of memory.
  void reset(std::uint32_t bytes);

  /// Checks and enters an access of the bytes of `mask` (bit i: byte i) in chunk `chunk`.
  void access(std::uint32_t chunk, std::uint32_t mask, RaceProbe &probe) {
    RaceCell &cell = cells_[chunk];
    if (mask == kWholeChunk && cell == probe.before) [[likely]] {
      cell = probe.after;
      return;
    }
    accessChunk(chunk, mask, probe);
  }
  /// The same for any contiguous range.
  void accessRange(std::uint32_t offset, std::uint32_t bytes, RaceProbe &probe) {
    if ((offset | bytes) % kChunkBytes != 0) {
      accessParts(offset, bytes, probe);
      return;
    }
    const std::uint32_t end = (offset + bytes) / kChunkBytes;
    for (std::uint32_t chunk = offset / kChunkBytes; chunk != end; ++chunk) {
      access(chunk, kWholeChunk, probe);
    }
  }

private:
  using Cell = RaceCell; // `more` counts in sets_, `split` in parts_
  using Parts = std::array<Cell, 4>;
  /// The bytes that a cell stands for.
  struct Place {
    std::uint32_t first = 0, bytes = 0;
  };

  void accessParts(std::uint32_t offset, std::uint32_t bytes, RaceProbe &probe);
  void accessChunk(std::uint32_t chunk, std::uint32_t mask, RaceProbe &probe);
  void touch(Cell &cell, const Place &place, std::uint32_t mask, RaceProbe &probe);
  void touchParts(Cell &cell, const Place &place, std::uint32_t mask, RaceProbe &probe);
  void apply(Cell &cell, const Place &place, RaceProbe &probe);
  void check(const Cell &cell, const Place &place, RaceProbe &probe) const;
  void enter(Cell &cell, const RaceProbe &probe);
  void enterMany(Cell &cell, const RaceProbe &probe);
  void splitCell(Cell &cell);
  std::uint32_t newSet();
  void releaseSet(Cell &cell);

  std::vector<Cell> cells_;
  std::deque<Parts> parts_; ///< the first is not used; references stay valid as it grows
  std::vector<std::uint32_t> freeParts_;
  std::vector<std::vector<RaceRecord>> sets_; ///< the first one is not used
  std::vector<std::uint32_t> freeSets_;
};

} // namespace fp8jit::emulator
