// Allocation of device and pinned host memory, and questions about pointers.
#include "emulator/abi/process.h"
#include "entry_points.h"

#include <optional>

namespace fp8jit::emulator {
namespace {

/// Where a pointer lies, and in which context.
struct PointerOwner {
  std::shared_ptr<Context> context;
  MemoryRegion region;
};

} // namespace

static std::shared_ptr<Context> current() {
  return Process::instance().currentContext();
}

/// Bytes handed out on `device` by all its contexts.
static std::uint64_t usedBytes(const Device &device) {
  std::uint64_t used = 0;
  for (const std::shared_ptr<Context> &context : Process::instance().contexts.all()) {
    used += &context->device == &device ? context->memory.usedBytes() : 0;
  }
  return used;
}

static std::optional<PointerOwner> findOwner(std::uint64_t address) {
  for (const std::shared_ptr<Context> &context : Process::instance().contexts.all()) {
    if (const std::optional<MemoryRegion> region = context->memory.find(address)) {
      return PointerOwner{context, *region};
    }
  }
  return std::nullopt;
}

static CUresult allocateHost(void **pointer, std::size_t sizeBytes) {
  if (pointer == nullptr || sizeBytes == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const std::uint64_t address = current()->memory.allocate(sizeBytes, AllocationKind::HostVisible);
  *pointer = reinterpret_cast<void *>(address);
  return address == 0 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

/// Frees what begins at `address` if it is of `kind`.
static CUresult releaseOfKind(std::uint64_t address, bool isHost) {
  GlobalMemory &memory = current()->memory;
  const std::optional<MemoryRegion> region = memory.find(address);
  const bool isExpected = region && region->begin == address &&
                          region->kind != AllocationKind::RegisteredHost &&
                          (!isHost || region->kind == AllocationKind::HostVisible);
  return isExpected && memory.release(address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/// One attribute of a pointer, written to `data` in the type that cuda.h documents.
static CUresult writePointerAttribute(void *data, CUpointer_attribute attribute,
                                      std::uint64_t address,
                                      const std::optional<PointerOwner> &owner) {
  const bool isHost = owner && owner->region.kind != AllocationKind::Device;
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT:
    *static_cast<CUcontext *>(data) = owner ? owner->context->handle : nullptr;
    break;
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    *static_cast<unsigned *>(data) =
        !owner ? 0U : static_cast<unsigned>(isHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    break;
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    *static_cast<CUdeviceptr *>(data) = owner ? address : 0;
    break;
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    *static_cast<void **>(data) = isHost ? reinterpret_cast<void *>(address) : nullptr;
    break;
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    *static_cast<unsigned *>(data) = 0;
    break;
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    *static_cast<int *>(data) = owner ? owner->context->device.ordinal : -2;
    break;
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    *static_cast<CUdeviceptr *>(data) = owner ? owner->region.begin : 0;
    break;
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    *static_cast<size_t *>(data) = owner ? owner->region.end - owner->region.begin : 0;
    break;
  case CU_POINTER_ATTRIBUTE_MAPPED:
    *static_cast<unsigned *>(data) = owner ? 1 : 0;
    break;
  default:
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  return CUDA_SUCCESS;
}

namespace driver {

CUresult cuMemGetInfo_v2(size_t *freeBytes, size_t *totalBytes) {
  if (freeBytes == nullptr || totalBytes == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const Device &device = current()->device;
  *totalBytes = static_cast<size_t>(device.profile->dramBytes);
  *freeBytes = *totalBytes - std::min<std::uint64_t>(*totalBytes, usedBytes(device));
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t sizeBytes) {
  if (pointer == nullptr || sizeBytes == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *pointer = current()->memory.allocate(sizeBytes);
  return *pointer == 0 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
  return pointer == 0 ? CUDA_SUCCESS : releaseOfKind(pointer, false);
}

CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t sizeBytes, CUstream stream) {
  if (Process::instance().findStream(current(), stream) == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  return driver::cuMemAlloc_v2(pointer, sizeBytes);
}

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
  if (Process::instance().findStream(current(), stream) == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  return driver::cuMemFree_v2(pointer);
}

CUresult cuMemAllocManaged(CUdeviceptr *pointer, size_t sizeBytes, unsigned int flags) {
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  void *address = nullptr;
  const CUresult result = allocateHost(&address, pointer == nullptr ? 0 : sizeBytes);
  if (result == CUDA_SUCCESS) {
    *pointer = reinterpret_cast<CUdeviceptr>(address);
  }
  return result;
}

CUresult cuMemAllocHost_v2(void **pointer, size_t sizeBytes) {
  return allocateHost(pointer, sizeBytes);
}

CUresult cuMemHostAlloc(void **pointer, size_t sizeBytes, unsigned int flags) {
  constexpr unsigned kKnownFlags =
      CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
  return (flags & ~kKnownFlags) != 0 ? CUDA_ERROR_INVALID_VALUE : allocateHost(pointer, sizeBytes);
}

CUresult cuMemFreeHost(void *pointer) {
  return releaseOfKind(reinterpret_cast<std::uint64_t>(pointer), true);
}

CUresult cuMemHostRegister_v2(void *pointer, size_t sizeBytes, unsigned int) {
  if (pointer == nullptr || sizeBytes == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return current()->memory.registerHost(pointer, sizeBytes)
             ? CUDA_SUCCESS
             : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
}

CUresult cuMemHostUnregister(void *pointer) {
  return current()->memory.unregisterHost(pointer) ? CUDA_SUCCESS
                                                   : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *device, void *host, unsigned int flags) {
  const auto address = reinterpret_cast<std::uint64_t>(host);
  const std::optional<MemoryRegion> region = current()->memory.find(address);
  if (device == nullptr || flags != 0 || !region || region->kind == AllocationKind::Device) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *device = address;
  return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *sizeBytes, CUdeviceptr pointer) {
  const std::optional<MemoryRegion> region = current()->memory.find(pointer);
  if (!region) {
    return CUDA_ERROR_NOT_FOUND;
  }
  if (base != nullptr) {
    *base = region->begin;
  }
  if (sizeBytes != nullptr) {
    *sizeBytes = region->end - region->begin;
  }
  return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr pointer) {
  const std::optional<PointerOwner> owner = findOwner(pointer);
  if (data == nullptr || !owner) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return writePointerAttribute(data, attribute, pointer, owner);
}

CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute *attributes, void **data,
                                CUdeviceptr pointer) {
  if (count == 0 || attributes == nullptr || data == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  // Unlike the singular form, a pointer unknown to the driver is answered with empty values.
  const std::optional<PointerOwner> owner = findOwner(pointer);
  for (unsigned i = 0; i < count; ++i) {
    const CUresult result = data[i] == nullptr
                                ? CUDA_ERROR_INVALID_VALUE
                                : writePointerAttribute(data[i], attributes[i], pointer, owner);
    if (result != CUDA_SUCCESS) {
      return result;
    }
  }
  return CUDA_SUCCESS;
}

} // namespace driver
} // namespace fp8jit::emulator
