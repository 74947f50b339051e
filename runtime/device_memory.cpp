// Memory, streams and events of a Device.
#include "runtime/device.h"
#include "runtime/driver/driver.h"

#include <utility>

namespace fp8jit {

namespace {

/// Holds a context of the device current for a scope.
class ContextScope {
public:
  static llvm::Expected<ContextScope> enter(const Device &device) {
    llvm::Expected<void *> toRestore = device.enterContext();
    if (!toRestore) {
      return toRestore.takeError();
    }
    return ContextScope(device, *toRestore);
  }
  ContextScope(ContextScope &&other) noexcept
      : device_(std::exchange(other.device_, nullptr)), toRestore_(other.toRestore_) {}
  ContextScope &operator=(ContextScope &&) = delete;
  ~ContextScope() {
    if (device_ != nullptr) {
      device_->leaveContext(toRestore_);
    }
  }

private:
  ContextScope(const Device &device, void *toRestore) : device_(&device), toRestore_(toRestore) {}
  const Device *device_;
  void *toRestore_;
};

} // namespace

/// Calls `function(api)` with a context current; the DriverError of `call` if it fails.
template <typename Function>
static llvm::Error callDriver(const Device &device, const char *call, Function function) {
  llvm::Expected<ContextScope> scope = ContextScope::enter(device);
  if (!scope) {
    return scope.takeError();
  }
  const CUresult result = function(device.driver().api());
  if (result != CUDA_SUCCESS) {
    return device.driverFailure(call, result);
  }
  return llvm::Error::success();
}

/// For destructors: the same without an error to report. A context that faulted or a driver that
/// shuts down has freed everything already.
template <typename Function>
static void releaseWith(const Device &device, Function function) {
  llvm::Expected<ContextScope> scope = ContextScope::enter(device);
  if (!scope) {
    llvm::consumeError(scope.takeError()); // nothing is left to free, see above
    return;
  }
  function(device.driver().api());
}

DeviceBuffer::DeviceBuffer(DeviceBuffer &&other) noexcept {
  *this = std::move(other);
}

DeviceBuffer &DeviceBuffer::operator=(DeviceBuffer &&other) noexcept {
  std::swap(device_, other.device_);
  std::swap(address_, other.address_);
  std::swap(sizeBytes_, other.sizeBytes_);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (address_ != 0) {
    releaseWith(*device_, [&](const DriverApi &api) { api.memFree(address_); });
  }
}

DeviceStream::DeviceStream(DeviceStream &&other) noexcept {
  *this = std::move(other);
}

DeviceStream &DeviceStream::operator=(DeviceStream &&other) noexcept {
  std::swap(device_, other.device_);
  std::swap(handle_, other.handle_);
  return *this;
}

DeviceStream::~DeviceStream() {
  if (handle_ != nullptr) {
    releaseWith(*device_,
                [&](const DriverApi &api) { api.streamDestroy(static_cast<CUstream>(handle_)); });
  }
}

llvm::Error DeviceStream::synchronize() const {
  return callDriver(*device_, "cuStreamSynchronize", [&](const DriverApi &api) {
    return api.streamSynchronize(static_cast<CUstream>(handle_));
  });
}

DeviceEvent::DeviceEvent(DeviceEvent &&other) noexcept {
  *this = std::move(other);
}

DeviceEvent &DeviceEvent::operator=(DeviceEvent &&other) noexcept {
  std::swap(device_, other.device_);
  std::swap(handle_, other.handle_);
  return *this;
}

DeviceEvent::~DeviceEvent() {
  if (handle_ != nullptr) {
    releaseWith(*device_,
                [&](const DriverApi &api) { api.eventDestroy(static_cast<CUevent>(handle_)); });
  }
}

llvm::Error DeviceEvent::record(void *stream) const {
  return callDriver(*device_, "cuEventRecord", [&](const DriverApi &api) {
    return api.eventRecord(static_cast<CUevent>(handle_), static_cast<CUstream>(stream));
  });
}

llvm::Expected<double> DeviceEvent::elapsedNsSince(const DeviceEvent &start) const {
  float milliseconds = 0;
  llvm::Error error = callDriver(*device_, "cuEventElapsedTime", [&](const DriverApi &api) {
    const CUresult waited = api.eventSynchronize(static_cast<CUevent>(handle_));
    return waited != CUDA_SUCCESS
               ? waited
               : api.eventElapsedTime(&milliseconds, static_cast<CUevent>(start.handle_),
                                      static_cast<CUevent>(handle_));
  });
  if (error) {
    return error;
  }
  return static_cast<double>(milliseconds) * 1e6;
}

llvm::Expected<DeviceBuffer> Device::allocate(std::size_t sizeBytes) {
  DeviceBuffer buffer;
  if (sizeBytes == 0) {
    return buffer;
  }
  CUdeviceptr address = 0;
  if (llvm::Error error = callDriver(*this, "cuMemAlloc", [&](const DriverApi &api) {
        return api.memAlloc(&address, sizeBytes);
      })) {
    return error;
  }
  buffer.device_ = shared_from_this();
  buffer.address_ = address;
  buffer.sizeBytes_ = sizeBytes;
  return buffer;
}

llvm::Error Device::copyToDevice(void *target, const void *source, std::size_t sizeBytes) {
  if (sizeBytes == 0) {
    return llvm::Error::success();
  }
  return callDriver(*this, "cuMemcpyHtoD", [&](const DriverApi &api) {
    return api.memcpyHtoD(reinterpret_cast<CUdeviceptr>(target), source, sizeBytes);
  });
}

llvm::Error Device::copyToHost(void *target, const void *source, std::size_t sizeBytes) {
  if (sizeBytes == 0) {
    return llvm::Error::success();
  }
  return callDriver(*this, "cuMemcpyDtoH", [&](const DriverApi &api) {
    return api.memcpyDtoH(target, reinterpret_cast<CUdeviceptr>(source), sizeBytes);
  });
}

llvm::Error Device::synchronize() {
  return callDriver(*this, "cuCtxSynchronize",
                    [&](const DriverApi &api) { return api.ctxSynchronize(); });
}

llvm::Expected<DeviceStream> Device::createStream() {
  CUstream handle = nullptr;
  if (llvm::Error error = callDriver(*this, "cuStreamCreate", [&](const DriverApi &api) {
        return api.streamCreate(&handle, CU_STREAM_NON_BLOCKING);
      })) {
    return error;
  }
  DeviceStream stream;
  stream.device_ = shared_from_this();
  stream.handle_ = handle;
  return stream;
}

llvm::Expected<DeviceEvent> Device::createEvent() {
  CUevent handle = nullptr;
  if (llvm::Error error = callDriver(*this, "cuEventCreate", [&](const DriverApi &api) {
        return api.eventCreate(&handle, CU_EVENT_DEFAULT);
      })) {
    return error;
  }
  DeviceEvent event;
  event.device_ = shared_from_this();
  event.handle_ = handle;
  return event;
}

} // namespace fp8jit
