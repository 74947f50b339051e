// What an ordinary program does with the driver: libcuda.so.1 found by the loader, a context,
// memory and launches. Main type: CudaProgram.
#pragma once

#include "gtest/gtest.h"

#include <cuda.h>

#include <string>
#include <vector>

namespace fp8jit::testing {

/// The entry points that the program takes from libcuda.so.1.
struct Cuda {
  decltype(&::cuInit) init;
  decltype(&::cuGetErrorName) getErrorName;
  decltype(&::cuDeviceGetCount) deviceGetCount;
  decltype(&::cuDeviceGet) deviceGet;
  decltype(&::cuDeviceGetAttribute) deviceGetAttribute;
  decltype(&::cuDevicePrimaryCtxRetain) primaryCtxRetain;
  decltype(&::cuDevicePrimaryCtxRelease_v2) primaryCtxRelease;
  decltype(&::cuDevicePrimaryCtxReset_v2) primaryCtxReset;
  decltype(&::cuCtxSetCurrent) ctxSetCurrent;
  decltype(&::cuCtxSynchronize) ctxSynchronize;
  decltype(&::cuMemAlloc_v2) memAlloc;
  decltype(&::cuMemFree_v2) memFree;
  decltype(&::cuMemcpyHtoD_v2) memcpyHtoD;
  decltype(&::cuMemcpyDtoH_v2) memcpyDtoH;
  decltype(&::cuModuleLoadData) moduleLoadData;
  decltype(&::cuModuleUnload) moduleUnload;
  decltype(&::cuModuleGetFunction) moduleGetFunction;
  decltype(&::cuLaunchKernel) launchKernel;
};

/// Extents of a grid or block.
struct Extent {
  unsigned x = 1, y = 1;
};

/// kernels.cu compiled for the parameter ("sm_90", "sm_90a") and loaded on a device that runs it.
class CudaProgram : public ::testing::TestWithParam<const char *> {
protected:
  void SetUp() override;
  void TearDown() override;

  template <typename T>
  CUdeviceptr upload(const std::vector<T> &values) {
    CUdeviceptr address = 0;
    check(cu.memAlloc(&address, values.size() * sizeof(T)));
    check(cu.memcpyHtoD(address, values.data(), values.size() * sizeof(T)));
    return address;
  }

  template <typename T>
  std::vector<T> download(CUdeviceptr address, std::size_t count) {
    std::vector<T> values(count);
    check(cu.memcpyDtoH(values.data(), address, count * sizeof(T)));
    return values;
  }

  /// Launches a kernel and waits for it; returns the first error.
  template <typename... Arguments>
  CUresult launch(const char *kernel, Extent grid, Extent block, Arguments... arguments) {
    CUfunction function = nullptr;
    check(cu.moduleGetFunction(&function, module, kernel));
    void *pointers[] = {&arguments...};
    const CUresult launched = cu.launchKernel(function, grid.x, grid.y, 1, block.x, block.y, 1, 0,
                                              nullptr, pointers, nullptr);
    return launched != CUDA_SUCCESS ? launched : cu.ctxSynchronize();
  }

  void check(CUresult result);

  Cuda cu{};
  CUcontext context = nullptr;
  CUdevice device = 0;
  CUmodule module = nullptr;
};

} // namespace fp8jit::testing
