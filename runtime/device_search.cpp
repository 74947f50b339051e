#include "runtime/device_search.h"

#include "runtime/driver/driver.h"
#include "support/environment.h"
#include "support/error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <dlfcn.h>
#include <utility>

namespace fp8jit {

static constexpr llvm::StringLiteral kEmulatorFile = "libfp8jit-emulator.so";

llvm::Expected<DeviceName> parseDeviceName(llvm::StringRef name) {
  DeviceName parsed;
  llvm::StringRef rest = name;
  if (name.empty()) {
    parsed.text = "cuda:0";
    return parsed;
  }
  if (rest.consume_front("cuda:") && !rest.empty() && llvm::all_of(rest, llvm::isDigit) &&
      !rest.getAsInteger(10, parsed.ordinal)) {
    parsed.text = llvm::formatv("cuda:{0}", parsed.ordinal).str();
    return parsed;
  }
  rest = name;
  if (rest.consume_front("emulator:") && rest.size() > 3 && rest.startswith("sm_")) {
    parsed.isEmulator = true;
    parsed.arch = rest.str();
    parsed.text = name.str();
    return parsed;
  }
  return fail(ErrorCode::NoDevice,
              llvm::formatv("unknown device '{0}', expected cuda:N or emulator:ARCH, for example "
                            "cuda:0 or emulator:sm_89",
                            name));
}

std::string archOf(int major, int minor) {
  return llvm::formatv("{0}{1}{2}", major, minor, major >= 9 ? "a" : "").str();
}

std::string emulatorLibraryPath(const DeviceSearch &search) {
  if (!search.emulatorLibrary.empty()) {
    return search.emulatorLibrary;
  }
  std::string fromEnvironment = readEnvironment(EnvironmentVariable::Emulator);
  if (!fromEnvironment.empty()) {
    return fromEnvironment;
  }
  // dladdr finds the shared library that holds this code, or the executable; the latter by the name
  // it was started with, so /proc is asked for executables.
  Dl_info info{};
  std::string self = "/proc/self/exe";
  if (dladdr(reinterpret_cast<const void *>(&emulatorLibraryPath), &info) != 0 &&
      llvm::StringRef(info.dli_fname).contains(".so")) {
    self = info.dli_fname;
  }
  llvm::SmallString<256> resolved;
  if (llvm::sys::fs::real_path(self, resolved)) {
    return kEmulatorFile.str();
  }
  const llvm::StringRef folder = llvm::sys::path::parent_path(resolved);
  llvm::SmallString<256> candidate(folder);
  llvm::sys::path::append(candidate, kEmulatorFile);
  if (llvm::sys::fs::exists(candidate)) {
    return candidate.str().str();
  }
  candidate = llvm::sys::path::parent_path(folder);
  llvm::sys::path::append(candidate, "lib", kEmulatorFile);
  return candidate.str().str();
}

/// The driver's devices as names: "cuda:0", or "emulator:sm_89".
static llvm::Expected<std::vector<std::string>> deviceNames(const Driver &driver) {
  const DriverApi &api = driver.api();
  int count = 0;
  CUresult result = api.deviceGetCount(&count);
  if (result == CUDA_SUCCESS && count == 0) {
    result = CUDA_ERROR_NO_DEVICE;
  }
  std::vector<std::string> names;
  for (int i = 0; i < count && result == CUDA_SUCCESS; ++i) {
    if (driver.emulator() == nullptr) {
      names.push_back(llvm::formatv("cuda:{0}", i).str());
      continue;
    }
    CUdevice device = 0;
    int major = 0;
    int minor = 0;
    result = api.deviceGet(&device, i);
    if (result == CUDA_SUCCESS) {
      result = api.deviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    }
    if (result == CUDA_SUCCESS) {
      result = api.deviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    }
    names.push_back("emulator:sm_" + archOf(major, minor));
  }
  if (result != CUDA_SUCCESS) {
    return fail(ErrorCode::NoDevice,
                llvm::formatv("driver {0} has no usable device: {1}", driver.path(),
                              describeDriverError(api, "cuDeviceGetCount", result)));
  }
  return names;
}

llvm::Expected<int> findOrdinal(const Driver &driver, const DeviceName &name) {
  llvm::Expected<std::vector<std::string>> names = deviceNames(driver);
  if (!names) {
    return names.takeError();
  }
  if (name.isEmulator && driver.emulator() == nullptr) {
    return fail(ErrorCode::NoDevice,
                llvm::formatv("{0} is no emulator, so it has no device {1}; unset FP8JIT_EMULATOR",
                              driver.path(), name.text));
  }
  for (std::size_t i = 0; i < names->size(); ++i) {
    if ((*names)[i] == name.text) {
      return static_cast<int>(i);
    }
  }
  const char *hint = !name.isEmulator && driver.emulator() != nullptr
                         ? "; this libcuda is the emulator, which is never a CUDA device"
                         : "";
  return fail(ErrorCode::NoDevice, llvm::formatv("no device {0}, found {1}{2}", name.text,
                                                 llvm::join(*names, ", "), hint));
}

/// A row for what cannot be used.
static DeviceListing missing(std::string name, bool isEmulated, std::string reason) {
  DeviceListing row;
  row.name = std::move(name);
  row.isEmulated = isEmulated;
  row.reason = std::move(reason);
  return row;
}

static DeviceListing listDevice(std::shared_ptr<const Driver> driver, int ordinal,
                                const std::string &name) {
  const bool isEmulated = driver->emulator() != nullptr;
  llvm::Expected<std::shared_ptr<Device>> device =
      Device::onDriver(std::move(driver), ordinal, name);
  if (!device) {
    return missing(name, isEmulated, takeFailure(device.takeError()).text());
  }
  DeviceListing row;
  row.name = name;
  row.deviceName = (*device)->deviceName();
  row.arch = (*device)->arch();
  row.isAvailable = true;
  row.isEmulated = isEmulated;
  return row;
}

/// One row for every device of the library `path`. Errors: NoDevice.
static llvm::Expected<std::vector<DeviceListing>> listDriver(const std::string &path) {
  llvm::Expected<std::shared_ptr<const Driver>> driver = Driver::load(path);
  if (!driver) {
    return driver.takeError();
  }
  llvm::Expected<std::vector<std::string>> names = deviceNames(**driver);
  if (!names) {
    return names.takeError();
  }
  std::vector<DeviceListing> rows;
  for (std::size_t i = 0; i < names->size(); ++i) {
    rows.push_back(listDevice(*driver, static_cast<int>(i), (*names)[i]));
  }
  return rows;
}

std::vector<DeviceListing> listDevices(const DeviceSearch &search) {
  std::vector<DeviceListing> rows;
  llvm::Expected<std::vector<DeviceListing>> cuda = listDriver(search.cudaLibrary);
  if (!cuda) {
    rows.push_back(missing("cuda", false, takeFailure(cuda.takeError()).text()));
  } else if (!cuda->empty() && cuda->front().isEmulated) {
    // Programs that load libcuda.so.1 get the emulator here; as a CUDA device it does not count.
    rows.push_back(missing("cuda", false,
                           search.cudaLibrary + " is the emulator, which is never a CUDA device"));
  } else {
    rows = std::move(*cuda);
  }
  llvm::Expected<std::vector<DeviceListing>> emulated = listDriver(emulatorLibraryPath(search));
  if (!emulated) {
    rows.push_back(missing("emulator", true, takeFailure(emulated.takeError()).text()));
    return rows;
  }
  rows.insert(rows.end(), emulated->begin(), emulated->end());
  return rows;
}

} // namespace fp8jit
