// The built driver library, loaded with dlopen, and a fixture with its first device's primary
// context current.
#pragma once

#include "support/abi/emulator_table.h"

#include "gtest/gtest.h"

#include <cuda.h>

namespace fp8jit::testing {

/// The loaded library, or null with the reason recorded as a test failure. Never unloaded.
void *driverLibrary();

/// The address of an exported function, or null.
void *driverSymbol(const char *name);

/// The functions that the tests call, by their names in the library.
struct DriverFunctions {
  decltype(&::cuInit) init;
  decltype(&::cuDriverGetVersion) driverGetVersion;
  decltype(&::cuGetErrorName) getErrorName;
  decltype(&::cuGetErrorString) getErrorString;
  decltype(&::cuGetProcAddress_v2) getProcAddress;
  decltype(&::cuGetExportTable) getExportTable;
  decltype(&::cuDeviceGet) deviceGet;
  decltype(&::cuDeviceGetCount) deviceGetCount;
  decltype(&::cuDeviceGetName) deviceGetName;
  decltype(&::cuDeviceGetAttribute) deviceGetAttribute;
  decltype(&::cuDeviceTotalMem_v2) deviceTotalMem;
  decltype(&::cuDevicePrimaryCtxRetain) primaryCtxRetain;
  decltype(&::cuDevicePrimaryCtxRelease_v2) primaryCtxRelease;
  decltype(&::cuDevicePrimaryCtxReset_v2) primaryCtxReset;
  decltype(&::cuDevicePrimaryCtxGetState) primaryCtxGetState;
  decltype(&::cuCtxCreate_v4) ctxCreate;
  decltype(&::cuCtxDestroy_v2) ctxDestroy;
  decltype(&::cuCtxPushCurrent_v2) ctxPushCurrent;
  decltype(&::cuCtxPopCurrent_v2) ctxPopCurrent;
  decltype(&::cuCtxSetCurrent) ctxSetCurrent;
  decltype(&::cuCtxGetCurrent) ctxGetCurrent;
  decltype(&::cuCtxGetDevice) ctxGetDevice;
  decltype(&::cuCtxSynchronize) ctxSynchronize;
  decltype(&::cuMemGetInfo_v2) memGetInfo;
  decltype(&::cuMemAlloc_v2) memAlloc;
  decltype(&::cuMemFree_v2) memFree;
  decltype(&::cuMemAllocHost_v2) memAllocHost;
  decltype(&::cuMemFreeHost) memFreeHost;
  decltype(&::cuMemHostRegister_v2) memHostRegister;
  decltype(&::cuMemHostUnregister) memHostUnregister;
  decltype(&::cuMemcpy) memcpyUnified;
  decltype(&::cuMemcpyHtoD_v2) memcpyHtoD;
  decltype(&::cuMemcpyDtoH_v2) memcpyDtoH;
  decltype(&::cuMemcpyDtoD_v2) memcpyDtoD;
  decltype(&::cuMemcpyHtoDAsync_v2) memcpyHtoDAsync;
  decltype(&::cuMemsetD8_v2) memsetD8;
  decltype(&::cuMemsetD16_v2) memsetD16;
  decltype(&::cuMemsetD32_v2) memsetD32;
  decltype(&::cuPointerGetAttribute) pointerGetAttribute;
  decltype(&::cuStreamCreate) streamCreate;
  decltype(&::cuStreamDestroy_v2) streamDestroy;
  decltype(&::cuStreamSynchronize) streamSynchronize;
  decltype(&::cuStreamWaitEvent) streamWaitEvent;
  decltype(&::cuStreamIsCapturing) streamIsCapturing;
  decltype(&::cuStreamBeginCapture_v2) streamBeginCapture;
  decltype(&::cuEventCreate) eventCreate;
  decltype(&::cuEventDestroy_v2) eventDestroy;
  decltype(&::cuEventRecord) eventRecord;
  decltype(&::cuEventSynchronize) eventSynchronize;
  decltype(&::cuEventElapsedTime_v2) eventElapsedTime;
  decltype(&::cuModuleLoadData) moduleLoadData;
  decltype(&::cuModuleLoadDataEx) moduleLoadDataEx;
  decltype(&::cuModuleUnload) moduleUnload;
  decltype(&::cuModuleGetFunction) moduleGetFunction;
  decltype(&::cuModuleGetGlobal_v2) moduleGetGlobal;
  decltype(&::cuLibraryLoadData) libraryLoadData;
  decltype(&::cuLibraryUnload) libraryUnload;
  decltype(&::cuLibraryGetKernel) libraryGetKernel;
  decltype(&::cuLibraryGetKernelCount) libraryGetKernelCount;
  decltype(&::cuKernelGetFunction) kernelGetFunction;
  decltype(&::cuKernelGetAttribute) kernelGetAttribute;
  decltype(&::cuKernelSetAttribute) kernelSetAttribute;
  decltype(&::cuKernelGetParamInfo) kernelGetParamInfo;
  decltype(&::cuFuncGetAttribute) funcGetAttribute;
  decltype(&::cuFuncSetAttribute) funcSetAttribute;
  decltype(&::cuLaunchKernel) launchKernel;
  decltype(&::cuLaunchKernelEx) launchKernelEx;
  decltype(&::cuOccupancyMaxActiveBlocksPerMultiprocessor) occupancy;
  decltype(&::cuOccupancyMaxActiveClusters) maxActiveClusters;
  decltype(&::cuOccupancyMaxPotentialClusterSize) maxPotentialClusterSize;
  decltype(&::cuLaunchCooperativeKernel) launchCooperativeKernel;
  decltype(&::cuTensorMapEncodeTiled) tensorMapEncodeTiled;
  decltype(&::cuTensorMapReplaceAddress) tensorMapReplaceAddress;
};

/// Loads the functions; each is set, or a test failure says which is missing.
const DriverFunctions &driverFunctions();

/// The project's own table of the library.
const EmulatorTable &emulatorTable();

/// A test with cuInit done and the primary context of a device, by default the first (sm_89),
/// retained and current.
class DriverTest : public ::testing::Test {
protected:
  explicit DriverTest(CUdevice ordinal = 0) : ordinal_(ordinal) {}
  void SetUp() override;
  void TearDown() override;

  const DriverFunctions &cu = driverFunctions();
  const EmulatorTable &table = emulatorTable();
  const CUdevice ordinal_;
  CUcontext context = nullptr;
};

/// The same on the emulated H200.
class HopperTest : public DriverTest {
protected:
  HopperTest() : DriverTest(1) {}
};

/// PTX for sm_89: out[i] = a[i] + b[i] for i < n; and kernels that misbehave.
///
/// vector_add(out, a, b, n), store_at(address, value), trap_now(), stuck() waits
/// for 64 threads, shared_fill(out): static shared
/// memory of 256 bytes; bounded() has .maxntid 64. A variable `counter` starts as 7, 9.
extern const char *const kTestPtx;

} // namespace fp8jit::testing
