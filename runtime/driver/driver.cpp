#include "runtime/driver/driver.h"

#include "support/error.h"

#include "llvm/Support/FormatVariadic.h"

#include <cstring>
#include <dlfcn.h>
#include <utility>

namespace fp8jit {

/// Which library could not be loaded, why, and what to do. `reason` is dlerror's, which mostly
/// begins with the path.
static std::string describeLoadError(llvm::StringRef path, llvm::StringRef reason) {
  const char *remedy = path.contains("libcuda")
                           ? "install the NVIDIA driver, or use a device of the emulator, for "
                             "example emulator:sm_89"
                           : "build the emulator, or set FP8JIT_EMULATOR to its "
                             "libfp8jit-emulator.so";
  reason.consume_front(path);
  reason.consume_front(": ");
  return llvm::formatv("cannot load driver {0}: {1}; {2}", path, reason, remedy).str();
}

llvm::Expected<std::shared_ptr<const Driver>> Driver::load(const std::string &path) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char *reason = dlerror();
    return fail(ErrorCode::NoDevice, describeLoadError(path, reason == nullptr ? "" : reason));
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
    return driverNotReady(path, describeDriverError(api, "cuInit", initialised), initialised);
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
    if (driver->emulator_->sizeBytes < sizeof(EmulatorTable)) {
      return fail(ErrorCode::NoDevice,
                  llvm::formatv("emulator {0} is older than this build: its table has {1} bytes, "
                                "expected {2}; rebuild it, or unset FP8JIT_EMULATOR",
                                driver->path_, driver->emulator_->sizeBytes,
                                sizeof(EmulatorTable)));
    }
  }
  return std::shared_ptr<const Driver>(std::move(driver));
}

} // namespace fp8jit
