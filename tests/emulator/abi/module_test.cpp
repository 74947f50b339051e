// Loading of PTX, cubins and garbage; functions, kernels, variables and their attributes.
#include "tests/emulator/abi/driver_under_test.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <string>

namespace fp8jit::testing {
namespace {

using ModuleTest = DriverTest;

struct BadImage {
  const char *what;
  std::string image;
  CUresult expected;
  const char *log; ///< must be part of the error log
};

} // namespace

/// An ELF file of one empty section header for `machine`.
static std::string elfImage(std::uint16_t machine, std::uint32_t flags) {
  std::string image(128, '\0');
  std::memcpy(image.data(), "\177ELF\2\1\1", 7);
  const std::uint16_t headerBytes = 64;
  std::memcpy(image.data() + 18, &machine, 2);
  std::memcpy(image.data() + 48, &flags, 4);
  std::memcpy(image.data() + 52, &headerBytes, 2);
  std::memcpy(image.data() + 58, &headerBytes, 2);
  const std::uint64_t sectionOffset = 64;
  const std::uint16_t sectionCount = 1;
  std::memcpy(image.data() + 40, &sectionOffset, 8);
  std::memcpy(image.data() + 60, &sectionCount, 2);
  return image;
}

TEST_F(ModuleTest, FindsFunctionsAndVariables) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr counter = 0;
  size_t counterBytes = 0;
  std::array<std::uint32_t, 2> values{};

