// Real cubins: NVRTC compiles a kernel, the PTX is handed over, the cubin is loaded and run.
#include "tests/emulator/abi/driver_under_test.h"

#include <nvrtc.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <memory>
#include <string>

namespace fp8jit::testing {
namespace {

const char *const kSource = R"cuda(
extern "C" __global__ void __launch_bounds__(128) reverse(int *values) {
  __shared__ int tile[128];
  tile[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = tile[127 - threadIdx.x];
}
)cuda";

/// What one compilation gives.
struct Compilation {
  std::string cubin, ptx, log;
};

/// NVRTC's functions, loaded; null members where there is no library.
struct Nvrtc {
  decltype(&::nvrtcCreateProgram) create = nullptr;
  decltype(&::nvrtcCompileProgram) compile = nullptr;
  decltype(&::nvrtcDestroyProgram) destroy = nullptr;
  decltype(&::nvrtcGetCUBINSize) cubinSize = nullptr;
  decltype(&::nvrtcGetCUBIN) cubin = nullptr;
  decltype(&::nvrtcGetPTXSize) ptxSize = nullptr;
  decltype(&::nvrtcGetPTX) ptx = nullptr;
  decltype(&::nvrtcGetProgramLogSize) logSize = nullptr;
  decltype(&::nvrtcGetProgramLog) log = nullptr;
};

class PairedCubinTest : public DriverTest {
protected:
  void SetUp() override {
    DriverTest::SetUp();
    if (!loadNvrtc()) {
      GTEST_SKIP() << "no NVRTC library under " FP8JIT_CUDA_PREFIX;
    }
  }

  bool loadNvrtc();
  Compilation compile(const char *arch) const;

  Nvrtc nvrtc_;
};

} // namespace

template <typename Function>
static bool resolve(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool PairedCubinTest::loadNvrtc() {
  void *library = nullptr;
  for (const char *path : {"/lib64/libnvrtc.so.13", "/lib/libnvrtc.so.13", "/lib64/libnvrtc.so.12",
                           "/lib/libnvrtc.so.12"}) {
    if (library == nullptr) {
      library = dlopen((std::string(FP8JIT_CUDA_PREFIX) + path).c_str(), RTLD_NOW | RTLD_LOCAL);
    }
  }
  return library != nullptr && resolve(library, "nvrtcCreateProgram", nvrtc_.create) &&
         resolve(library, "nvrtcCompileProgram", nvrtc_.compile) &&
         resolve(library, "nvrtcDestroyProgram", nvrtc_.destroy) &&
         resolve(library, "nvrtcGetCUBINSize", nvrtc_.cubinSize) &&
         resolve(library, "nvrtcGetCUBIN", nvrtc_.cubin) &&
         resolve(library, "nvrtcGetPTXSize", nvrtc_.ptxSize) &&
         resolve(library, "nvrtcGetPTX", nvrtc_.ptx) &&
         resolve(library, "nvrtcGetProgramLogSize", nvrtc_.logSize) &&
         resolve(library, "nvrtcGetProgramLog", nvrtc_.log);
}

template <typename SizeOf, typename Get>
static std::string fetch(nvrtcProgram program, SizeOf sizeOf, Get get) {
  std::size_t size = 0;
  EXPECT_EQ(sizeOf(program, &size), NVRTC_SUCCESS);
  std::string text(size, '\0');
  EXPECT_EQ(get(program, text.data()), NVRTC_SUCCESS);
  return text;
}

Compilation PairedCubinTest::compile(const char *arch) const {
  nvrtcProgram program = nullptr;
  const char *options[] = {arch, "--ptxas-options=-v"};
  EXPECT_EQ(nvrtc_.create(&program, kSource, "reverse.cu", 0, nullptr, nullptr), NVRTC_SUCCESS);
  EXPECT_EQ(nvrtc_.compile(program, 2, options), NVRTC_SUCCESS);
  Compilation result{.cubin = fetch(program, nvrtc_.cubinSize, nvrtc_.cubin),
                     .ptx = fetch(program, nvrtc_.ptxSize, nvrtc_.ptx),
                     .log = fetch(program, nvrtc_.logSize, nvrtc_.log)};
  EXPECT_EQ(nvrtc_.destroy(&program), NVRTC_SUCCESS);
  return result;
}

TEST_F(PairedCubinTest, TakesResourcesFromTheCubinAndRunsThePtx) {
  const Compilation compiled = compile("-arch=sm_89");
  const std::size_t used = compiled.log.find("Used ");
  int registers = 0;
  ASSERT_NE(used, std::string::npos) << compiled.log;
  ASSERT_EQ(std::sscanf(compiled.log.c_str() + used, "Used %d registers", &registers), 1);
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  int value = 0;

  EXPECT_EQ(
      cu.libraryLoadData(&library, compiled.cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
      CUDA_ERROR_NO_BINARY_FOR_GPU)
      << "not paired yet";
  ASSERT_EQ(table.pairBinary(compiled.cubin.data(), compiled.cubin.size(), compiled.ptx.data(),
                             compiled.ptx.size()),
            0);
  ASSERT_EQ(
      cu.libraryLoadData(&library, compiled.cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
      CUDA_SUCCESS);
  ASSERT_EQ(cu.libraryGetKernel(&kernel, library, "reverse"), CUDA_SUCCESS);

  EXPECT_EQ(cu.kernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, 0), CUDA_SUCCESS);
  EXPECT_EQ(value, registers);
  EXPECT_EQ(cu.kernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(value, 512);
  EXPECT_EQ(cu.kernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(value, 128);
  EXPECT_EQ(cu.kernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, kernel, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(value, 0);

  std::array<int, 128> values{};
  CUdeviceptr buffer = 0;
  for (int i = 0; i < 128; ++i) {
    values[static_cast<std::size_t>(i)] = i;
  }
  ASSERT_EQ(cu.memAlloc(&buffer, sizeof values), CUDA_SUCCESS);
  ASSERT_EQ(cu.memcpyHtoD(buffer, values.data(), sizeof values), CUDA_SUCCESS);
  void *parameters[] = {&buffer};
  EXPECT_EQ(cu.launchKernel(reinterpret_cast<CUfunction>(kernel), 1, 1, 1, 128, 1, 1, 0, nullptr,
                            parameters, nullptr),
            CUDA_SUCCESS);
  ASSERT_EQ(cu.memcpyDtoH(values.data(), buffer, sizeof values), CUDA_SUCCESS)
      << table.lastReport();
  for (int i = 0; i < 128; ++i) {
    ASSERT_EQ(values[static_cast<std::size_t>(i)], 127 - i);
  }
}

TEST_F(PairedCubinTest, RefusesACubinOfAnotherArchitecture) {
  const Compilation compiled = compile("-arch=sm_90");
  CUmodule module = nullptr;
  ASSERT_EQ(table.pairBinary(compiled.cubin.data(), compiled.cubin.size(), compiled.ptx.data(),
                             compiled.ptx.size()),
            0);

  EXPECT_EQ(cu.moduleLoadData(&module, compiled.cubin.data()), CUDA_ERROR_NO_BINARY_FOR_GPU);
}

} // namespace fp8jit::testing
