// Contexts: primary ones, created ones, and the calling thread's stack of current contexts.
#include "emulator/abi/process.h"
#include "entry_points.h"

#include <algorithm>

namespace fp8jit::emulator {

static constexpr unsigned kContextFlags = CU_CTX_FLAGS_MASK;

/// Makes a fresh primary context under the device's handle. The device's mutex is held.
static void createPrimary(Process &process, Device &device) {
  const CUcontext handle = device.primaryHandle();
  process.contexts.addAs(handle, std::make_shared<Context>(device, handle, device.primaryFlags,
                                                           process.nextId.fetch_add(1)));
}

static CUresult createContext(CUcontext *handle, unsigned flags, CUdevice ordinal) {
  Process &process = Process::instance();
  Device *device = process.findDevice(ordinal);
  if (handle == nullptr || (flags & ~kContextFlags) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (device == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  const auto context =
      std::make_shared<Context>(*device, nullptr, flags, process.nextId.fetch_add(1));
  const auto ownHandle = reinterpret_cast<CUcontext>(context.get());
  context->handle = ownHandle;
  process.contexts.addAs(ownHandle, context);
  Process::thread().contextStack.push_back(ownHandle);
  *handle = ownHandle;
  return CUDA_SUCCESS;
}

/// Whether `handle` names a live context; null counts as none.
static bool isLive(CUcontext handle) {
  return handle != nullptr && Process::instance().contexts.find(handle) != nullptr;
}

namespace driver {

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice ordinal) {
  Process &process = Process::instance();
  Device *device = process.findDevice(ordinal);
  if (context == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (device == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  const std::lock_guard lock(device->mutex);
  if (device->primaryRetains == 0) {
    createPrimary(process, *device);
  }
  ++device->primaryRetains;
  *context = device->primaryHandle();
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice ordinal) {
  Process &process = Process::instance();
  Device *device = process.findDevice(ordinal);
  if (device == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  const std::lock_guard lock(device->mutex);
  if (device->primaryRetains == 0) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  if (--device->primaryRetains == 0) {
    process.destroyContext(device->primaryHandle());
  }
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice ordinal) {
  return driver::cuDevicePrimaryCtxRelease_v2(ordinal);
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice ordinal) {
  Process &process = Process::instance();
  Device *device = process.findDevice(ordinal);
  if (device == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  const std::lock_guard lock(device->mutex);
  process.destroyContext(device->primaryHandle());
  if (device->primaryRetains > 0) {
    createPrimary(process, *device); // a reset releases no one's reference
  }
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset(CUdevice ordinal) {
  return driver::cuDevicePrimaryCtxReset_v2(ordinal);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned int *flags, int *isActive) {
  Device *device = Process::instance().findDevice(ordinal);
  if (flags == nullptr || isActive == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (device == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  const std::lock_guard lock(device->mutex);
  *flags = device->primaryFlags;
  *isActive = device->primaryRetains > 0 ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice ordinal, unsigned int flags) {
  Device *device = Process::instance().findDevice(ordinal);
  if (device == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  if ((flags & ~kContextFlags) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const std::lock_guard lock(device->mutex);
  device->primaryFlags = flags;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice ordinal, unsigned int flags) {
  return driver::cuDevicePrimaryCtxSetFlags_v2(ordinal, flags);
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice ordinal) {
  return createContext(context, flags, ordinal);
}

CUresult cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *, int affinityCount,
                        unsigned int flags, CUdevice ordinal) {
  return affinityCount == 0 ? createContext(context, flags, ordinal)
                            : CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
}

CUresult cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *parameters, unsigned int flags,
                        CUdevice ordinal) {
  const bool isPlain = parameters == nullptr ||
                       (parameters->numExecAffinityParams == 0 && parameters->cigParams == nullptr);
  return isPlain ? createContext(context, flags, ordinal) : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuCtxDestroy_v2(CUcontext handle) {
  Process &process = Process::instance();
  const std::shared_ptr<Context> context = process.contexts.find(handle);
  if (context == nullptr || handle == context->device.primaryHandle()) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  process.destroyContext(handle);
  std::vector<CUcontext> &stack = Process::thread().contextStack;
  if (!stack.empty() && stack.back() == handle) {
    stack.pop_back();
  }
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  if (!isLive(context)) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  Process::thread().contextStack.push_back(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *context) {
  std::vector<CUcontext> &stack = Process::thread().contextStack;
  if (stack.empty()) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  if (context != nullptr) {
    *context = stack.back();
  }
  stack.pop_back();
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  std::vector<CUcontext> &stack = Process::thread().contextStack;
  if (context != nullptr && !isLive(context)) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  if (!stack.empty()) {
    stack.pop_back();
  }
  if (context != nullptr) {
    stack.push_back(context);
  }
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
  if (context == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const std::vector<CUcontext> &stack = Process::thread().contextStack;
  *context = stack.empty() ? nullptr : stack.back();
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *ordinal) {
  const std::shared_ptr<Context> context = Process::instance().currentContext();
  if (ordinal == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (context == nullptr) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  *ordinal = context->device.ordinal;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned int *flags) {
  const std::shared_ptr<Context> context = Process::instance().currentContext();
  if (flags == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (context == nullptr) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  *flags = context->flags;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext handle, unsigned int *version) {
  if (version == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (handle != nullptr && !isLive(handle)) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  *version = 3020; // of the context interface, unchanged since CUDA 3.2
  return CUDA_SUCCESS;
}

} // namespace driver
} // namespace fp8jit::emulator
