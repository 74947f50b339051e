#include "tests/runtime/fake_driver.h"

#include "support/error.h"

#include <cstring>

namespace fp8jit::testing {

static thread_local CUcontext currentContext = nullptr;

/// Kernels are handed out as pointers to their entry's name.
static std::string nameOf(const void *kernel) {
  return static_cast<const std::string *>(kernel)->c_str();
}

FakeDriver &FakeDriver::instance() {
  static FakeDriver driver;
  return driver;
}

FakeDriver &FakeDriver::reset() {
  FakeDriver &driver = instance();
  const FakeDriver healthy;
  driver.initResult = healthy.initResult;
  driver.driverVersion = healthy.driverVersion;
  driver.deviceCount = healthy.deviceCount;
  driver.deviceName = healthy.deviceName;
  driver.computeMajor = healthy.computeMajor;
  driver.computeMinor = healthy.computeMinor;
  driver.isEmulator = healthy.isEmulator;
  driver.emulatorTableBytes = healthy.emulatorTableBytes;
  driver.emulatorReport = healthy.emulatorReport;
  driver.cubinResult = driver.ptxResult = driver.loweredPtxResult = CUDA_SUCCESS;
  driver.launchResult = driver.allocResult = CUDA_SUCCESS;
  driver.captureStatus = healthy.captureStatus;
  driver.doesRecord = true;
  driver.launches.clear();
  driver.images.clear();
  driver.allocations = driver.pairedBinaries = driver.liveLibraries = 0;
  currentContext = nullptr;
  return driver;
}

CUcontext FakeDriver::context(std::uintptr_t number) {
  return reinterpret_cast<CUcontext>(number);
}
void FakeDriver::setCurrent(CUcontext context) {
  currentContext = context;
}
CUcontext FakeDriver::current() {
  return currentContext;
}

static const char *fakeReport() {
  return FakeDriver::instance().emulatorReport.c_str();
}

static const EmulatorTable *fakeEmulatorTable() {
  static EmulatorTable table = [] {
    EmulatorTable filled{};
    filled.version = 1;
    filled.setStrictness = [](EmulatorStrictness) { return 0; };
    filled.pairBinary = [](const void *, std::uint64_t, const char *, std::uint64_t) {
      ++FakeDriver::instance().pairedBinaries;
      return 0;
    };
    filled.lastReport = fakeReport;
    return filled;
  }();
  table.sizeBytes = FakeDriver::instance().emulatorTableBytes;
  return &table;
}

static void fillDevice(DriverApi &api) {
  api.init = [](unsigned) { return FakeDriver::instance().initResult; };
  api.driverGetVersion = [](int *version) {
    *version = FakeDriver::instance().driverVersion;
    return CUDA_SUCCESS;
  };
  api.getErrorName = [](CUresult result, const char **text) {
    *text = result == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_FAKE";
    return CUDA_SUCCESS;
  };
  api.getErrorString = [](CUresult, const char **text) {
    *text = "said by the fake driver";
    return CUDA_SUCCESS;
  };
  api.getExportTable = [](const void **table, const CUuuid *uuid) {
    const bool isKnown = FakeDriver::instance().isEmulator &&
                         std::memcmp(uuid->bytes, kEmulatorTableUuid, sizeof(uuid->bytes)) == 0;
    *table = isKnown ? fakeEmulatorTable() : nullptr;
    return isKnown ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
  };
  api.deviceGetCount = [](int *count) {
    *count = FakeDriver::instance().deviceCount;
    return CUDA_SUCCESS;
  };
  api.deviceGet = [](CUdevice *device, int ordinal) {
    *device = ordinal;
    return ordinal < FakeDriver::instance().deviceCount ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
  };
  api.deviceGetName = [](char *text, int size, CUdevice) {
    std::strncpy(text, FakeDriver::instance().deviceName.c_str(), static_cast<std::size_t>(size));
    return CUDA_SUCCESS;
  };
  api.deviceTotalMem = [](std::size_t *bytes, CUdevice) {
    *bytes = std::size_t{48} << 30;
    return CUDA_SUCCESS;
  };
  api.deviceGetAttribute = [](int *value, CUdevice_attribute attribute, CUdevice) {
    const FakeDriver &driver = FakeDriver::instance();
    switch (static_cast<int>(attribute)) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = driver.computeMajor;
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      *value = driver.computeMinor;
      break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      *value = 142;
      break;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      *value = 96 << 20;
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      *value = 101376;
      break;
    default:
      *value = 65536;
    }
    return CUDA_SUCCESS;
  };
}

