// Rows of a box against the rule of the PTX ISA for single elements: element (j0, j1, ...) of the
// box is element (c0 + j0, c1 + j1 * stride1, ...) of the tensor, or filled if that lies outside.
#include "emulator/tensor_map/box.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace fp8jit::emulator {
namespace {

constexpr std::int64_t kOutside = -1;

/// A map with random sizes; the tensor is small, so that boxes often cross its edges.
TensorMap randomMap(std::mt19937 &random) {
  const auto below = [&](unsigned limit) { return static_cast<std::uint32_t>(random() % limit); };
  constexpr TensorElement kElements[] = {TensorElement::U8, TensorElement::BF16, TensorElement::F32,
                                         TensorElement::F64};
  TensorMap map{.address = 0x10000, .rank = 1 + below(5), .element = kElements[below(4)]};
  const unsigned elementBytes = elementBits(map.element) / 8;
  map.box[0] = 16 / elementBytes * (1 + below(4));
  map.dims[0] = 1 + below(100);
  std::uint64_t stride = (map.dims[0] * elementBytes + 15) / 16 * 16;
  for (unsigned d = 1; d < map.rank; ++d) {
    map.dims[d] = 1 + below(6);
    map.box[d] = 1 + below(5);
    map.elementStrides[d] = 1 + below(3);
    map.strides[d - 1] = stride + 16 * below(3);
    stride = map.strides[d - 1] * map.dims[d];
  }
  return map;
}

/// For every byte of the dense box its global address, or kOutside: the rule, element by element.
std::vector<std::int64_t> expectedAddresses(const TensorMap &map, const std::int32_t *start) {
  const unsigned elementBytes = elementBits(map.element) / 8;
  std::uint32_t count[5] = {};
  for (unsigned d = 0; d < 5; ++d) {
    const unsigned stride = d == 0 ? 1 : map.elementStrides[d];
    count[d] = d < map.rank ? (map.box[d] + stride - 1) / stride : 1;
  }
  std::vector<std::int64_t> addresses;
  std::uint32_t j[5] = {};
  for (j[4] = 0; j[4] < count[4]; ++j[4]) {
    for (j[3] = 0; j[3] < count[3]; ++j[3]) {
      for (j[2] = 0; j[2] < count[2]; ++j[2]) {
        for (j[1] = 0; j[1] < count[1]; ++j[1]) {
          for (j[0] = 0; j[0] < count[0]; ++j[0]) {
            std::int64_t address = static_cast<std::int64_t>(map.address);
            bool isInside = true;
            for (unsigned d = 0; d < map.rank; ++d) {
              const std::int64_t place =
                  start[d] + std::int64_t{j[d]} * (d == 0 ? 1 : map.elementStrides[d]);
              isInside &= place >= 0 && place < static_cast<std::int64_t>(map.dims[d]);
              address +=
                  place * static_cast<std::int64_t>(d == 0 ? elementBytes : map.strides[d - 1]);
            }
            for (unsigned byte = 0; byte < elementBytes; ++byte) {
              addresses.push_back(isInside ? address + byte : kOutside);
            }
          }
        }
      }
    }
  }
  return addresses;
}

/// The same from the rows of a Box.
std::vector<std::int64_t> boxAddresses(const Box &box) {
  std::vector<std::int64_t> addresses(box.sizeBytes(), -2);
  for (std::uint32_t i = 0; i < box.rowCount(); ++i) {
    const BoxRow row = box.row(i);
    EXPECT_EQ(row.leadBytes + row.insideBytes + row.tailBytes, box.rowBytes());
    for (std::uint32_t byte = 0; byte < box.rowBytes(); ++byte) {
      const bool isInside = byte >= row.leadBytes && byte < row.leadBytes + row.insideBytes;
      addresses.at(row.offset + byte) =
          isInside ? static_cast<std::int64_t>(row.address) + byte - row.leadBytes : kOutside;
    }
  }
  return addresses;
}

} // namespace

TEST(BoxTest, AgreesWithTheRuleForEveryElement) {
  std::mt19937 random(3);
  for (int i = 0; i < 3000; ++i) {
    const TensorMap map = randomMap(random);
    ASSERT_EQ(checkTensorMap(map), "") << i;
    std::int32_t start[5] = {};
    for (unsigned d = 0; d < map.rank; ++d) {
      const auto reach = static_cast<std::int32_t>(map.dims[d]) + 8;
      start[d] = static_cast<std::int32_t>(random() % static_cast<unsigned>(2 * reach)) - reach / 2;
    }

    const Box box(map, {start, map.rank});

    ASSERT_EQ(boxAddresses(box), expectedAddresses(map, start)) << i;
  }
}

TEST(BoxTest, LiesOutsideAtTheEndsOfTheCoordinates) {
  const TensorMap map{.address = 4096,
                      .rank = 2,
                      .dims = {std::uint64_t{1} << 32, std::uint64_t{1} << 32},
                      .strides = {16},
                      .box = {32, 2}};
  for (const std::int32_t end : {INT32_MIN, INT32_MIN + 1, -33}) {
    const std::int32_t low[] = {end, 0};
    EXPECT_EQ(Box(map, low).row(0).insideBytes, 0U) << end;
    const std::int32_t lowRow[] = {0, end};
    EXPECT_EQ(Box(map, lowRow).row(0).insideBytes, 0U) << end;
  }
  const std::int32_t high[] = {INT32_MAX, INT32_MAX};
  EXPECT_EQ(Box(map, high).row(0).insideBytes, 32U) << "within 2^32 elements";
}

TEST(BoxTest, CountsTheBytesOfTheLargestBox) {
  const TensorMap map{.rank = 5, .element = TensorElement::F64, .box = {256, 256, 256, 256, 256}};
  const std::int32_t start[5] = {};

  EXPECT_EQ(Box(map, start).sizeBytes(), std::uint64_t{1} << 43);
}

TEST(FillOutsideTest, WritesZerosOrNaNs) {
  TensorMap map{.element = TensorElement::F32};
  std::array<std::byte, 16> bytes;
  bytes.fill(std::byte{1});

  fillOutside(map, bytes);
  EXPECT_EQ(bytes, (std::array<std::byte, 16>{}));

  map.fill = TensorFill::NaN;
  fillOutside(map, bytes);
  std::array<float, 4> values{};
  std::memcpy(values.data(), bytes.data(), sizeof bytes);
  for (const float value : values) {
    EXPECT_NE(value, value);
  }
}

TEST(UnsupportedByCopiesTest, NamesWhatIsMissing) {
  EXPECT_EQ(unsupportedByCopies({}), "");
  EXPECT_NE(unsupportedByCopies({.interleave = TensorInterleave::Bytes16}), "");
  EXPECT_NE(unsupportedByCopies({.element = TensorElement::U4Align8}), "");
}

} // namespace fp8jit::emulator
