// Swizzles against the algebra Swizzle<bits, base, shift>: an exclusive or of `bits` address bits,
// from `base` on, with those `shift` places above.
#include "emulator/tensor/swizzle.h"

#include "gtest/gtest.h"

#include <set>

namespace fp8jit::emulator::testing {
namespace {

struct SwizzleCase {
  Swizzle mode;
  unsigned bits, base, shift;
  std::uint32_t rowBytes;
};

// Chunks of 2^base bytes, 2^bits of them to a row of 128 bytes or less.
constexpr SwizzleCase kCases[] = {
    {Swizzle::None, 0, 4, 3, 16},
    {Swizzle::Bytes32, 1, 4, 3, 32},
    {Swizzle::Bytes64, 2, 4, 3, 64},
    {Swizzle::Bytes128, 3, 4, 3, 128},
    {Swizzle::Bytes128Atom32, 2, 5, 2, 128},
    {Swizzle::Bytes128Atom64, 1, 6, 1, 128},
};

} // namespace

static unsigned bitOf(std::uint32_t value, unsigned index) {
  return (value >> index) & 1U;
}

static std::uint32_t algebraic(std::uint32_t address, const SwizzleCase &c) {
  std::uint32_t result = address;
  for (unsigned i = c.base; i < c.base + c.bits; ++i) {
    if (bitOf(address, i + c.shift) != 0) {
      result ^= 1U << i;
    }
  }
  return result;
}

TEST(SwizzleTest, MovesTheBitsOfTheAlgebra) {
  for (const SwizzleCase &c : kCases) {
    for (std::uint32_t address = 0; address < 8192; ++address) {
      ASSERT_EQ(swizzleAddress(address, c.mode), algebraic(address, c))
          << "mode " << static_cast<int>(c.mode) << ", address " << address;
    }
  }
}

TEST(SwizzleTest, FlipsEightByteHalvesOfOddRows) {
  for (std::uint32_t address = 0; address < 4096; ++address) {
    const std::uint32_t atoms = swizzleAddress(address, Swizzle::Bytes128Atom32);
    const std::uint32_t expected = address / 128 % 2 == 0 ? atoms
                                   : address % 16 < 8     ? atoms + 8
                                                          : atoms - 8;

    ASSERT_EQ(swizzleAddress(address, Swizzle::Bytes128Atom32Flip8), expected);
  }
}

TEST(SwizzleTest, PermutesEachPeriod) {
  for (int index = 0; index <= static_cast<int>(Swizzle::Bytes128Atom64); ++index) {
    const auto mode = static_cast<Swizzle>(index);
    std::set<std::uint32_t> seen;
    for (std::uint32_t byte = 0; byte < swizzlePeriodBytes(mode); ++byte) {
      const std::uint32_t moved = swizzleAddress(0x2400 + byte, mode);
      EXPECT_EQ(swizzleAddress(moved, mode), 0x2400 + byte);
      seen.insert(moved);
    }

    EXPECT_EQ(seen.size(), swizzlePeriodBytes(mode));
    EXPECT_EQ(*seen.begin(), 0x2400U);
    EXPECT_EQ(*seen.rbegin(), 0x2400U + swizzlePeriodBytes(mode) - 1);
  }
}

TEST(SwizzleTest, HasRowsOfTheModesWidth) {
  for (const SwizzleCase &c : kCases) {
    EXPECT_EQ(swizzleRowBytes(c.mode), c.rowBytes);
  }
}

} // namespace fp8jit::emulator::testing
