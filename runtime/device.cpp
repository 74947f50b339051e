#include "runtime/device.h"

#include "runtime/device_search.h"
#include "runtime/driver/driver.h"
#include "support/error.h"

#include "llvm/Support/FormatVariadic.h"

#include <array>
#include <utility>

namespace fp8jit {

/// The row of the table that comes nearest to a device: by name, by architecture, or the first of
/// the same or the next older generation.
static GpuProfile nearestProfile(llvm::StringRef deviceName, llvm::StringRef arch, int major) {
  for (const GpuProfile &profile : kGpuProfiles) {
    if (deviceName.contains(profile.name)) {
      return profile;
    }
  }
  const GpuProfile *best = findProfileByArch(arch);
  if (best != nullptr) {
    return *best;
  }
  best = &kGpuProfiles.front();
  for (const GpuProfile &profile : kGpuProfiles) {
    if (profile.computeMajor <= major && profile.computeMajor > best->computeMajor) {
      best = &profile;
    }
  }
  return *best;
}

llvm::Expected<std::shared_ptr<Device>> Device::open(llvm::StringRef name,
                                                     const DeviceSearch &search) {
  llvm::Expected<DeviceName> parsed = parseDeviceName(name);
  if (!parsed) {
    return parsed.takeError();
  }
  const std::string path = parsed->isEmulator ? emulatorLibraryPath(search) : search.cudaLibrary;
  llvm::Expected<std::shared_ptr<const Driver>> driver = Driver::load(path);
  if (!driver) {
    return driver.takeError();
  }
  llvm::Expected<int> ordinal = findOrdinal(**driver, *parsed);
  if (!ordinal) {
    return ordinal.takeError();
  }
  return onDriver(std::move(*driver), *ordinal, parsed->text);
}

llvm::Expected<std::shared_ptr<Device>> Device::onDriver(std::shared_ptr<const Driver> driver,
                                                         int ordinal, std::string name) {
  std::shared_ptr<Device> device(new Device());
  device->driver_ = std::move(driver);
  device->name_ = std::move(name);
  const DriverApi &api = device->driver_->api();
  CUdevice handle = 0;
  if (const CUresult result = api.deviceGet(&handle, ordinal); result != CUDA_SUCCESS) {
    return fail(ErrorCode::NoDevice,
                llvm::formatv("device {0} cannot be opened: {1}", device->name_,
                              describeDriverError(api, "cuDeviceGet", result)));
  }
  device->handle_ = handle;
  if (llvm::Error error = device->readProperties()) {
    return error;
  }
  CUcontext context = nullptr;
  if (const CUresult result = api.devicePrimaryCtxRetain(&context, handle);
      result != CUDA_SUCCESS) {
    return device->driverFailure("cuDevicePrimaryCtxRetain", result);
  }
  device->primaryContext_ = context;
  if (device->emulator() != nullptr) {
    device->emulator()->setStrictness(EmulatorStrictness::Strict);
  }
  return device;
}

Device::~Device() {
  if (primaryContext_ != nullptr) {
    // At process exit the driver may be gone already; nothing is left to release then.
    driver_->api().devicePrimaryCtxRelease(handle_);
  }
}

llvm::Error Device::readProperties() {
  const DriverApi &api = driver_->api();
  std::array<char, 256> text{};
  CUresult result = api.deviceGetName(text.data(), static_cast<int>(text.size()) - 1, handle_);
  std::size_t memoryBytes = 0;
  if (result == CUDA_SUCCESS) {
    result = api.deviceTotalMem(&memoryBytes, handle_);
  }
  const auto attribute = [&](CUdevice_attribute which) {
    int value = 0;
    if (result == CUDA_SUCCESS) {
      result = api.deviceGetAttribute(&value, which, handle_);
    }
    return value;
  };
  const int major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  const int minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  deviceName_ = text.data();
  const std::string target = archOf(major, minor);
  profile_ = nearestProfile(deviceName_, target, major);
  profile_.computeMajor = major;
  profile_.computeMinor = minor;
  profile_.smCount = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  profile_.l2Bytes = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  profile_.smemPerBlockOptin = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  profile_.smemPerSm = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  profile_.regsPerSm = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  profile_.maxThreadsPerSm = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  profile_.dramBytes = static_cast<long long>(memoryBytes);
  if (result != CUDA_SUCCESS) {
    return fail(ErrorCode::NoDevice,
                llvm::formatv("device {0} cannot be described: {1}", name_,
                              describeDriverError(api, "cuDeviceGetAttribute", result)));
  }
  arch_ = "sm_" + target;
  profile_.name = deviceName_;
  profile_.arch = std::string_view(arch_).substr(3);
  targetText_ = llvm::formatv("{0} {1} sms={2} l2={3} smem={4}{5}", deviceName_, arch_,
                              profile_.smCount, profile_.l2Bytes, profile_.smemPerBlockOptin,
                              emulator() == nullptr ? "" : " emulated")
                    .str();
  return llvm::Error::success();
}

const EmulatorTable *Device::emulator() const {
  return driver_->emulator();
}

llvm::Expected<void *> Device::enterContext() const {
  const DriverApi &api = driver_->api();
  CUcontext current = nullptr;
  CUresult result = api.ctxGetCurrent(&current);
  if (result == CUDA_SUCCESS && current == primaryContext_) {
    return nullptr;
  }
  CUdevice device = -1;
  if (result == CUDA_SUCCESS && current != nullptr) {
    result = api.ctxGetDevice(&device);
    if (result == CUDA_SUCCESS && device == handle_) {
      return nullptr; // the caller's own context of this device
    }
  }
  if (result == CUDA_SUCCESS) {
    result = api.ctxSetCurrent(static_cast<CUcontext>(primaryContext_));
  }
  if (result != CUDA_SUCCESS) {
    return driverFailure("cuCtxSetCurrent", result);
  }
  return current;
}

void Device::leaveContext(void *toRestore) const {
  if (toRestore != nullptr) {
    driver_->api().ctxSetCurrent(static_cast<CUcontext>(toRestore));
  }
}

/// Whether `result` says that a kernel of the context went wrong.
static bool isFault(int result) {
  switch (result) {
  case CUDA_ERROR_ILLEGAL_ADDRESS:
  case CUDA_ERROR_MISALIGNED_ADDRESS:
  case CUDA_ERROR_ILLEGAL_INSTRUCTION:
  case CUDA_ERROR_INVALID_ADDRESS_SPACE:
  case CUDA_ERROR_INVALID_PC:
  case CUDA_ERROR_HARDWARE_STACK_ERROR:
  case CUDA_ERROR_ASSERT:
  case CUDA_ERROR_LAUNCH_FAILED:
  case CUDA_ERROR_LAUNCH_TIMEOUT:
    return true;
  default:
    return false;
  }
}

/// What the caller can do about a failed call; empty where the driver's text says it all.
static const char *adviceFor(int result) {
  if (isFault(result)) {
    return "; a kernel of this context faulted, perhaps an earlier one: the context stays "
           "unusable, so check the sizes and lifetimes of all buffers and restart the process";
  }
  switch (result) {
  case CUDA_ERROR_OUT_OF_MEMORY:
    return "; free device memory and try again";
  case CUDA_ERROR_INVALID_HANDLE:
  case CUDA_ERROR_INVALID_CONTEXT:
    return "; the stream or context does not belong to this device or was destroyed";
  default:
    return "";
  }
}

llvm::Error Device::driverFailure(const char *call, int result) const {
  std::string details;
  if (const EmulatorTable *table = emulator(); table != nullptr && isFault(result)) {
    const char *report = table->lastReport();
    details = report == nullptr ? "" : report;
  }
  const std::string text = describeDriverError(driver_->api(), call, static_cast<CUresult>(result));
  return fail(ErrorCode::DriverError, llvm::formatv("{0}: {1}{2}", name_, text, adviceFor(result)),
              std::move(details));
}

} // namespace fp8jit
