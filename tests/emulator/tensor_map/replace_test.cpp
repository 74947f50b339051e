// tensormap.replace: values as PTX numbers them (PTX ISA, table of new_val).
#include "emulator/tensor_map/replace.h"

#include <gtest/gtest.h>

namespace fp8jit::emulator {

TEST(TensormapReplaceTest, SetsFieldsOfTheWholeMap) {
  TensorMap map;

  EXPECT_EQ(replaceField(map, TensormapField::GlobalAddress, 0, 0x1234'5678'9ab0), "");
  EXPECT_EQ(replaceField(map, TensormapField::Rank, 0, 3), "");
  EXPECT_EQ(replaceField(map, TensormapField::Interleave, 0, 2), "");
  EXPECT_EQ(replaceField(map, TensormapField::FillMode, 0, 1), "");

  EXPECT_EQ(map.address, 0x1234'5678'9ab0U);
  EXPECT_EQ(map.rank, 4U) << "the value is the rank less one";
  EXPECT_EQ(map.interleave, TensorInterleave::Bytes32);
  EXPECT_EQ(map.fill, TensorFill::NaN);
}

TEST(TensormapReplaceTest, SetsOneDimension) {
  TensorMap map;

  for (unsigned d = 0; d < kMaxTensorRank; ++d) {
    EXPECT_EQ(replaceField(map, TensormapField::GlobalDim, d, 1000 + d), "");
    EXPECT_EQ(replaceField(map, TensormapField::BoxDim, d, 10 + d), "");
    EXPECT_EQ(replaceField(map, TensormapField::ElementStride, d, 1 + d), "");
  }
  for (unsigned d = 0; d + 1 < kMaxTensorRank; ++d) {
    EXPECT_EQ(replaceField(map, TensormapField::GlobalStride, d, (std::uint64_t{1} << 36) + d), "");
  }

  EXPECT_EQ(map.dims, (std::array<std::uint64_t, 5>{1000, 1001, 1002, 1003, 1004}));
  EXPECT_EQ(map.box, (std::array<std::uint32_t, 5>{10, 11, 12, 13, 14}));
  EXPECT_EQ(map.elementStrides, (std::array<std::uint32_t, 5>{1, 2, 3, 4, 5}));
  for (unsigned d = 0; d + 1 < kMaxTensorRank; ++d) {
    EXPECT_EQ(map.strides[d], (std::uint64_t{1} << 36) + d) << d;
  }
}

TEST(TensormapReplaceTest, NumbersElementTypesAsPtxDoes) {
  constexpr TensorElement kByValue[] = {
      TensorElement::U8,       TensorElement::U16,      TensorElement::U32,
      TensorElement::S32,      TensorElement::U64,      TensorElement::S64,
      TensorElement::F16,      TensorElement::F32,      TensorElement::F32Ftz,
      TensorElement::F64,      TensorElement::BF16,     TensorElement::TF32,
      TensorElement::TF32Ftz,  TensorElement::U4Align8, TensorElement::U4Align16,
      TensorElement::U6Align16};
  TensorMap map;
  for (unsigned value = 0; value < std::size(kByValue); ++value) {
    EXPECT_EQ(replaceField(map, TensormapField::ElementType, 0, value), "");
    EXPECT_EQ(map.element, kByValue[value]) << value;
  }
}

TEST(TensormapReplaceTest, CombinesSwizzleAndAtomicity) {
  constexpr Swizzle kModes[] = {Swizzle::None, Swizzle::Bytes32, Swizzle::Bytes64,
                                Swizzle::Bytes128};
  constexpr Swizzle kAtoms[] = {Swizzle::Bytes128, Swizzle::Bytes128Atom32,
                                Swizzle::Bytes128Atom32Flip8, Swizzle::Bytes128Atom64};
  TensorMap map;
  for (unsigned value = 0; value < std::size(kModes); ++value) {
    EXPECT_EQ(replaceField(map, TensormapField::Swizzle, 0, value), "");
    EXPECT_EQ(map.swizzle, kModes[value]) << value;
  }
  for (unsigned value = 0; value < std::size(kAtoms); ++value) {
    EXPECT_EQ(replaceField(map, TensormapField::SwizzleAtomicity, 0, value), "");
    EXPECT_EQ(map.swizzle, kAtoms[value]) << value;
  }
  EXPECT_EQ(replaceField(map, TensormapField::Swizzle, 0, 3), "");
  EXPECT_EQ(map.swizzle, Swizzle::Bytes128Atom64) << "the mode says nothing of the atom";
  EXPECT_EQ(replaceField(map, TensormapField::Swizzle, 0, 1), "");
  EXPECT_NE(replaceField(map, TensormapField::SwizzleAtomicity, 0, 1), "");
}

TEST(TensormapReplaceTest, RefusesWhatNoFieldHolds) {
  const TensorMap before;
  TensorMap map;
  EXPECT_EQ(replaceField(map, TensormapField::Rank, 0, 5), "rank: found 5, expected 0 to 4");
  EXPECT_EQ(replaceField(map, TensormapField::GlobalDim, 5, 1),
            "global_dim: found dimension 5, expected 0 to 4");
  EXPECT_EQ(replaceField(map, TensormapField::GlobalStride, 4, 16),
            "global_stride: found dimension 4, expected 0 to 3");
  EXPECT_NE(replaceField(map, TensormapField::ElementType, 0, 16), "");
  EXPECT_NE(replaceField(map, TensormapField::Interleave, 0, 3), "");
  EXPECT_NE(replaceField(map, TensormapField::Swizzle, 0, 4), "");
  EXPECT_NE(replaceField(map, TensormapField::SwizzleAtomicity, 0, 4), "");
  EXPECT_NE(replaceField(map, TensormapField::FillMode, 0, 2), "");
  EXPECT_TRUE(map == before);
}

} // namespace fp8jit::emulator