static void fillContext(DriverApi &api) {
  api.devicePrimaryCtxRetain = [](CUcontext *context, CUdevice) {
    *context = FakeDriver::context(1);
    return CUDA_SUCCESS;
  };
  api.devicePrimaryCtxRelease = [](CUdevice) { return CUDA_SUCCESS; };
  api.ctxGetCurrent = [](CUcontext *context) {
    *context = currentContext;
    return CUDA_SUCCESS;
  };
  api.ctxSetCurrent = [](CUcontext context) {
    currentContext = context;
    return CUDA_SUCCESS;
  };
  api.ctxGetDevice = [](CUdevice *device) {
    *device = currentContext == FakeDriver::context(3) ? 1 : 0;
    return CUDA_SUCCESS;
  };
  api.ctxSynchronize = [] { return CUDA_SUCCESS; };
  api.streamCreate = [](CUstream *stream, unsigned) {
    *stream = reinterpret_cast<CUstream>(std::uintptr_t{0x5000});
    return CUDA_SUCCESS;
  };
  api.streamDestroy = [](CUstream) { return CUDA_SUCCESS; };
  api.streamSynchronize = [](CUstream) { return CUDA_SUCCESS; };
  api.streamIsCapturing = [](CUstream, CUstreamCaptureStatus *status) {
    *status = FakeDriver::instance().captureStatus;
    return CUDA_SUCCESS;
  };
  api.memAlloc = [](CUdeviceptr *address, std::size_t) {
    FakeDriver &driver = FakeDriver::instance();
    *address = 0x1000000ULL * static_cast<unsigned>(++driver.allocations);
    return driver.allocResult;
  };
  api.memFree = [](CUdeviceptr) { return CUDA_SUCCESS; };
  api.memcpyHtoD = [](CUdeviceptr, const void *, std::size_t) { return CUDA_SUCCESS; };
  api.memcpyDtoH = [](void *, CUdeviceptr, std::size_t) { return CUDA_SUCCESS; };
}

static CUresult fakeLibraryLoadData(CUlibrary *library, const void *image, CUjit_option *, void **,
                                    unsigned, CUlibraryOption *, void **, unsigned) {
  FakeDriver &driver = FakeDriver::instance();
  const std::string text = static_cast<const char *>(image);
  CUresult result = driver.loweredPtxResult;
  if (text.rfind("cubin", 0) == 0) {
    result = driver.cubinResult;
  } else if (text.find(".version 9.0") != std::string::npos) {
    result = driver.ptxResult;
  }
  const std::lock_guard lock(driver.mutex);
  driver.images.push_back(text);
  if (result == CUDA_SUCCESS) {
    ++driver.liveLibraries;
    *library = reinterpret_cast<CUlibrary>(driver.images.size());
  }
  return result;
}

static CUresult fakeLibraryGetKernel(CUkernel *kernel, CUlibrary, const char *name) {
  static std::mutex mutex;
  static std::vector<std::unique_ptr<std::string>> names; // kernels point into it
  const std::lock_guard lock(mutex);
  for (const auto &known : names) {
    if (*known == name) {
      *kernel = reinterpret_cast<CUkernel>(known.get());
      return CUDA_SUCCESS;
    }
  }
  names.push_back(std::make_unique<std::string>(name));
  *kernel = reinterpret_cast<CUkernel>(names.back().get());
  return CUDA_SUCCESS;
}

static CUresult fakeLaunchKernel(CUfunction function, unsigned gridX, unsigned, unsigned,
                                 unsigned blockX, unsigned, unsigned, unsigned smemBytes,
                                 CUstream stream, void **params, void **) {
  FakeDriver &driver = FakeDriver::instance();
  if (!driver.doesRecord || driver.launchResult != CUDA_SUCCESS) {
    return driver.launchResult;
  }
  FakeLaunch launch;
  launch.entry = nameOf(function);
  launch.grid = gridX;
  launch.block = blockX;
  launch.smemBytes = smemBytes;
  launch.stream = stream;
  if (launch.entry.find("gemm") != std::string::npos) {
    std::memcpy(&launch.gemm, params[0], sizeof(launch.gemm));
  } else {
    std::memcpy(&launch.quant, params[0], sizeof(launch.quant));
  }
  const std::lock_guard lock(driver.mutex);
  driver.launches.push_back(launch);
  return CUDA_SUCCESS;
}

static void fillKernels(DriverApi &api) {
  api.eventCreate = [](CUevent *event, unsigned) {
    *event = reinterpret_cast<CUevent>(std::uintptr_t{0x6000});
    return CUDA_SUCCESS;
  };
  api.eventDestroy = [](CUevent) { return CUDA_SUCCESS; };
  api.eventRecord = [](CUevent, CUstream) { return CUDA_SUCCESS; };
  api.eventSynchronize = [](CUevent) { return CUDA_SUCCESS; };
  api.eventElapsedTime = [](float *ms, CUevent, CUevent) {
    *ms = 0.5F;
    return CUDA_SUCCESS;
  };
  api.libraryLoadData = fakeLibraryLoadData;
  api.libraryUnload = [](CUlibrary) {
    --FakeDriver::instance().liveLibraries;
    return CUDA_SUCCESS;
  };
  api.libraryGetKernel = fakeLibraryGetKernel;
  api.kernelGetAttribute = [](int *value, CUfunction_attribute, CUkernel, CUdevice) {
    *value = 64;
    return CUDA_SUCCESS;
  };
  api.kernelSetAttribute = [](CUfunction_attribute, int, CUkernel, CUdevice) {
    return CUDA_SUCCESS;
  };
  api.launchKernel = fakeLaunchKernel;
}

DriverApi FakeDriver::table() {
  DriverApi api;
  fillDevice(api);
  fillContext(api);
  fillKernels(api);
  return api;
}

std::shared_ptr<Device> FakeDriver::openDevice() {
  llvm::Expected<std::shared_ptr<const Driver>> driver =
      Driver::fromTable(table(), "the fake driver");
  const char *name = instance().isEmulator ? "emulator:sm_89" : "cuda:0";
  llvm::Expected<std::shared_ptr<Device>> device =
      driver ? Device::onDriver(*driver, 0, name)
             : llvm::Expected<std::shared_ptr<Device>>(driver.takeError());
  if (!device) {
    llvm::consumeError(device.takeError()); // the null device fails the test that asked for it
    return nullptr;
  }
  return *device;
}

} // namespace fp8jit::testing
