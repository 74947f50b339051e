// Ranges are kept as they come and merged now and then.
#include "emulator/exec/byte_ranges.h"

#include <algorithm>
#include <cassert>

namespace fp8jit::emulator {

void ByteRanges::add(std::uint64_t begin, std::uint64_t end) {
  if (!added_.empty() && added_.back().begin <= begin && begin <= added_.back().end) {
    added_.back().end = std::max(added_.back().end, end); // as consecutive stores do
    return;
  }
  added_.push_back({begin, end});
  if (added_.size() >= kSettleCount) {
    settle();
  }
}

void ByteRanges::add(const ByteRanges &other) {
  for (const std::vector<Range> *list : {&other.added_, &other.sorted_}) {
    for (const Range &range : *list) {
      add(range.begin, range.end);
    }
  }
}

void ByteRanges::settle() {
  sorted_.insert(sorted_.end(), added_.begin(), added_.end());
  added_.clear();
  std::sort(sorted_.begin(), sorted_.end(),
            [](const Range &a, const Range &b) { return a.begin < b.begin; });
  std::size_t kept = 0;
  for (const Range &range : sorted_) {
    if (kept > 0 && range.begin <= sorted_[kept - 1].end) {
      sorted_[kept - 1].end = std::max(sorted_[kept - 1].end, range.end);
    } else {
      sorted_[kept++] = range;
    }
  }
  sorted_.resize(kept);
}

bool ByteRanges::overlaps(std::uint64_t begin, std::uint64_t end) const {
  assert(added_.empty() && "settle first");
  const auto after = std::upper_bound(
      sorted_.begin(), sorted_.end(), begin,
      [](std::uint64_t address, const Range &range) { return address < range.end; });
  return after != sorted_.end() && after->begin < end;
}

void ByteRanges::clear() {
  added_.clear();
  sorted_.clear();
}

} // namespace fp8jit::emulator
