// The CUDA Driver API as fp8jit uses it: a table of function pointers, the only seam between the
// runtime and a machine. A real libcuda, the driver in software and the fakes of the tests fill it.
// Main entry: resolveDriverApi.
#pragma once

#include "llvm/Support/Error.h"

#include <cuda.h>

#include <string>

namespace fp8jit {

/// Each member has the signature of the entry point it is named after, in the version noted in
/// driver_api.cpp. All members of a resolved table are set, except those marked optional.
struct DriverApi {
  decltype(&::cuInit) init = nullptr;
  decltype(&::cuDriverGetVersion) driverGetVersion = nullptr;
  decltype(&::cuGetErrorName) getErrorName = nullptr;
  decltype(&::cuGetErrorString) getErrorString = nullptr;
  decltype(&::cuGetExportTable) getExportTable = nullptr; ///< optional

  decltype(&::cuDeviceGetCount) deviceGetCount = nullptr;
  decltype(&::cuDeviceGet) deviceGet = nullptr;
  decltype(&::cuDeviceGetName) deviceGetName = nullptr;
  decltype(&::cuDeviceGetAttribute) deviceGetAttribute = nullptr;
  decltype(&::cuDeviceTotalMem_v2) deviceTotalMem = nullptr;
  decltype(&::cuDevicePrimaryCtxRetain) devicePrimaryCtxRetain = nullptr;
  decltype(&::cuDevicePrimaryCtxRelease_v2) devicePrimaryCtxRelease = nullptr;

  decltype(&::cuCtxGetCurrent) ctxGetCurrent = nullptr;
  decltype(&::cuCtxSetCurrent) ctxSetCurrent = nullptr;
  decltype(&::cuCtxGetDevice) ctxGetDevice = nullptr;
  decltype(&::cuCtxSynchronize) ctxSynchronize = nullptr;

  decltype(&::cuStreamCreate) streamCreate = nullptr;
  decltype(&::cuStreamDestroy_v2) streamDestroy = nullptr;
  decltype(&::cuStreamSynchronize) streamSynchronize = nullptr;
  decltype(&::cuStreamIsCapturing) streamIsCapturing = nullptr;

  decltype(&::cuMemAlloc_v2) memAlloc = nullptr;
  decltype(&::cuMemFree_v2) memFree = nullptr;
  decltype(&::cuMemcpyHtoD_v2) memcpyHtoD = nullptr;
  decltype(&::cuMemcpyDtoH_v2) memcpyDtoH = nullptr;

  decltype(&::cuEventCreate) eventCreate = nullptr;
  decltype(&::cuEventDestroy_v2) eventDestroy = nullptr;
  decltype(&::cuEventRecord) eventRecord = nullptr;
  decltype(&::cuEventSynchronize) eventSynchronize = nullptr;
  decltype(&::cuEventElapsedTime) eventElapsedTime = nullptr;

  decltype(&::cuLibraryLoadData) libraryLoadData = nullptr;
  decltype(&::cuLibraryUnload) libraryUnload = nullptr;
  decltype(&::cuLibraryGetKernel) libraryGetKernel = nullptr;
  decltype(&::cuKernelGetAttribute) kernelGetAttribute = nullptr;
  decltype(&::cuKernelSetAttribute) kernelSetAttribute = nullptr;
  decltype(&::cuLaunchKernel) launchKernel = nullptr;

  // Optional: what PtxKernel needs besides.
  decltype(&::cuLibraryGetKernelCount) libraryGetKernelCount = nullptr;
  decltype(&::cuLibraryEnumerateKernels) libraryEnumerateKernels = nullptr;
  decltype(&::cuKernelGetName) kernelGetName = nullptr;
  decltype(&::cuKernelGetParamInfo) kernelGetParamInfo = nullptr;
  decltype(&::cuLaunchKernelEx) launchKernelEx = nullptr;
  decltype(&::cuTensorMapEncodeTiled) tensorMapEncodeTiled = nullptr;
};

/// Fills a table from a loaded library through cuGetProcAddress, asking for each entry point in the
/// version in which its signature appeared, so that a driver older than the headers resolves too.
/// Errors: NoDevice naming the entry point that the library lacks, or
/// saying that it is the stub.
llvm::Expected<DriverApi> resolveDriverApi(void *library, const std::string &path);

/// The NoDevice error of a library that cannot be used: what `call` answered, and what to do.
llvm::Error driverNotReady(const std::string &path, const std::string &answer, CUresult result);

/// "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory", with the driver's own texts.
std::string describeDriverError(const DriverApi &api, const char *call, CUresult result);

} // namespace fp8jit
