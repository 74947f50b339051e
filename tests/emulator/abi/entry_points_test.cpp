// What the library exports, and how it answers cuGetProcAddress, error names and unknown calls.
#include "tests/emulator/abi/driver_under_test.h"

#include <cstdio>
#include <set>
#include <string>
#include <vector>

namespace fp8jit::testing {
namespace {

constexpr const char *kDeclaredNames[] = {
#include FP8JIT_ENTRY_POINT_NAMES
};

struct Resolution {
  const char *name;
  int version;
  unsigned long long flags;
  const char *symbol; ///< null: not found
  CUdriverProcAddressQueryResult status;
};

} // namespace

/// The names in the library's dynamic symbol table that it defines.
static std::set<std::string> definedSymbols() {
  std::set<std::string> names;
  std::FILE *pipe = popen("nm -D --defined-only " FP8JIT_EMULATOR_LIBRARY, "r");
  char address[64];
  char kind[8];
  char name[512];
  while (pipe != nullptr && std::fscanf(pipe, "%63s %7s %511s", address, kind, name) == 3) {
    names.insert(name);
  }
  if (pipe != nullptr) {
    pclose(pipe);
  }
  return names;
}

TEST(EntryPointsTest, ExportsOnlyTheDriverInterface) {
  const std::set<std::string> names = definedSymbols();

  ASSERT_GT(names.size(), 400U);
  for (const std::string &name : names) {
    EXPECT_TRUE(name.starts_with("cu")) << name;
  }
}

TEST(EntryPointsTest, ExportsEveryFunctionOfTheHeader) {
  for (const char *name : kDeclaredNames) {
    EXPECT_NE(driverSymbol(name), nullptr) << name;
  }
}

TEST(EntryPointsTest, ResolvesNamesByVersion) {
  const DriverFunctions &cu = driverFunctions();
  const Resolution cases[] = {
      {"cuMemAlloc", 12000, 0, "cuMemAlloc_v2", CU_GET_PROC_ADDRESS_SUCCESS},
      {"cuMemAlloc", 3020, 0, "cuMemAlloc_v2", CU_GET_PROC_ADDRESS_SUCCESS},
      {"cuMemAlloc", 2000, 0, "cuMemAlloc", CU_GET_PROC_ADDRESS_SUCCESS},
      {"cuCtxCreate", 12040, 0, "cuCtxCreate_v3", CU_GET_PROC_ADDRESS_SUCCESS},
      {"cuCtxCreate", 13000, 0, "cuCtxCreate_v4", CU_GET_PROC_ADDRESS_SUCCESS},
      {"cuGetProcAddress", 11030, 0, "cuGetProcAddress", CU_GET_PROC_ADDRESS_SUCCESS},
      {"cuGetProcAddress", 12000, 0, "cuGetProcAddress_v2", CU_GET_PROC_ADDRESS_SUCCESS},
      {"cuLaunchKernel", 7000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, "cuLaunchKernel",
       CU_GET_PROC_ADDRESS_SUCCESS},
      {"cuLaunchKernelEx", 11000, 0, nullptr, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT},
      {"cuNoSuchThing", 13000, 0, nullptr, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND},
  };
  for (const Resolution &test : cases) {
    void *function = nullptr;
    CUdriverProcAddressQueryResult status{};

    const CUresult result =
        cu.getProcAddress(test.name, &function, test.version, test.flags, &status);

    EXPECT_EQ(result, test.symbol == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS) << test.name;
    EXPECT_EQ(status, test.status) << test.name << " " << test.version;
    EXPECT_EQ(function, test.symbol == nullptr ? nullptr : driverSymbol(test.symbol)) << test.name;
  }
}

TEST(EntryPointsTest, NamesEveryErrorCode) {
  const DriverFunctions &cu = driverFunctions();
  const char *text = nullptr;

  EXPECT_EQ(cu.getErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(cu.getErrorString(CUDA_ERROR_INVALID_VALUE, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "invalid argument");
  EXPECT_EQ(cu.getErrorString(CUDA_ERROR_MISALIGNED_ADDRESS, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "misaligned address");
  EXPECT_EQ(cu.getErrorName(static_cast<CUresult>(12345), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
}

TEST(EntryPointsTest, RefusesWhatItDoesNotImplement) {
  const auto create = reinterpret_cast<decltype(&::cuGraphCreate)>(driverSymbol("cuGraphCreate"));
  CUgraph graph = nullptr;

  ::testing::internal::CaptureStderr();
  EXPECT_EQ(create(&graph, 0), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(create(&graph, 0), CUDA_ERROR_NOT_SUPPORTED);
  const std::string log = ::testing::internal::GetCapturedStderr();

  EXPECT_EQ(log, "fp8jit-emulator: cuGraphCreate is not implemented\n");
}

TEST(EntryPointsTest, NeedsInitialisationFirst) {
  // Holds only where no earlier test of this process called cuInit; ctest runs each test apart.
  const DriverFunctions &cu = driverFunctions();
  if (::testing::UnitTest::GetInstance()->test_to_run_count() != 1) {
    GTEST_SKIP() << "another test of this process has called cuInit";
  }
  int count = 0;

  EXPECT_EQ(cu.deviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(cu.init(1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu.init(0), CUDA_SUCCESS);
  EXPECT_EQ(cu.deviceGetCount(&count), CUDA_SUCCESS);
}

} // namespace fp8jit::testing
