// Tensor maps through the driver: what is refused, and that a refusal leaves the map alone. The
// rules have a test of their own in tests/emulator/tensor_map.
#include "tests/emulator/abi/driver_under_test.h"

#include <cstring>
#include <string>

namespace fp8jit::testing {
namespace {

/// Arguments of cuTensorMapEncodeTiled for a [64, 128] bf16 matrix in boxes of [8, 64].
struct Encoding {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  cuuint32_t rank = 2;
  void *address = reinterpret_cast<void *>(0x10000);
  cuuint64_t dims[5] = {128, 64, 1, 1, 1};
  cuuint64_t strides[4] = {256, 16384, 16384, 16384};
  cuuint32_t box[5] = {64, 8, 1, 1, 1};
  cuuint32_t elementStrides[5] = {1, 1, 1, 1, 1};
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
};

class TensorMapTest : public HopperTest {
protected:
  CUresult encode(const Encoding &e) {
    return cu.tensorMapEncodeTiled(&map, e.type, e.rank, e.address, e.dims, e.strides, e.box,
                                   e.elementStrides, CU_TENSOR_MAP_INTERLEAVE_NONE, e.swizzle,
                                   CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  }

  CUtensorMap map{};
};

using AdaTensorMapTest = DriverTest;

} // namespace

TEST_F(TensorMapTest, EncodesAndReplacesTheAddress) {
  ASSERT_EQ(encode({}), CUDA_SUCCESS);
  const CUtensorMap first = map;

  EXPECT_EQ(cu.tensorMapReplaceAddress(&map, reinterpret_cast<void *>(0x20000)), CUDA_SUCCESS);
  EXPECT_NE(std::memcmp(&map, &first, sizeof map), 0);
  EXPECT_EQ(cu.tensorMapReplaceAddress(&map, reinterpret_cast<void *>(0x10000)), CUDA_SUCCESS);
  EXPECT_EQ(std::memcmp(&map, &first, sizeof map), 0);
}

TEST_F(TensorMapTest, ARefusalNamesTheFieldAndLeavesTheMap) {
  ASSERT_EQ(encode({}), CUDA_SUCCESS);
  const CUtensorMap before = map;
  Encoding wideBox;
  wideBox.box[0] = 128;

  ::testing::internal::CaptureStderr();
  const CUresult result = encode(wideBox);
  const std::string log = ::testing::internal::GetCapturedStderr();

  EXPECT_EQ(result, CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(log, "fp8jit-emulator: cuTensorMapEncodeTiled: boxDim[0]: found 256 bytes, expected at "
                 "most the 128 bytes of the swizzle\n");
  EXPECT_EQ(std::memcmp(&map, &before, sizeof map), 0);
}

TEST_F(TensorMapTest, RefusesWhatTheDriverRefuses) {
  EXPECT_EQ(encode({.rank = 0}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(encode({.rank = 6}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(encode({.rank = 0xffffffffU}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(encode({.type = static_cast<CUtensorMapDataType>(0x100)}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(encode({.type = static_cast<CUtensorMapDataType>(-1)}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(encode({.address = reinterpret_cast<void *>(8)}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(encode({.swizzle = static_cast<CUtensorMapSwizzle>(256)}), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(TensorMapTest, RefusesBadPointers) {
  const Encoding e;
  const auto call = [&](CUtensorMap *target, const cuuint64_t *dims, const cuuint64_t *strides,
                        const cuuint32_t *box, cuuint32_t rank) {
    return cu.tensorMapEncodeTiled(target, e.type, rank, e.address, dims, strides, box,
                                   e.elementStrides, CU_TENSOR_MAP_INTERLEAVE_NONE, e.swizzle,
                                   CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  auto *misaligned = reinterpret_cast<CUtensorMap *>(reinterpret_cast<char *>(&map) + 32);
  EXPECT_EQ(call(nullptr, e.dims, e.strides, e.box, 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call(misaligned, e.dims, e.strides, e.box, 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call(&map, nullptr, e.strides, e.box, 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call(&map, e.dims, e.strides, nullptr, 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call(&map, e.dims, nullptr, e.box, 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call(&map, e.dims, nullptr, e.box, 1), CUDA_SUCCESS) << "one dimension has no stride";
}

TEST_F(TensorMapTest, ReplacesTheAddressOfMapsOnly) {
  void *const address = reinterpret_cast<void *>(0x10000);
  EXPECT_EQ(cu.tensorMapReplaceAddress(&map, address), CUDA_ERROR_INVALID_VALUE) << "no map yet";
  EXPECT_EQ(cu.tensorMapReplaceAddress(nullptr, address), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(encode({}), CUDA_SUCCESS);
  EXPECT_EQ(cu.tensorMapReplaceAddress(&map, reinterpret_cast<void *>(0x10008)),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(AdaTensorMapTest, NeedADeviceThatHasThem) {
  const Encoding e;
  CUtensorMap map{};
  EXPECT_EQ(cu.tensorMapEncodeTiled(&map, e.type, e.rank, e.address, e.dims, e.strides, e.box,
                                    e.elementStrides, CU_TENSOR_MAP_INTERLEAVE_NONE, e.swizzle,
                                    CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
            CUDA_ERROR_NOT_SUPPORTED);
}

} // namespace fp8jit::testing
