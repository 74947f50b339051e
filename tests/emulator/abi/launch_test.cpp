// Launches: results, the driver's checks, faults that stick, modelled time.
#include "tests/emulator/abi/driver_under_test.h"

#include <string>
#include <vector>

namespace fp8jit::testing {
namespace {

struct Size {
  unsigned gridX = 1, gridY = 1, gridZ = 1, blockX = 1, blockY = 1, blockZ = 1, shared = 0;
};

struct RefusedLaunch {
  const char *what;
  const char *kernel;
  Size size;
  CUresult expected;
};

struct Misbehaviour {
  const char *what;
  CUdeviceptr address; ///< of a store; 0: a trap
  CUresult expected;
  const char *report;
};

class LaunchTest : public DriverTest {
protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_EQ(cu.moduleLoadData(&module_, kTestPtx), CUDA_SUCCESS);
  }

  CUfunction function(const char *name) const {
    CUfunction found = nullptr;
    EXPECT_EQ(cu.moduleGetFunction(&found, module_, name), CUDA_SUCCESS) << name;
    return found;
  }

  CUresult launch(CUfunction kernel, const Size &size, void **parameters,
                  CUstream stream = nullptr) const {
    return cu.launchKernel(kernel, size.gridX, size.gridY, size.gridZ, size.blockX, size.blockY,
                           size.blockZ, size.shared, stream, parameters, nullptr);
  }

  CUresult store(CUdeviceptr address, unsigned value) const {
    void *parameters[] = {&address, &value};
    return launch(function("store_at"), {}, parameters);
  }

  CUmodule module_ = nullptr;
};

} // namespace

TEST_F(LaunchTest, AddsVectors) {
  constexpr unsigned kCount = 1000;
  std::vector<float> a(kCount);
  std::vector<float> b(kCount);
  std::vector<float> sum(kCount + 8, -1.0F);
  for (unsigned i = 0; i < kCount; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = 0.5F;
  }
  CUdeviceptr deviceA = 0;
  CUdeviceptr deviceB = 0;
  CUdeviceptr deviceSum = 0;
  ASSERT_EQ(cu.memAlloc(&deviceA, kCount * 4), CUDA_SUCCESS);
  ASSERT_EQ(cu.memAlloc(&deviceB, kCount * 4), CUDA_SUCCESS);
  ASSERT_EQ(cu.memAlloc(&deviceSum, sum.size() * 4), CUDA_SUCCESS);
  ASSERT_EQ(cu.memcpyHtoD(deviceA, a.data(), kCount * 4), CUDA_SUCCESS);
  ASSERT_EQ(cu.memcpyHtoD(deviceB, b.data(), kCount * 4), CUDA_SUCCESS);
  ASSERT_EQ(cu.memcpyHtoD(deviceSum, sum.data(), sum.size() * 4), CUDA_SUCCESS);
  unsigned count = kCount;
  void *parameters[] = {&deviceSum, &deviceA, &deviceB, &count};

  EXPECT_EQ(launch(function("vector_add"), {.gridX = 8, .blockX = 128}, parameters), CUDA_SUCCESS);

  EXPECT_EQ(cu.ctxSynchronize(), CUDA_SUCCESS) << table.lastReport();
  ASSERT_EQ(cu.memcpyDtoH(sum.data(), deviceSum, sum.size() * 4), CUDA_SUCCESS);
  for (unsigned i = 0; i < kCount; ++i) {
    ASSERT_EQ(sum[i], static_cast<float>(i) + 0.5F) << i;
  }
  for (std::size_t i = kCount; i < sum.size(); ++i) {
    ASSERT_EQ(sum[i], -1.0F) << "canary " << i;
  }
}

