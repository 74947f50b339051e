// The 128 bytes of a tensor map.
#include "emulator/tensor_map/tensor_map.h"

#include <gtest/gtest.h>

#include <random>

namespace fp8jit::emulator {

static TensorMap randomMap(std::mt19937_64 &random) {
  TensorMap map{.address = random(),
                .rank = static_cast<std::uint32_t>(random() % 8),
                .element = static_cast<TensorElement>(random() % 16),
                .interleave = static_cast<TensorInterleave>(random() % 3),
                .swizzle = static_cast<Swizzle>(random() % 7),
                .fill = static_cast<TensorFill>(random() % 2),
                .l2Promotion = static_cast<std::uint8_t>(random() % 4)};
  for (unsigned d = 0; d < kMaxTensorRank; ++d) {
    map.dims[d] = random();
    map.box[d] = static_cast<std::uint32_t>(random() % 65536);
    map.elementStrides[d] = static_cast<std::uint32_t>(random() % 256);
  }
  for (std::uint64_t &stride : map.strides) {
    stride = random();
  }
  return map;
}

TEST(TensorMapEncodingTest, KeepsEveryField) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200; ++i) {
    const TensorMap map = randomMap(random);

    const auto decoded = decodeTensorMap(encodeTensorMap(map));

    ASSERT_TRUE(decoded.has_value()) << i;
    EXPECT_TRUE(*decoded == map) << i;
  }
}

TEST(TensorMapEncodingTest, KeepsFieldsInvalidThatDoNotFit) {
  TensorMap map{.rank = 1000};
  map.box[0] = 65536 + 16;
  map.elementStrides[1] = 256 + 1;

  const auto decoded = decodeTensorMap(encodeTensorMap(map));

  ASSERT_TRUE(decoded.has_value());
  EXPECT_GT(decoded->rank, 5U);
  EXPECT_GT(decoded->box[0], 256U);
  EXPECT_GT(decoded->elementStrides[1], 8U);
}

TEST(TensorMapEncodingTest, NoticesEveryFlippedBit) {
  std::mt19937_64 random(2);
  const auto bytes = encodeTensorMap(randomMap(random));
  for (std::size_t bit = 0; bit < 8 * kTensorMapBytes; ++bit) {
    auto damaged = bytes;
    damaged[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(decodeTensorMap(damaged).has_value()) << bit;
  }
}

TEST(TensorMapEncodingTest, RefusesOtherBytes) {
  EXPECT_FALSE(decodeTensorMap(std::array<std::byte, kTensorMapBytes>{}).has_value());
}

} // namespace fp8jit::emulator