  ASSERT_EQ(cu.moduleLoadData(&module, kTestPtx), CUDA_SUCCESS);
  EXPECT_EQ(cu.moduleGetFunction(&function, module, "vector_add"), CUDA_SUCCESS);
  EXPECT_EQ(cu.moduleGetFunction(&function, module, "absent"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cu.moduleGetGlobal(&counter, &counterBytes, module, "counter"), CUDA_SUCCESS);
  EXPECT_EQ(cu.memcpyDtoH(values.data(), counter, sizeof values), CUDA_SUCCESS);

  EXPECT_EQ(counterBytes, sizeof values);
  EXPECT_EQ(values, (std::array<std::uint32_t, 2>{7, 9}));
  EXPECT_EQ(cu.moduleGetGlobal(&counter, nullptr, module, "absent"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cu.moduleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(cu.moduleUnload(module), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cu.moduleGetFunction(&function, module, "vector_add"), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(ModuleTest, RefusesBadImagesWithALog) {
  const BadImage cases[] = {
      {"text", "hello", CUDA_ERROR_INVALID_IMAGE, "neither PTX"},
      {"empty", "", CUDA_ERROR_INVALID_IMAGE, "neither PTX"},
      {"newer PTX", ".version 9.1\n.target sm_89\n.address_size 64\n",
       CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "9.1"},
      {"newer target", ".version 8.4\n.target sm_90a\n.address_size 64\n", CUDA_ERROR_INVALID_PTX,
       "sm_90a"},
      {"unknown instruction",
       ".version 8.4\n.target sm_89\n.address_size 64\n.visible .entry k()\n{\nfrobnicate;\n}\n",
       CUDA_ERROR_INVALID_PTX, "line 6"},
      {"foreign ELF", elfImage(62, 0), CUDA_ERROR_INVALID_IMAGE, "no cubin"},
      {"cubin of another GPU", elfImage(190, 90U << 8), CUDA_ERROR_NO_BINARY_FOR_GPU, "sm_90"},
      {"fat binary", std::string("\x50\xed\x55\xba\1", 5), CUDA_ERROR_NO_BINARY_FOR_GPU,
       "fat binaries"},
  };
  for (const BadImage &test : cases) {
    CUmodule module = nullptr;
    std::array<char, 512> log{};
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};

    EXPECT_EQ(cu.moduleLoadDataEx(&module, test.image.c_str(), 2, options, values), test.expected)
        << test.what;

    EXPECT_NE(std::string(log.data()).find(test.log), std::string::npos)
        << test.what << ": " << log.data();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values[1]), std::strlen(log.data())) << test.what;
  }
}

TEST_F(ModuleTest, CutsTheLogToItsBuffer) {
  CUmodule module = nullptr;
  std::array<char, 8> log;
  log.fill('x');
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER};
  void *values[] = {reinterpret_cast<void *>(std::uintptr_t{5}), log.data()};

  EXPECT_EQ(cu.moduleLoadDataEx(&module, "hello", 2, options, values), CUDA_ERROR_INVALID_IMAGE);

  EXPECT_EQ(std::string(log.data(), 8), std::string("the \0xxx", 8));
}

TEST_F(ModuleTest, RefusesACubinThatWasNeverPaired) {
  CUmodule module = nullptr;
  const std::string image = elfImage(190, 89U << 8);

  EXPECT_EQ(cu.moduleLoadData(&module, image.data()), CUDA_ERROR_NO_BINARY_FOR_GPU);
  ASSERT_EQ(table.pairBinary(image.data(), image.size(), kTestPtx, std::strlen(kTestPtx)), 0);
  EXPECT_EQ(cu.moduleLoadData(&module, image.data()), CUDA_SUCCESS);
}

TEST_F(ModuleTest, LoadsLibrariesWithoutAContext) {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  unsigned count = 0;
  size_t offset = 0;
  size_t sizeBytes = 0;
  ASSERT_EQ(cu.ctxSetCurrent(nullptr), CUDA_SUCCESS);

  ASSERT_EQ(cu.libraryLoadData(&library, kTestPtx, nullptr, nullptr, 0, nullptr, nullptr, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(cu.libraryGetKernelCount(&count, library), CUDA_SUCCESS);
  EXPECT_EQ(count, 6U);
  EXPECT_EQ(cu.libraryGetKernel(&kernel, library, "absent"), CUDA_ERROR_NOT_FOUND);
  ASSERT_EQ(cu.libraryGetKernel(&kernel, library, "vector_add"), CUDA_SUCCESS);
  EXPECT_EQ(cu.kernelGetParamInfo(kernel, 3, &offset, &sizeBytes), CUDA_SUCCESS);
  EXPECT_EQ(offset, 24U);
  EXPECT_EQ(sizeBytes, 4U);
  EXPECT_EQ(cu.kernelGetParamInfo(kernel, 4, &offset, &sizeBytes), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu.kernelGetFunction(&function, kernel), CUDA_ERROR_INVALID_CONTEXT);

  ASSERT_EQ(cu.ctxSetCurrent(context), CUDA_SUCCESS);
  EXPECT_EQ(cu.kernelGetFunction(&function, kernel), CUDA_SUCCESS);
  EXPECT_EQ(cu.libraryUnload(library), CUDA_SUCCESS);
  EXPECT_EQ(cu.libraryUnload(library), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cu.kernelGetParamInfo(kernel, 0, &offset, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(ModuleTest, AnswersFunctionAttributes) {
  CUmodule module = nullptr;
  CUfunction shared = nullptr;
  CUfunction bounded = nullptr;
  int value = 0;
  ASSERT_EQ(cu.moduleLoadData(&module, kTestPtx), CUDA_SUCCESS);
  ASSERT_EQ(cu.moduleGetFunction(&shared, module, "shared_fill"), CUDA_SUCCESS);
  ASSERT_EQ(cu.moduleGetFunction(&bounded, module, "bounded"), CUDA_SUCCESS);

  EXPECT_EQ(cu.funcGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, shared), CUDA_SUCCESS);
  EXPECT_EQ(value, 256);
  EXPECT_EQ(cu.funcGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared),
            CUDA_SUCCESS);
  EXPECT_EQ(value, 48 * 1024 - 256);
  EXPECT_EQ(cu.funcGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, bounded),
            CUDA_SUCCESS);
  EXPECT_EQ(value, 64);
  EXPECT_EQ(cu.funcGetAttribute(&value, CU_FUNC_ATTRIBUTE_BINARY_VERSION, bounded), CUDA_SUCCESS);
  EXPECT_EQ(value, 89);
  EXPECT_EQ(cu.occupancy(&value, bounded, 64, 0), CUDA_SUCCESS);
  EXPECT_EQ(value, 24);
  EXPECT_EQ(cu.occupancy(&value, bounded, 64, 40 * 1024), CUDA_SUCCESS);
  EXPECT_EQ(value, 2);
}

TEST_F(ModuleTest, LimitsTheDynamicSharedMemoryAttribute) {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  int value = 0;
  ASSERT_EQ(cu.libraryLoadData(&library, kTestPtx, nullptr, nullptr, 0, nullptr, nullptr, 0),
            CUDA_SUCCESS);
  ASSERT_EQ(cu.libraryGetKernel(&kernel, library, "shared_fill"), CUDA_SUCCESS);
  constexpr CUfunction_attribute kDynamic = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;

  EXPECT_EQ(cu.kernelSetAttribute(kDynamic, 101376 - 255, kernel, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu.kernelSetAttribute(kDynamic, -1, kernel, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu.kernelSetAttribute(kDynamic, 101376 - 256, kernel, 9), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cu.kernelSetAttribute(kDynamic, 101376 - 256, kernel, 0), CUDA_SUCCESS);
  EXPECT_EQ(cu.kernelGetAttribute(&value, kDynamic, kernel, 0), CUDA_SUCCESS);
  EXPECT_EQ(value, 101376 - 256);
  EXPECT_EQ(cu.kernelSetAttribute(CU_FUNC_ATTRIBUTE_NUM_REGS, 1, kernel, 0),
            CUDA_ERROR_INVALID_VALUE);
}

} // namespace fp8jit::testing
