// Device and host memory: allocation, copies, fills, bounds.
#include "tests/emulator/abi/driver_under_test.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

namespace fp8jit::testing {
namespace {

using MemoryTest = DriverTest;

} // namespace

TEST_F(MemoryTest, CopiesThereAndBack) {
  std::vector<std::uint8_t> sent(1000);
  std::iota(sent.begin(), sent.end(), std::uint8_t{1});
  std::vector<std::uint8_t> received(1000);
  CUdeviceptr first = 0;
  CUdeviceptr second = 0;
  ASSERT_EQ(cu.memAlloc(&first, sent.size()), CUDA_SUCCESS);
  ASSERT_EQ(cu.memAlloc(&second, sent.size()), CUDA_SUCCESS);

  EXPECT_EQ(cu.memcpyHtoD(first, sent.data(), sent.size()), CUDA_SUCCESS);
  EXPECT_EQ(cu.memcpyDtoD(second, first, sent.size()), CUDA_SUCCESS);
  EXPECT_EQ(cu.memcpyDtoH(received.data(), second, received.size()), CUDA_SUCCESS);

  EXPECT_EQ(received, sent);
  EXPECT_EQ(cu.memFree(first), CUDA_SUCCESS);
  EXPECT_EQ(cu.memFree(second), CUDA_SUCCESS);
}

TEST_F(MemoryTest, GuardsTheEndOfEveryAllocation) {
  std::vector<std::uint8_t> bytes(101);
  CUdeviceptr pointer = 0;
  ASSERT_EQ(cu.memAlloc(&pointer, 100), CUDA_SUCCESS);
  ASSERT_EQ(pointer % 256, 0U);

  EXPECT_EQ(cu.memcpyHtoD(pointer, bytes.data(), 101), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu.memcpyHtoD(pointer + 1, bytes.data(), 100), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu.memcpyDtoH(bytes.data(), pointer - 1, 10), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu.memsetD8(pointer, 0, 101), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu.memsetD8(pointer, 0, 100), CUDA_SUCCESS);
}

TEST_F(MemoryTest, FillsWithElementsOfEverySize) {
  std::array<std::uint32_t, 4> words{};
  CUdeviceptr pointer = 0;
  ASSERT_EQ(cu.memAlloc(&pointer, sizeof words), CUDA_SUCCESS);

  EXPECT_EQ(cu.memsetD32(pointer, 0x01020304, 4), CUDA_SUCCESS);
  EXPECT_EQ(cu.memsetD16(pointer, 0xabcd, 3), CUDA_SUCCESS);
  EXPECT_EQ(cu.memsetD8(pointer + 15, 0x77, 1), CUDA_SUCCESS);
  EXPECT_EQ(cu.memcpyDtoH(words.data(), pointer, sizeof words), CUDA_SUCCESS);

  EXPECT_EQ(words, (std::array<std::uint32_t, 4>{0xabcdabcd, 0x0102abcd, 0x01020304, 0x77020304}));
  EXPECT_EQ(cu.memsetD32(pointer + 2, 0, 1), CUDA_ERROR_INVALID_VALUE) << "misaligned";
}

TEST_F(MemoryTest, RefusesMisuse) {
  CUdeviceptr pointer = 0;
  ASSERT_EQ(cu.memAlloc(&pointer, 64), CUDA_SUCCESS);

  EXPECT_EQ(cu.memAlloc(&pointer, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu.memAlloc(nullptr, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu.memAlloc(&pointer, size_t{1} << 50), CUDA_ERROR_OUT_OF_MEMORY);
  ASSERT_EQ(cu.memAlloc(&pointer, 64), CUDA_SUCCESS);
  EXPECT_EQ(cu.memFree(pointer + 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu.memcpyHtoD(pointer, nullptr, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu.memcpyHtoDAsync(pointer, &pointer, 4, reinterpret_cast<CUstream>(&pointer)),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cu.memFree(pointer), CUDA_SUCCESS);
  EXPECT_EQ(cu.memFree(pointer), CUDA_ERROR_INVALID_VALUE) << "freed twice";
  EXPECT_EQ(cu.memFree(0), CUDA_SUCCESS) << "as cudaFree(nullptr)";
}

TEST_F(MemoryTest, CopiesBetweenUnifiedAddresses) {
  std::uint32_t value = 42;
  std::uint32_t copy = 0;
  CUdeviceptr pointer = 0;
  ASSERT_EQ(cu.memAlloc(&pointer, 4), CUDA_SUCCESS);

  EXPECT_EQ(cu.memcpyUnified(pointer, reinterpret_cast<CUdeviceptr>(&value), 4), CUDA_SUCCESS);
  EXPECT_EQ(cu.memcpyUnified(reinterpret_cast<CUdeviceptr>(&copy), pointer, 4), CUDA_SUCCESS);

  EXPECT_EQ(copy, 42U);
}

TEST_F(MemoryTest, KnowsPinnedAndRegisteredHostMemory) {
  void *pinned = nullptr;
  alignas(64) static std::array<std::uint8_t, 4096> own{};
  unsigned type = 0;
  ASSERT_EQ(cu.memAllocHost(&pinned, 128), CUDA_SUCCESS);
  std::memset(pinned, 1, 128);

  EXPECT_EQ(cu.pointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   reinterpret_cast<CUdeviceptr>(pinned)),
            CUDA_SUCCESS);
  EXPECT_EQ(type, static_cast<unsigned>(CU_MEMORYTYPE_HOST));
  EXPECT_EQ(cu.memFreeHost(pinned), CUDA_SUCCESS);
  EXPECT_EQ(cu.memFreeHost(pinned), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu.memHostRegister(own.data(), own.size(), 0), CUDA_SUCCESS);
  EXPECT_EQ(cu.memHostRegister(own.data(), own.size(), 0),
            CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_EQ(cu.memHostUnregister(own.data()), CUDA_SUCCESS);
  EXPECT_EQ(cu.memHostUnregister(own.data()), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

TEST_F(MemoryTest, CountsWhatIsFree) {
  size_t before = 0;
  size_t after = 0;
  size_t total = 0;
  CUdeviceptr pointer = 0;
  ASSERT_EQ(cu.memGetInfo(&before, &total), CUDA_SUCCESS);
  ASSERT_EQ(cu.memAlloc(&pointer, 1 << 20), CUDA_SUCCESS);

  EXPECT_EQ(cu.memGetInfo(&after, &total), CUDA_SUCCESS);

  EXPECT_EQ(total, size_t{48} << 30);
  EXPECT_GE(before - after, size_t{1} << 20);
}

TEST_F(MemoryTest, SaysNothingOfForeignPointers) {
  int local = 0;
  unsigned type = 0;

  EXPECT_EQ(cu.pointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   reinterpret_cast<CUdeviceptr>(&local)),
            CUDA_ERROR_INVALID_VALUE);
}

} // namespace fp8jit::testing
