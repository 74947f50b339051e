#include "runtime/ptx_kernel.h"

#include "runtime/driver/driver.h"
#include "support/error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cstring>
#include <utility>

namespace fp8jit {

/// Runs `function(api)`, which returns a CUresult, with a context of `device` current.
template <typename Function>
static llvm::Expected<CUresult> inContext(const Device &device, const Function &function) {
  llvm::Expected<void *> toRestore = device.enterContext();
  if (!toRestore) {
    return toRestore.takeError();
  }
  const CUresult result = function(device.driver().api());
  device.leaveContext(*toRestore);
  return result;
}

/// Drivers older than CUDA 12.4 lack what tells a kernel's parameters.
static llvm::Error checkDriver(const Driver &driver) {
  const DriverApi &api = driver.api();
  const bool isComplete = api.libraryGetKernelCount != nullptr &&
                          api.libraryEnumerateKernels != nullptr && api.kernelGetName != nullptr &&
                          api.kernelGetParamInfo != nullptr && api.launchKernelEx != nullptr &&
                          api.tensorMapEncodeTiled != nullptr;
  return isComplete ? llvm::Error::success()
                    : fail(ErrorCode::NoDevice,
                           llvm::formatv("driver {0} is older than CUDA 12.4", driver.path()));
}

PtxKernel::PtxKernel(PtxKernel &&other) noexcept
    : device_(std::move(other.device_)), library_(std::exchange(other.library_, nullptr)),
      kernel_(other.kernel_), parameterBytes_(std::move(other.parameterBytes_)) {}

PtxKernel::~PtxKernel() {
  if (library_ != nullptr) {
    device_->driver().api().libraryUnload(static_cast<CUlibrary>(library_));
  }
}

llvm::Expected<PtxKernel> PtxKernel::load(std::shared_ptr<Device> device, llvm::StringRef ptx,
                                          llvm::StringRef entry) {
  PtxKernel kernel;
  kernel.device_ = std::move(device);
  if (llvm::Error error = checkDriver(kernel.device_->driver())) {
    return error;
  }
  const std::string text = ptx.str();
  std::string log(8 << 10, '\0');
  llvm::Expected<CUresult> result = inContext(*kernel.device_, [&](const DriverApi &api) {
    CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
    CUlibrary library = nullptr;
    const CUresult loaded =
        api.libraryLoadData(&library, text.c_str(), names, values, 2, nullptr, nullptr, 0);
    kernel.library_ = library;
    return loaded;
  });
  if (!result) {
    return result.takeError();
  }
  if (*result != CUDA_SUCCESS) {
    kernel.library_ = nullptr;
    FailureInfo failure = takeFailure(kernel.device_->driverFailure("cuLibraryLoadData", *result));
    return fail(failure.code(), failure.text(), log.c_str());
  }
  if (llvm::Error error = kernel.findEntry(entry)) {
    return error;
  }
  return kernel;
}

std::string PtxKernel::kernelNames() const {
  const DriverApi &api = device_->driver().api();
  unsigned count = 0;
  const auto library = static_cast<CUlibrary>(library_);
  if (api.libraryGetKernelCount(&count, library) != CUDA_SUCCESS || count == 0) {
    return "no kernel";
  }
  std::vector<CUkernel> kernels(count);
  std::vector<std::string> names;
  if (api.libraryEnumerateKernels(kernels.data(), count, library) == CUDA_SUCCESS) {
    for (CUkernel kernel : kernels) {
      const char *name = nullptr;
      if (api.kernelGetName(&name, kernel) == CUDA_SUCCESS) {
        names.emplace_back(name);
      }
    }
  }
  return llvm::join(names, ", ");
}

llvm::Error PtxKernel::findEntry(llvm::StringRef entry) {
  const DriverApi &api = device_->driver().api();
  CUkernel kernel = nullptr;
  const CUresult result =
      api.libraryGetKernel(&kernel, static_cast<CUlibrary>(library_), entry.str().c_str());
  if (result == CUDA_ERROR_NOT_FOUND) {
    return fail(ErrorCode::NotFound, llvm::formatv("kernel '{0}' is not in the PTX, which has {1}",
                                                   entry, kernelNames()));
  }
  if (result != CUDA_SUCCESS) {
    return device_->driverFailure("cuLibraryGetKernel", result);
  }
  kernel_ = kernel;
  std::size_t offset = 0;
  std::size_t sizeBytes = 0;
  while (api.kernelGetParamInfo(kernel, parameterBytes_.size(), &offset, &sizeBytes) ==
         CUDA_SUCCESS) {
    parameterBytes_.push_back(sizeBytes);
  }
  return llvm::Error::success();
}

/// Sets what a kernel needs to be told before a launch of this shape.
static CUresult allowShape(const DriverApi &api, CUkernel kernel, CUdevice device,
                           const LaunchShape &shape) {
  constexpr unsigned kPortableBlocks = 8;
  CUresult result = CUDA_SUCCESS;
  if (shape.smemBytes > kDefaultSmemPerBlock) {
    result = api.kernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                    static_cast<int>(shape.smemBytes), kernel, device);
  }
  const unsigned blocks = shape.cluster[0] * shape.cluster[1] * shape.cluster[2];
  if (result == CUDA_SUCCESS && blocks > kPortableBlocks) {
    result = api.kernelSetAttribute(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1, kernel,
                                    device);
  }
  return result;
}