TEST_F(LaunchTest, LaunchesKernelsOfLibrariesAndPackedParameters) {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUdeviceptr target = 0;
  unsigned stored = 0;
  ASSERT_EQ(cu.libraryLoadData(&library, kTestPtx, nullptr, nullptr, 0, nullptr, nullptr, 0),
            CUDA_SUCCESS);
  ASSERT_EQ(cu.libraryGetKernel(&kernel, library, "store_at"), CUDA_SUCCESS);
  ASSERT_EQ(cu.memAlloc(&target, 4), CUDA_SUCCESS);
  struct {
    CUdeviceptr address;
    unsigned value, padding;
  } packed{target, 77, 0};
  size_t packedBytes = 12;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE,
                   &packedBytes, CU_LAUNCH_PARAM_END};
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = config.blockDimY = config.blockDimZ = 1;

  EXPECT_EQ(cu.launchKernelEx(&config, reinterpret_cast<CUfunction>(kernel), nullptr, extra),
            CUDA_SUCCESS);

  EXPECT_EQ(cu.memcpyDtoH(&stored, target, 4), CUDA_SUCCESS) << table.lastReport();
  EXPECT_EQ(stored, 77U);
  packedBytes = 8;
  EXPECT_EQ(cu.launchKernelEx(&config, reinterpret_cast<CUfunction>(kernel), nullptr, extra),
            CUDA_ERROR_INVALID_VALUE)
      << "a parameter block that is too short";
  EXPECT_EQ(cu.libraryUnload(library), CUDA_SUCCESS);
}

