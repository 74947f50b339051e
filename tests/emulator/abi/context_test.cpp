// Devices, primary contexts and the stack of current contexts.
#include "tests/emulator/abi/driver_under_test.h"

#include <string>
#include <thread>

namespace fp8jit::testing {
namespace {

using ContextTest = DriverTest;

struct AttributeCase {
  CUdevice_attribute attribute;
  int expected;
};

} // namespace

TEST_F(ContextTest, PresentsAnL40S) {
  int count = 0;
  char name[64] = {};
  size_t bytes = 0;

  EXPECT_EQ(cu.deviceGetCount(&count), CUDA_SUCCESS);
  EXPECT_EQ(cu.deviceGetName(name, sizeof name, 0), CUDA_SUCCESS);
  EXPECT_EQ(cu.deviceTotalMem(&bytes, 0), CUDA_SUCCESS);

  EXPECT_GE(count, 1);
  EXPECT_STREQ(name, "NVIDIA L40S (emulated)");
  EXPECT_EQ(bytes, size_t{48} << 30);
}

TEST_F(ContextTest, PresentsAnH200AsTheSecondDevice) {
  const AttributeCase cases[] = {
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 227 * 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 228 * 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
      {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 1},
      {CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, 1},
  };
  char name[64] = {};
  EXPECT_EQ(cu.deviceGetName(name, sizeof name, 1), CUDA_SUCCESS);
  EXPECT_STREQ(name, "NVIDIA H200 (emulated)");
  for (const AttributeCase &test : cases) {
    int value = -1;
    EXPECT_EQ(cu.deviceGetAttribute(&value, test.attribute, 1), CUDA_SUCCESS) << test.attribute;
    EXPECT_EQ(value, test.expected) << test.attribute;
  }
}

TEST_F(ContextTest, AnswersAttributes) {
  const AttributeCase cases[] = {
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 8},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 9},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 142},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 101376},
      {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
      {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
      {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 0},
      {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 96 << 20},
  };
  for (const AttributeCase &test : cases) {
    int value = -1;
    EXPECT_EQ(cu.deviceGetAttribute(&value, test.attribute, 0), CUDA_SUCCESS) << test.attribute;
    EXPECT_EQ(value, test.expected) << test.attribute;
  }
  int value = 0;
  EXPECT_EQ(cu.deviceGetAttribute(&value, static_cast<CUdevice_attribute>(99999), 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu.deviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 77),
            CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(ContextTest, RefusesMisuse) {
  CUdevice device = 0;
  CUcontext other = nullptr;
  char name[8];

  EXPECT_EQ(cu.deviceGet(&device, 99), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cu.deviceGet(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu.deviceGetName(nullptr, 8, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu.deviceGetName(name, sizeof name, 99), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cu.primaryCtxRetain(&other, 99), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cu.ctxSetCurrent(reinterpret_cast<CUcontext>(&device)), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cu.ctxDestroy(context), CUDA_ERROR_INVALID_CONTEXT) << "a primary context";
}

TEST_F(ContextTest, CountsReferencesOfThePrimaryContext) {
  CUcontext again = nullptr;
  unsigned flags = 0;
  int isActive = 0;

  EXPECT_EQ(cu.primaryCtxRetain(&again, 0), CUDA_SUCCESS);
  EXPECT_EQ(again, context);
  EXPECT_EQ(cu.primaryCtxRelease(0), CUDA_SUCCESS);
  EXPECT_EQ(cu.primaryCtxGetState(0, &flags, &isActive), CUDA_SUCCESS);
  EXPECT_EQ(isActive, 1);
}

TEST_F(ContextTest, KeepsAStackPerThread) {
  CUcontext created = nullptr;
  CUcontext found = nullptr;
  ASSERT_EQ(cu.ctxCreate(&created, nullptr, 0, 0), CUDA_SUCCESS);

  EXPECT_EQ(cu.ctxGetCurrent(&found), CUDA_SUCCESS);
  EXPECT_EQ(found, created);
  std::thread([&] {
    CUcontext elsewhere = created;
    CUdevice device = 0;
    EXPECT_EQ(cu.ctxGetCurrent(&elsewhere), CUDA_SUCCESS);
    EXPECT_EQ(elsewhere, nullptr);
    EXPECT_EQ(cu.ctxGetDevice(&device), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cu.ctxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cu.ctxPopCurrent(&elsewhere), CUDA_ERROR_INVALID_CONTEXT);
  }).join();
  EXPECT_EQ(cu.ctxPopCurrent(&found), CUDA_SUCCESS);
  EXPECT_EQ(found, created);
  EXPECT_EQ(cu.ctxGetCurrent(&found), CUDA_SUCCESS);
  EXPECT_EQ(found, context);
  EXPECT_EQ(cu.ctxDestroy(created), CUDA_SUCCESS);
  EXPECT_EQ(cu.ctxPushCurrent(created), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(ContextTest, SaysWhenTheCurrentContextWasDestroyed) {
  CUcontext created = nullptr;
  ASSERT_EQ(cu.ctxCreate(&created, nullptr, 0, 0), CUDA_SUCCESS);
  std::thread([&] { EXPECT_EQ(cu.ctxDestroy(created), CUDA_SUCCESS); }).join();

  EXPECT_EQ(cu.ctxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);

  EXPECT_EQ(cu.ctxPopCurrent(nullptr), CUDA_SUCCESS);
}

TEST_F(ContextTest, AResetFreesMemoryAndKeepsTheHandle) {
  CUdeviceptr pointer = 0;
  ASSERT_EQ(cu.memAlloc(&pointer, 256), CUDA_SUCCESS);

  EXPECT_EQ(cu.primaryCtxReset(0), CUDA_SUCCESS);

  EXPECT_EQ(cu.ctxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(cu.memsetD8(pointer, 0, 256), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu.memAlloc(&pointer, 256), CUDA_SUCCESS);
}

} // namespace fp8jit::testing
