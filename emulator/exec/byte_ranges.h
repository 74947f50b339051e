// Sets of bytes of global memory as merged ranges. Main type: ByteRanges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fp8jit::emulator {

/// A set of bytes. Adding is cheap; the first question after it sorts. One thread at a time.
class ByteRanges {
public:
  bool isEmpty() const { return sorted_.empty() && added_.empty(); }
  /// Adds [begin, end).
  void add(std::uint64_t begin, std::uint64_t end);
  /// Adds all bytes of `other`.
  void add(const ByteRanges &other);
  /// Sorts what was added: overlaps() is only then allowed, and from several threads.
  void settle();
  /// Whether a byte of [begin, end) is in the set. Settled sets only.
  bool overlaps(std::uint64_t begin, std::uint64_t end) const;
  void clear();

private:
  struct Range {
    std::uint64_t begin = 0, end = 0;
  };

  static constexpr std::size_t kSettleCount = 1U << 16; ///< ranges kept unsorted

  std::vector<Range> added_;  ///< in any order
  std::vector<Range> sorted_; ///< disjoint, ascending
};

} // namespace fp8jit::emulator
