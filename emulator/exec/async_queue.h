// The cp.async copies of a warp that are issued but not complete. Main type: AsyncQueue.
//
// A copy completes as late as PTX allows: at the wait that covers its group. Until then its
// destination counts as never written, so that a missing wait is found by the initialisation check.
// Groups are counted per thread (PTX ISA, "cp.async.commit_group").
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fp8jit::emulator {

struct Step;

/// One executed cp.async: lanes that issued it while their open group had the same number.
struct PendingCopy {
  std::uint32_t lanes = 0;       ///< lanes whose copy has not completed
  std::uint32_t group = 0;       ///< number of the group, the same in each of these lanes
  std::uint32_t sizeBytes = 0;   ///< written in shared memory: 4, 8 or 16
  const Step *step = nullptr;    ///< for reports
  std::uint32_t destination[32]; ///< shared-memory offsets
  std::uint64_t source[32];      ///< global addresses
  std::uint8_t sourceBytes[32];  ///< bytes read; the rest of sizeBytes becomes zero

  /// A copy of no lanes yet; leaves the arrays to be filled.
  PendingCopy(std::uint32_t groupNumber, std::uint32_t bytes, const Step *issued)
      : group(groupNumber), sizeBytes(bytes), step(issued) {}
};

/// Pending copies in issue order, and the number of groups that each lane has committed.
struct AsyncQueue {
  std::vector<PendingCopy> copies;
  std::size_t first = 0; ///< copies before this one are complete
  std::uint32_t committed[32] = {};
  std::uint32_t issuers = 0; ///< lanes that have issued copies

  /// Forgets everything; a new block starts.
  void clear() {
    copies.clear();
    first = 0;
    issuers = 0;
    for (std::uint32_t &count : committed) {
      count = 0;
    }
  }

  /// Drops complete copies from the front.
  void trim() {
    while (first < copies.size() && copies[first].lanes == 0) {
      ++first;
    }
    constexpr std::size_t kMaxDead = 256;
    if (first == copies.size()) {
      copies.clear();
      first = 0;
    } else if (first > kMaxDead) {
      copies.erase(copies.begin(), copies.begin() + static_cast<std::ptrdiff_t>(first));
      first = 0;
    }
  }
};

} // namespace fp8jit::emulator