TEST_F(LaunchTest, RefusesImpossibleLaunches) {
  const RefusedLaunch cases[] = {
      {"no blocks", "bounded", {.gridX = 0}, CUDA_ERROR_INVALID_VALUE},
      {"no threads", "bounded", {.blockY = 0}, CUDA_ERROR_INVALID_VALUE},
      {"grid y", "bounded", {.gridY = 65536}, CUDA_ERROR_INVALID_VALUE},
      {"grid z", "bounded", {.gridZ = 65536}, CUDA_ERROR_INVALID_VALUE},
      {"grid x", "bounded", {.gridX = 0x80000000}, CUDA_ERROR_INVALID_VALUE},
      {"block z", "trap_now", {.blockZ = 65}, CUDA_ERROR_INVALID_VALUE},
      {"threads", "trap_now", {.blockX = 512, .blockY = 4}, CUDA_ERROR_INVALID_VALUE},
      {"launch bounds", "bounded", {.blockX = 65}, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES},
      {"shared memory", "bounded", {.shared = 48 * 1024 + 1}, CUDA_ERROR_INVALID_VALUE},
      {"parameters", "store_at", {}, CUDA_ERROR_INVALID_VALUE},
  };
  for (const RefusedLaunch &test : cases) {
    EXPECT_EQ(launch(function(test.kernel), test.size, nullptr), test.expected) << test.what;
  }
  void *noParameter[] = {nullptr, nullptr};
  EXPECT_EQ(launch(function("store_at"), {}, noParameter), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(nullptr, {}, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(launch(reinterpret_cast<CUfunction>(noParameter), {}, nullptr),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(launch(function("bounded"), {}, nullptr, reinterpret_cast<CUstream>(noParameter)),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cu.ctxSynchronize(), CUDA_SUCCESS) << "a refused launch leaves no fault";
}

TEST_F(LaunchTest, TakesMoreSharedMemoryOnceTheAttributeIsSet) {
  const CUfunction bounded = function("bounded");
  const Size size{.shared = 90 * 1024};

  EXPECT_EQ(launch(bounded, size, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cu.funcSetAttribute(bounded, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 90 * 1024),
      CUDA_SUCCESS);
  EXPECT_EQ(launch(bounded, size, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cu.ctxSynchronize(), CUDA_SUCCESS) << table.lastReport();
}

TEST_F(LaunchTest, RefusesClusters) {
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim.x = 2;
  attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
  CUlaunchConfig config{};
  config.gridDimX = 2;
  config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;

  EXPECT_EQ(cu.launchKernelEx(&config, function("bounded"), nullptr, nullptr),
            CUDA_ERROR_INVALID_CLUSTER_SIZE);
}

TEST_F(LaunchTest, FaultsStickUntilTheContextIsReset) {
  CUdeviceptr buffer = 0;
  ASSERT_EQ(cu.memAlloc(&buffer, 64), CUDA_SUCCESS);
  const Misbehaviour cases[] = {
      {"out of bounds", buffer + 64, CUDA_ERROR_ILLEGAL_ADDRESS, "store_at"},
      {"misaligned", buffer + 2, CUDA_ERROR_MISALIGNED_ADDRESS, "store_at"},
      {"trap", 0, CUDA_ERROR_LAUNCH_FAILED, "trap_now"},
  };
  for (const Misbehaviour &test : cases) {
    const CUresult enqueued =
        test.address == 0 ? launch(function("trap_now"), {}, nullptr) : store(test.address, 1);
    EXPECT_EQ(enqueued, CUDA_SUCCESS) << test.what << ": faults show at the next call";
    EXPECT_EQ(cu.ctxSynchronize(), test.expected) << test.what;
    EXPECT_NE(std::string(table.lastReport()).find(test.report), std::string::npos)
        << test.what << ": " << table.lastReport();

    CUdeviceptr other = 0;
    EXPECT_EQ(cu.memAlloc(&other, 64), test.expected) << test.what;
    EXPECT_EQ(launch(nullptr, {}, nullptr), test.expected) << test.what;
    EXPECT_EQ(cu.primaryCtxReset(0), CUDA_SUCCESS) << test.what;
    EXPECT_EQ(cu.ctxSynchronize(), CUDA_SUCCESS) << test.what;
    ASSERT_EQ(cu.moduleLoadData(&module_, kTestPtx), CUDA_SUCCESS) << test.what;
    ASSERT_EQ(cu.memAlloc(&buffer, 64), CUDA_SUCCESS) << test.what;
  }
}

TEST_F(LaunchTest, ADeadlockIsATimeout) {
  EXPECT_EQ(launch(function("stuck"), {.blockX = 32}, nullptr), CUDA_SUCCESS);

  EXPECT_EQ(cu.ctxSynchronize(), CUDA_ERROR_LAUNCH_TIMEOUT);
  EXPECT_NE(std::string(table.lastReport()).find("stuck"), std::string::npos) << table.lastReport();
}

TEST_F(LaunchTest, FindingsAreFaultsInStrictModeOnly) {
  CUdeviceptr input = 0;
  CUdeviceptr output = 0;
  unsigned count = 1;
  void *parameters[] = {&output, &input, &input, &count};
  for (const EmulatorStrictness strictness :
       {EmulatorStrictness::Report, EmulatorStrictness::Strict}) {
    ASSERT_EQ(table.setStrictness(strictness), 0);
    ASSERT_EQ(cu.memAlloc(&input, 4), CUDA_SUCCESS); // never written
    ASSERT_EQ(cu.memAlloc(&output, 4), CUDA_SUCCESS);

    EXPECT_EQ(launch(function("vector_add"), {}, parameters), CUDA_SUCCESS);

    const CUresult expected =
        strictness == EmulatorStrictness::Strict ? CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS;
    EXPECT_EQ(cu.ctxSynchronize(), expected);
    EXPECT_NE(std::string(table.lastReport()).find("vector_add"), std::string::npos)
        << table.lastReport();
  }
}

TEST_F(LaunchTest, CountsAndModelsTime) {
  EmulatorCounters counters{};
  double launchNs = 0;
  float eventMs = 0;
  CUevent start = nullptr;
  CUevent end = nullptr;
  CUdeviceptr buffer = 0;
  ASSERT_EQ(cu.memAlloc(&buffer, 64), CUDA_SUCCESS);
  ASSERT_EQ(cu.eventCreate(&start, 0), CUDA_SUCCESS);
  ASSERT_EQ(cu.eventCreate(&end, 0), CUDA_SUCCESS);

  EXPECT_EQ(cu.eventRecord(start, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(store(buffer, 1), CUDA_SUCCESS);
  EXPECT_EQ(cu.eventRecord(end, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cu.eventSynchronize(end), CUDA_SUCCESS);
  EXPECT_EQ(cu.eventElapsedTime(&eventMs, start, end), CUDA_SUCCESS);
  EXPECT_EQ(table.lastModelledNs(&launchNs), 0);
  EXPECT_EQ(table.lastCounters(&counters), 0);

  EXPECT_GT(launchNs, 0.0);
  EXPECT_FLOAT_EQ(eventMs, static_cast<float>(launchNs * 1e-6));
  EXPECT_EQ(counters.blocksExecuted, 1U);
  EXPECT_EQ(counters.blocksTotal, 1U);
  EXPECT_GE(counters.warpInstructions, 4U);
}

TEST_F(LaunchTest, RunsASampleOfTheBlocks) {
  EmulatorCounters counters{};
  ASSERT_EQ(table.setBlockSample(4), 0);

  EXPECT_EQ(launch(function("bounded"), {.gridX = 100, .blockX = 32}, nullptr), CUDA_SUCCESS);

  EXPECT_EQ(table.lastCounters(&counters), 0);
  EXPECT_EQ(counters.blocksExecuted, 4U);
  EXPECT_EQ(counters.blocksTotal, 100U);
}

} // namespace fp8jit::testing
