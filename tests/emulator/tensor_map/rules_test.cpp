// The rules of cuTensorMapEncodeTiled, one case per rule and edge; expectations from the driver's
// documentation.
#include "emulator/tensor_map/tensor_map.h"

#include <gtest/gtest.h>

#include <functional>

namespace fp8jit::emulator {
namespace {

/// A change to a valid map, and how the message begins; empty: the map stays valid.
struct Case {
  const char *what;
  std::function<void(TensorMap &)> change;
  std::string_view message;
};

/// A 3-D bf16 tensor with 128-byte swizzling: every rule is met.
TensorMap validMap() {
  return {.address = 0x7f00'0000'0000,
          .rank = 3,
          .element = TensorElement::BF16,
          .swizzle = Swizzle::Bytes128,
          .dims = {1000, 200, 3, 1, 1},
          .strides = {2048, 2048 * 200},
          .box = {64, 128, 1, 1, 1}};
}

void check(const Case &test) {
  TensorMap map = validMap();
  test.change(map);
  const std::string message = checkTensorMap(map);
  EXPECT_EQ(message.empty(), test.message.empty()) << test.what << ": " << message;
  EXPECT_EQ(message.substr(0, test.message.size()), test.message) << test.what;
}

/// A packed type that fills 16 bytes per 16 elements.
void makePadded(TensorMap &map, TensorElement element) {
  map.element = element;
  map.dims[0] = 1024;
  map.box[0] = 128;
}

} // namespace

TEST(TensorMapRulesTest, AcceptAValidMap) {
  EXPECT_EQ(checkTensorMap(validMap()), "");
  EXPECT_EQ(checkTensorMap({.rank = 1, .dims = {1}, .box = {16}}), "") << "null for later patching";
}

TEST(TensorMapRulesTest, CheckEnumeratorsAndRank) {
  const Case cases[] = {
      {"type", [](TensorMap &m) { m.element = static_cast<TensorElement>(16); },
       "tensorDataType: found 16, expected a type from 0 to 15"},
      {"interleave", [](TensorMap &m) { m.interleave = static_cast<TensorInterleave>(3); },
       "interleave: found 3"},
      {"swizzle", [](TensorMap &m) { m.swizzle = static_cast<Swizzle>(7); }, "swizzle: found 7"},
      {"promotion", [](TensorMap &m) { m.l2Promotion = 4; }, "l2Promotion: found 4"},
      {"fill", [](TensorMap &m) { m.fill = static_cast<TensorFill>(2); }, "oobFill: found 2"},
      {"rank 0", [](TensorMap &m) { m.rank = 0; }, "tensorRank: found 0, expected 1 to 5"},
      {"rank 6", [](TensorMap &m) { m.rank = 6; }, "tensorRank: found 6"},
      {"rank 5", [](TensorMap &m) { m.rank = 5; }, ""},
      {"rank of interleaved",
       [](TensorMap &m) {
         m.rank = 2;
         m.interleave = TensorInterleave::Bytes16;
       },
       "tensorRank: found 2, expected 3 to 5"},
  };
  for (const Case &test : cases) {
    check(test);
  }
}

TEST(TensorMapRulesTest, CheckTheTensor) {
  constexpr std::uint64_t kTwo32 = std::uint64_t{1} << 32;
  constexpr std::uint64_t kTwo40 = std::uint64_t{1} << 40;
  const Case cases[] = {
      {"address", [](TensorMap &m) { m.address += 8; }, "globalAddress: found "},
      {"address", [](TensorMap &m) { m.address += 16; }, ""},
      {"address of interleaved",
       [](TensorMap &m) {
         m.address += 16;
         m.interleave = TensorInterleave::Bytes32;
         m.swizzle = Swizzle::Bytes32;
       },
       "globalAddress: found "},
      {"no elements", [](TensorMap &m) { m.dims[2] = 0; }, "globalDim[2]: found 0"},
      {"dimension beyond the rank", [](TensorMap &m) { m.dims[3] = 0; }, ""},
      {"2^32 elements", [](TensorMap &m) { m.dims[1] = kTwo32; }, ""},
      {"2^32 + 1", [](TensorMap &m) { m.dims[1] = kTwo32 + 1; }, "globalDim[1]: found 4294967297"},
      {"stride", [](TensorMap &m) { m.strides[1] = 2056; }, "globalStrides[1]: found 2056"},
      {"stride limit", [](TensorMap &m) { m.strides[0] = kTwo40; }, "globalStrides[0]: found"},
      {"largest stride", [](TensorMap &m) { m.strides[0] = kTwo40 - 16; }, ""},
      {"stride of padded type",
       [](TensorMap &m) {
         makePadded(m, TensorElement::U6Align16);
         m.strides[0] = 2064;
       },
       "globalStrides[0]: found 2064, expected a multiple of 32"},
      {"size of padded type",
       [](TensorMap &m) {
         makePadded(m, TensorElement::U4Align16);
         m.dims[0] = 1000;
       },
       "globalDim[0]: found 1000, expected a multiple of 128"},
      {"odd size of nibbles",
       [](TensorMap &m) {
         m.element = TensorElement::U4Align8;
         m.dims[0] = 999;
       },
       "globalDim[0]: found 999, expected a multiple of 2"},
  };
  for (const Case &test : cases) {
    check(test);
  }
}

TEST(TensorMapRulesTest, CheckTheBox) {
  const Case cases[] = {
      {"empty", [](TensorMap &m) { m.box[1] = 0; }, "boxDim[1]: found 0, expected 1 to 256"},
      {"256", [](TensorMap &m) { m.box[1] = 256; }, ""},
      {"257", [](TensorMap &m) { m.box[1] = 257; }, "boxDim[1]: found 257"},
      {"inner bytes", [](TensorMap &m) { m.box[0] = 12; },
       "boxDim[0]: found 24 bytes, expected a multiple of 16"},
      {"inner bytes of nibbles",
       [](TensorMap &m) {
         m.element = TensorElement::U4Align8;
         m.box[0] = 31;
       },
       "boxDim[0]: found 15 bytes"},
      {"padded box",
       [](TensorMap &m) {
         makePadded(m, TensorElement::U6Align16);
         m.box[0] = 64;
       },
       "boxDim[0]: found 64, expected 128"},
      {"element stride", [](TensorMap &m) { m.elementStrides[1] = 9; }, "elementStrides[1]: found"},
      {"element stride 8", [](TensorMap &m) { m.elementStrides[1] = 8; }, ""},
      {"ignored element stride", [](TensorMap &m) { m.elementStrides[0] = 0; }, ""},
      {"element stride of interleaved",
       [](TensorMap &m) {
         m.elementStrides[0] = 0;
         m.interleave = TensorInterleave::Bytes16;
       },
       "elementStrides[0]: found 0"},
  };
  for (const Case &test : cases) {
    check(test);
  }
}

TEST(TensorMapRulesTest, CheckModesThatExcludeOneAnother) {
  const Case cases[] = {
      {"span 64", [](TensorMap &m) { m.swizzle = Swizzle::Bytes64; },
       "boxDim[0]: found 128 bytes, expected at most the 64 bytes of the swizzle"},
      {"span 32", [](TensorMap &m) { m.swizzle = Swizzle::Bytes32; }, "boxDim[0]: found 128"},
      {"span 128", [](TensorMap &m) { m.box[0] = 72; }, "boxDim[0]: found 144 bytes"},
      {"atoms", [](TensorMap &m) { m.swizzle = Swizzle::Bytes128Atom64; }, ""},
      {"no swizzle",
       [](TensorMap &m) {
         m.swizzle = Swizzle::None;
         m.box[0] = 256;
       },
       ""},
      {"interleave 32B", [](TensorMap &m) { m.interleave = TensorInterleave::Bytes32; },
       "swizzle: found 3, expected 32B"},
      {"interleaved U6",
       [](TensorMap &m) {
         makePadded(m, TensorElement::U6Align16);
         m.interleave = TensorInterleave::Bytes16;
       },
       "interleave: found 1, expected none"},
      {"U4 atoms of 64",
       [](TensorMap &m) {
         makePadded(m, TensorElement::U4Align16);
         m.swizzle = Swizzle::Bytes128Atom64;
       },
       "swizzle: found 6"},
      {"U6 atoms of 64",
       [](TensorMap &m) {
         makePadded(m, TensorElement::U6Align16);
         m.swizzle = Swizzle::Bytes128Atom64;
       },
       ""},
      {"NaN", [](TensorMap &m) { m.fill = TensorFill::NaN; }, ""},
      {"NaN of integers",
       [](TensorMap &m) {
         m.fill = TensorFill::NaN;
         m.element = TensorElement::U16;
       },
       "oobFill: found NaN with elements of u16"},
  };
  for (const Case &test : cases) {
    check(test);
  }
}

TEST(TensorElementTest, HasTheSizesOfTheDriver) {
  constexpr unsigned kBits[] = {8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 4, 6};
  for (unsigned i = 0; i < std::size(kBits); ++i) {
    EXPECT_EQ(elementBits(static_cast<TensorElement>(i)), kBits[i]) << i;
    EXPECT_EQ(isPacked(static_cast<TensorElement>(i)), i >= 13) << i;
  }
  EXPECT_EQ(elementBits(static_cast<TensorElement>(16)), 0U);
}

} // namespace fp8jit::emulator
