#include "runtime/driver/driver_api.h"

#include "support/error.h"

#include "llvm/Support/FormatVariadic.h"

#include <dlfcn.h>
#include <vector>

namespace fp8jit {

namespace {

/// An entry point: its name for cuGetProcAddress, the CUDA version in which the signature of the
/// DriverApi member appeared (cudaTypedefs.h, PFN_<name>_v<version>), and where to put it.
struct EntryPoint {
  const char *name;
  int sinceVersion;
  void **target;
  bool isOptional = false;
};

using GetProcAddress = decltype(&::cuGetProcAddress_v2);

} // namespace

template <typename Function>
static void **slot(Function *&member) {
  return reinterpret_cast<void **>(&member);
}

static std::vector<EntryPoint> entryPoints(DriverApi &api) {
  return {
      {"cuInit", 2000, slot(api.init)},
      {"cuDriverGetVersion", 2020, slot(api.driverGetVersion)},
      {"cuGetErrorName", 6000, slot(api.getErrorName)},
      {"cuGetErrorString", 6000, slot(api.getErrorString)},
      {"cuGetExportTable", 3000, slot(api.getExportTable), true},
      {"cuDeviceGetCount", 2000, slot(api.deviceGetCount)},
      {"cuDeviceGet", 2000, slot(api.deviceGet)},
      {"cuDeviceGetName", 2000, slot(api.deviceGetName)},
      {"cuDeviceGetAttribute", 2000, slot(api.deviceGetAttribute)},
      {"cuDeviceTotalMem", 3020, slot(api.deviceTotalMem)},
      {"cuDevicePrimaryCtxRetain", 7000, slot(api.devicePrimaryCtxRetain)},
      {"cuDevicePrimaryCtxRelease", 11000, slot(api.devicePrimaryCtxRelease)},
      {"cuCtxGetCurrent", 4000, slot(api.ctxGetCurrent)},
      {"cuCtxSetCurrent", 4000, slot(api.ctxSetCurrent)},
      {"cuCtxGetDevice", 2000, slot(api.ctxGetDevice)},
      {"cuCtxSynchronize", 2000, slot(api.ctxSynchronize)},
      {"cuStreamCreate", 2000, slot(api.streamCreate)},
      {"cuStreamDestroy", 4000, slot(api.streamDestroy)},
      {"cuStreamSynchronize", 2000, slot(api.streamSynchronize)},
      {"cuStreamIsCapturing", 10000, slot(api.streamIsCapturing)},
      {"cuMemAlloc", 3020, slot(api.memAlloc)},
      {"cuMemFree", 3020, slot(api.memFree)},
      {"cuMemcpyHtoD", 3020, slot(api.memcpyHtoD)},
      {"cuMemcpyDtoH", 3020, slot(api.memcpyDtoH)},
      {"cuEventCreate", 2000, slot(api.eventCreate)},
      {"cuEventDestroy", 4000, slot(api.eventDestroy)},
      {"cuEventRecord", 2000, slot(api.eventRecord)},
      {"cuEventSynchronize", 2000, slot(api.eventSynchronize)},
      {"cuEventElapsedTime", 2000, slot(api.eventElapsedTime)},
      {"cuLibraryLoadData", 12000, slot(api.libraryLoadData)},
      {"cuLibraryUnload", 12000, slot(api.libraryUnload)},
      {"cuLibraryGetKernel", 12000, slot(api.libraryGetKernel)},
      {"cuKernelGetAttribute", 12000, slot(api.kernelGetAttribute)},
      {"cuKernelSetAttribute", 12000, slot(api.kernelSetAttribute)},
      {"cuLaunchKernel", 4000, slot(api.launchKernel)},
      {"cuLibraryGetKernelCount", 12040, slot(api.libraryGetKernelCount), true},
      {"cuLibraryEnumerateKernels", 12040, slot(api.libraryEnumerateKernels), true},
      {"cuKernelGetName", 12030, slot(api.kernelGetName), true},
      {"cuKernelGetParamInfo", 12040, slot(api.kernelGetParamInfo), true},
      {"cuLaunchKernelEx", 11060, slot(api.launchKernelEx), true},
      {"cuTensorMapEncodeTiled", 12000, slot(api.tensorMapEncodeTiled), true},
  };
}

static llvm::Error missingEntryPoint(const char *name, int sinceVersion, const std::string &path) {
  return fail(ErrorCode::NoDevice,
              llvm::formatv("driver {0} has no {1}, which CUDA {2}.{3} brought; update the NVIDIA "
                            "driver (525 or newer)",
                            path, name, sinceVersion / 1000, sinceVersion % 1000 / 10));
}

/// What to do about a driver that does not initialise.
static const char *remedyFor(CUresult result) {
  switch (static_cast<int>(result)) {
  case CUDA_ERROR_STUB_LIBRARY:
    return "this is the toolkit's stub, made for linking; remove its folder from the library path "
           "and install the NVIDIA driver";
  case CUDA_ERROR_NO_DEVICE:
    return "the driver sees no GPU; check nvidia-smi, CUDA_VISIBLE_DEVICES and the container's "
           "--gpus option";
  case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
  case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
    return "the driver library and the kernel module are of different versions; reboot after the "
           "driver update, or remove the cuda-compat package";
  case CUDA_ERROR_SYSTEM_NOT_READY:
    return "the system is not ready; check that nvidia-fabricmanager runs";
  default:
    return "check nvidia-smi and the system log";
  }
}

llvm::Error driverNotReady(const std::string &path, const std::string &answer, CUresult result) {
  return fail(ErrorCode::NoDevice, llvm::formatv("driver {0} does not start: {1}; {2}", path,
                                                 answer, remedyFor(result)));
}

llvm::Expected<DriverApi> resolveDriverApi(void *library, const std::string &path) {
  const auto getProcAddress =
      reinterpret_cast<GetProcAddress>(dlsym(library, "cuGetProcAddress_v2"));
  if (getProcAddress == nullptr) {
    return missingEntryPoint("cuGetProcAddress_v2", 12000, path);
  }
  DriverApi api;
  for (const EntryPoint &entry : entryPoints(api)) {
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    const CUresult result =
        getProcAddress(entry.name, entry.target, entry.sinceVersion, 0, &status);
    if (result == CUDA_ERROR_STUB_LIBRARY) {
      return driverNotReady(path, "cuGetProcAddress: CUDA_ERROR_STUB_LIBRARY (34)", result);
    }
    if ((result != CUDA_SUCCESS || *entry.target == nullptr) && !entry.isOptional) {
      return missingEntryPoint(entry.name, entry.sinceVersion, path);
    }
  }
  return api;
}

std::string describeDriverError(const DriverApi &api, const char *call, CUresult result) {
  const char *name = nullptr;
  const char *text = nullptr;
  if (api.getErrorName(result, &name) != CUDA_SUCCESS || name == nullptr) {
    name = "unknown error";
  }
  if (api.getErrorString(result, &text) != CUDA_SUCCESS || text == nullptr) {
    text = "the driver has no text for it";
  }
  return llvm::formatv("{0}: {1} ({2}): {3}", call, name, static_cast<int>(result), text).str();
}

} // namespace fp8jit
