// Sets of bytes against a set of single bytes.
#include "emulator/exec/byte_ranges.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace fp8jit::emulator {

TEST(ByteRangesTest, AgreesWithASetOfBytes) {
  std::mt19937 random(8);
  for (int round = 0; round < 200; ++round) {
    ByteRanges ranges;
    std::set<std::uint64_t> bytes;
    for (int i = 0; i < 12; ++i) {
      const std::uint64_t begin = random() % 200;
      const std::uint64_t end = begin + 1 + random() % 12;
      ranges.add(begin, end);
      for (std::uint64_t byte = begin; byte < end; ++byte) {
        bytes.insert(byte);
      }
      if (i % 5 == 4) {
        ranges.settle();
      }
    }
    ByteRanges copy;
    copy.add(ranges);
    copy.settle();
    for (std::uint64_t begin = 0; begin < 215; ++begin) {
      for (const std::uint64_t size : {1U, 4U, 16U}) {
        const auto found = bytes.lower_bound(begin);
        const bool expected = found != bytes.end() && *found < begin + size;
        ASSERT_EQ(copy.overlaps(begin, begin + size), expected) << round << " " << begin;
      }
    }
  }
}

TEST(ByteRangesTest, IsEmptyUntilSomethingIsAdded) {
  ByteRanges ranges;
  EXPECT_TRUE(ranges.isEmpty());
  EXPECT_FALSE(ranges.overlaps(0, 100));
  ranges.add(5, 6);
  EXPECT_FALSE(ranges.isEmpty());
  ranges.clear();
  EXPECT_TRUE(ranges.isEmpty());
}

} // namespace fp8jit::emulator
