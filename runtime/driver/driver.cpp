#include "runtime/driver/driver.h"

#include "support/error.h"

#include "llvm/Support/FormatVariadic.h"

#include <cstring>
#include <dlfcn.h>

namespace fp8jit {

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

llvm::Expected<std::shared_ptr<const Driver>> Driver::load(const std::string &path) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char *reason = dlerror();
    return fail(ErrorCode::NoDevice,
                llvm::formatv("cannot load driver {0}: {1}; install the NVIDIA driver, or use a "
                              "device of the emulator, for example emulator:sm_89",
                              path, reason == nullptr ? "unknown reason" : reason));
  }
  llvm::Expected<DriverApi> api = resolveDriverApi(library, path);
  if (!api) {
    return api.takeError();
  }
  return fromTable(*api, path);
}

llvm::Expected<std::shared_ptr<const Driver>> Driver::fromTable(const DriverApi &api,
                                                                std::string path) {
  const CUresult initialised = api.init(0);
  if (initialised != CUDA_SUCCESS) {
    return fail(ErrorCode::NoDevice, llvm::formatv("driver {0} does not start: {1}; {2}", path,
                                                   describeDriverError(api, "cuInit", initialised),
                                                   remedyFor(initialised)));
  }
  std::shared_ptr<Driver> driver(new Driver());
  driver->api_ = api;
  driver->path_ = std::move(path);
  if (api.driverGetVersion(&driver->version_) != CUDA_SUCCESS) {
    driver->version_ = 0;
  }
  const void *table = nullptr;
  CUuuid uuid;
  std::memcpy(uuid.bytes, kEmulatorTableUuid, sizeof(uuid.bytes));
  if (api.getExportTable != nullptr && api.getExportTable(&table, &uuid) == CUDA_SUCCESS) {
    driver->emulator_ = static_cast<const EmulatorTable *>(table);
  }
  return std::shared_ptr<const Driver>(std::move(driver));
}

} // namespace fp8jit