int PtxKernel::enqueue(const LaunchShape &shape,
                       llvm::ArrayRef<std::vector<std::uint8_t>> arguments, const char *&call) {
  const DriverApi &api = device_->driver().api();
  call = "cuKernelSetAttribute";
  const CUresult result = allowShape(api, static_cast<CUkernel>(kernel_), device_->handle(), shape);
  if (result != CUDA_SUCCESS) {
    return result;
  }
  std::vector<void *> pointers;
  for (const std::vector<std::uint8_t> &argument : arguments) {
    pointers.push_back(const_cast<std::uint8_t *>(argument.data())); // the driver only reads it
  }
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim.x = shape.cluster[0];
  attribute.value.clusterDim.y = shape.cluster[1];
  attribute.value.clusterDim.z = shape.cluster[2];
  CUlaunchConfig config{};
  config.gridDimX = shape.grid[0];
  config.gridDimY = shape.grid[1];
  config.gridDimZ = shape.grid[2];
  config.blockDimX = shape.block[0];
  config.blockDimY = shape.block[1];
  config.blockDimZ = shape.block[2];
  config.sharedMemBytes = shape.smemBytes;
  config.attrs = &attribute;
  config.numAttrs = shape.cluster == Extent3{0, 0, 0} ? 0 : 1;
  call = "cuLaunchKernelEx";
  return api.launchKernelEx(&config, static_cast<CUfunction>(kernel_), pointers.data(), nullptr);
}

llvm::Error PtxKernel::launch(const LaunchShape &shape,
                              llvm::ArrayRef<std::vector<std::uint8_t>> arguments) {
  const char *call = "";
  llvm::Expected<CUresult> result = inContext(*device_, [&](const DriverApi &) {
    return static_cast<CUresult>(enqueue(shape, arguments, call));
  });
  if (!result) {
    return result.takeError();
  }
  if (*result != CUDA_SUCCESS) {
    return device_->driverFailure(call, *result);
  }
  return device_->synchronize();
}

llvm::Expected<std::vector<std::uint8_t>> encodeTensorMap(const Device &device,
                                                          const TensorMapSpec &spec) {
  CUtensorMap map{};
  llvm::Expected<CUresult> result = inContext(device, [&](const DriverApi &api) {
    return api.tensorMapEncodeTiled(
        &map, static_cast<CUtensorMapDataType>(spec.elementType),
        static_cast<unsigned>(spec.dims.size()), spec.address, spec.dims.data(),
        spec.strides.data(), spec.box.data(), spec.elementStrides.data(),
        CU_TENSOR_MAP_INTERLEAVE_NONE, static_cast<CUtensorMapSwizzle>(spec.swizzle),
        CU_TENSOR_MAP_L2_PROMOTION_NONE, static_cast<CUtensorMapFloatOOBfill>(spec.fill));
  });
  if (!result) {
    return result.takeError();
  }
  if (*result != CUDA_SUCCESS) {
    return device.driverFailure("cuTensorMapEncodeTiled", *result);
  }
  std::vector<std::uint8_t> bytes(sizeof map);
  std::memcpy(bytes.data(), &map, sizeof map);
  return bytes;
}

} // namespace fp8jit
