// Matrix descriptors against layout algebra: a layout maps an index to the sum of its digits, taken
// by nested sizes, times their strides. The canonical layouts are written here in elements as
// published for the asynchronous warpgroup instructions, with T elements in 16 bytes.
#include "emulator/tensor/descriptor.h"

#include "gtest/gtest.h"

#include <vector>

namespace fp8jit::emulator::testing {
namespace {

/// One level of a layout.
struct Digit {
  std::uint32_t size, stride;
};

/// A two-dimensional layout: outer index (row or column), then k; innermost digits first.
struct Layout {
  std::vector<Digit> outer, k;
};

struct LayoutCase {
  Major major;
  Swizzle swizzle;
  std::uint32_t elementBytes;
  std::uint32_t leadingBytes, strideBytes;
  std::uint32_t outerCount, kCount;
};

void PrintTo(const LayoutCase &c, std::ostream *out) {
  *out << (c.major == Major::K ? "K" : "MN") << "-major, swizzle " << static_cast<int>(c.swizzle)
       << ", " << c.elementBytes << " bytes";
}

constexpr std::uint32_t kEnough = 1U << 20; // size of the last digit

class DescriptorLayoutTest : public ::testing::TestWithParam<LayoutCase> {};

} // namespace

static std::uint32_t along(const std::vector<Digit> &digits, std::uint32_t index) {
  std::uint32_t offset = 0;
  for (const Digit &digit : digits) {
    offset += index % digit.size * digit.stride;
    index /= digit.size;
  }
  return offset;
}

/// Layout in elements: chunks of T, `w` chunks to a pattern row.
static Layout canonical(const LayoutCase &c) {
  const std::uint32_t t = 16 / c.elementBytes;
  const std::uint32_t lead = c.leadingBytes / c.elementBytes;
  const std::uint32_t stride = c.strideBytes / c.elementBytes;
  const std::uint32_t w = c.swizzle == Swizzle::Bytes128  ? 8
                          : c.swizzle == Swizzle::Bytes64 ? 4
                                                          : 2;
  if (c.major == Major::K) {
    if (c.swizzle == Swizzle::None) {
      return {{{8, t}, {kEnough, stride}}, {{t, 1}, {kEnough, lead}}};
    }
    return {{{8, w * t}, {kEnough, stride}}, {{t, 1}, {kEnough, t}}};
  }
  if (c.swizzle == Swizzle::None) {
    return {{{t, 1}, {kEnough, stride}}, {{8, t}, {kEnough, lead}}};
  }
  return {{{t, 1}, {w, t}, {kEnough, lead}}, {{8, w * t}, {kEnough, stride}}};
}

/// Swizzle<log2(chunks), 4, 3> of a byte address.
static std::uint32_t permuted(std::uint32_t address, Swizzle swizzle) {
  const std::uint32_t chunks = swizzle == Swizzle::Bytes128  ? 8
                               : swizzle == Swizzle::Bytes64 ? 4
                               : swizzle == Swizzle::Bytes32 ? 2
                                                             : 1;
  const std::uint32_t row = address / 128 % 8;
  const std::uint32_t chunk = address / 16;
  return ((chunk / chunks * chunks) + ((chunk % chunks) ^ (row % chunks))) * 16 + address % 16;
}

TEST_P(DescriptorLayoutTest, PlacesElementsAsTheAlgebraDoes) {
  const LayoutCase &c = GetParam();
  const Layout layout = canonical(c);
  for (const std::uint32_t start : {0x400U, 0x2c00U, 0x8400U}) {
    const MatrixDescriptor descriptor{.startAddress = start,
                                      .leadingBytes = c.leadingBytes,
                                      .strideBytes = c.strideBytes,
                                      .swizzle = c.swizzle};
    for (std::uint32_t outer = 0; outer < c.outerCount; ++outer) {
      for (std::uint32_t k = 0; k < c.kCount; ++k) {
        const std::uint32_t element = along(layout.outer, outer) + along(layout.k, k);
        ASSERT_EQ(elementAddress(descriptor, c.major, outer, k, c.elementBytes),
                  permuted(start + element * c.elementBytes, c.swizzle))
            << "outer " << outer << ", k " << k;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Canonical, DescriptorLayoutTest,
    ::testing::Values(LayoutCase{Major::K, Swizzle::None, 1, 128, 256, 128, 32},
                      LayoutCase{Major::K, Swizzle::None, 2, 2048, 128, 64, 16},
                      LayoutCase{Major::K, Swizzle::Bytes32, 1, 16, 256, 128, 32},
                      LayoutCase{Major::K, Swizzle::Bytes64, 1, 16, 512, 128, 64},
                      LayoutCase{Major::K, Swizzle::Bytes128, 1, 16, 1024, 256, 128},
                      LayoutCase{Major::K, Swizzle::Bytes128, 2, 16, 1024, 64, 64},
                      LayoutCase{Major::K, Swizzle::Bytes64, 4, 16, 512, 64, 16},
                      LayoutCase{Major::MN, Swizzle::None, 2, 1024, 128, 64, 16},
                      LayoutCase{Major::MN, Swizzle::Bytes32, 2, 512, 4096, 64, 16},
                      LayoutCase{Major::MN, Swizzle::Bytes64, 2, 1024, 4096, 128, 16},
                      LayoutCase{Major::MN, Swizzle::Bytes128, 2, 8192, 1024, 256, 64}));

TEST(DescriptorTest, KeepsRowsOfAnFp8TileWhereTheKernelsExpectThem) {
  const MatrixDescriptor tile{
      .startAddress = 0x1400, .strideBytes = 1024, .swizzle = Swizzle::Bytes128};
  for (std::uint32_t row = 0; row < 64; ++row) {
    for (std::uint32_t k = 0; k < 128; ++k) {
      ASSERT_EQ(elementAddress(tile, Major::K, row, k, 1),
                0x1400 + row * 128 + (k ^ ((row & 7) << 4)));
    }
  }
}

TEST(DescriptorTest, AdvancesAlongKInsideAnAtom) {
  const std::uint64_t bits = 0x4000'0040'0001'0000 | (0x1400 >> 4);
  const MatrixDescriptor whole = decodeDescriptor(bits);
  for (std::uint32_t step = 1; step < 4; ++step) {
    const MatrixDescriptor part = decodeDescriptor(bits + 2 * step); // 32 bytes
    for (std::uint32_t row = 0; row < 64; ++row) {
      for (std::uint32_t k = 0; k < 32; ++k) {
        ASSERT_EQ(elementAddress(part, Major::K, row, k, 1),
                  elementAddress(whole, Major::K, row, 32 * step + k, 1));
      }
    }
  }
}

TEST(DescriptorTest, ReadsEveryField) {
  const std::uint64_t bits = (std::uint64_t{2} << 62) | (std::uint64_t{5} << 49) |
                             (std::uint64_t{0x2001} << 32) | (std::uint64_t{0x1003} << 16) | 0x3fff;
  const MatrixDescriptor expected{.startAddress = 0x3fff0,
                                  .leadingBytes = 0x10030,
                                  .strideBytes = 0x20010,
                                  .baseOffset = 5,
                                  .swizzle = Swizzle::Bytes64};

  EXPECT_EQ(decodeDescriptor(bits), expected);
  EXPECT_EQ(decodeDescriptor(std::uint64_t{1} << 62).swizzle, Swizzle::Bytes128);
  EXPECT_EQ(decodeDescriptor(std::uint64_t{3} << 62).swizzle, Swizzle::Bytes32);
  EXPECT_EQ(decodeDescriptor(0).swizzle, Swizzle::None);
}

TEST(DescriptorTest, RefusesReservedBitsAndBaseOffsets) {
  for (unsigned bit = 0; bit < 64; ++bit) {
    const bool isField =
        bit < 14 || (bit >= 16 && bit < 30) || (bit >= 32 && bit < 46) || bit >= 62;

    EXPECT_EQ(descriptorError(std::uint64_t{1} << bit) == nullptr, isField) << "bit " << bit;
  }
}

TEST(DescriptorTest, RefusesTilesThatBeginInsideTheirPattern) {
  const auto errorAt = [](std::uint64_t swizzleCode, std::uint64_t address) {
    return descriptorError(swizzleCode << 62 | address >> 4);
  };

  EXPECT_EQ(errorAt(1, 0x1400 + 96), nullptr); // the last 32 bytes of a row of 128
  EXPECT_NE(errorAt(1, 0x1400 + 128), nullptr);
  EXPECT_NE(errorAt(1, 0x1600), nullptr);
  EXPECT_EQ(errorAt(2, 0x1600 + 32), nullptr);
  EXPECT_NE(errorAt(2, 0x1640), nullptr);
  EXPECT_EQ(errorAt(3, 0x1500), nullptr);
  EXPECT_NE(errorAt(3, 0x1520), nullptr);
  EXPECT_EQ(errorAt(0, 0x1530), nullptr);
}

} // namespace fp8jit::emulator::testing
