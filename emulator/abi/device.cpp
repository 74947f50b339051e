// Devices: enumeration, names, attributes from the GPU table.
// Source of limits: CUDA programming guide, technical specifications per compute capability.
#include "emulator/abi/process.h"
#include "entry_points.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>

namespace fp8jit::emulator {

static constexpr int kDriverVersion = 13000;

/// The value of a device attribute; nothing for one that this CUDA version does not have.
static std::optional<int> attributeOf(const GpuProfile &gpu, CUdevice_attribute attribute);

namespace driver {

CUresult cuInit(unsigned int flags) {
  if (flags != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Process::instance().isInitialized.store(true, std::memory_order_release);
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version) {
  if (version == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *version = kDriverVersion;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
  if (count == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *count = static_cast<int>(Process::instance().devices.size());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  if (device == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (Process::instance().findDevice(ordinal) == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice ordinal) {
  const Device *device = Process::instance().findDevice(ordinal);
  if (name == nullptr || length <= 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (device == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  std::snprintf(name, static_cast<std::size_t>(length), "%s", device->name.c_str());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice ordinal) {
  const Device *device = Process::instance().findDevice(ordinal);
  if (uuid == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (device == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  std::copy(device->uuid.begin(), device->uuid.end(), std::begin(uuid->bytes));
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice ordinal) {
  return driver::cuDeviceGetUuid_v2(uuid, ordinal);
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice ordinal) {
  const Device *device = Process::instance().findDevice(ordinal);
  if (bytes == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (device == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  *bytes = static_cast<size_t>(device->profile->dramBytes);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice ordinal) {
  const Device *device = Process::instance().findDevice(ordinal);
  if (value == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (device == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  if (attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) {
    *value = device->ordinal + 1;
    return CUDA_SUCCESS;
  }
  const std::optional<int> found = attributeOf(*device->profile, attribute);
  if (!found) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *value = *found;
  return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice ordinal) {
  const Device *device = Process::instance().findDevice(ordinal);
  if (major == nullptr || minor == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (device == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  *major = device->profile->computeMajor;
  *minor = device->profile->computeMinor;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *busId, int length, CUdevice ordinal) {
  if (busId == nullptr || length <= 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (Process::instance().findDevice(ordinal) == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  std::snprintf(busId, static_cast<std::size_t>(length), "0000:%02X:00.0",
                static_cast<unsigned>(ordinal + 1));
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetByPCIBusId(CUdevice *ordinal, const char *busId) {
  if (ordinal == nullptr || busId == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (const Device &device : Process::instance().devices) {
    char own[16] = {};
    driver::cuDeviceGetPCIBusId(own, sizeof own, device.ordinal);
    if (std::strcmp(own, busId) == 0) {
      *ordinal = device.ordinal;
      return CUDA_SUCCESS;
    }
  }
  return CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceCanAccessPeer(int *canAccess, CUdevice ordinal, CUdevice peer) {
  Process &process = Process::instance();
  if (canAccess == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (process.findDevice(ordinal) == nullptr || process.findDevice(peer) == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  *canAccess = 0;
  return CUDA_SUCCESS;
}

} // namespace driver

static std::optional<int> attributeOf(const GpuProfile &gpu, CUdevice_attribute attribute) {
  constexpr int kKilo = 1000;
  switch (static_cast<int>(attribute)) {
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
    return kMaxThreadsPerBlock;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
    return 64;
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
    return 0x7fffffff;
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
    return 65535;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
    return kDefaultSmemPerBlock;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    return gpu.smemPerBlockOptin;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
    return gpu.smemPerSm;
  case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
    return kReservedSmemPerBlock;
  case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
    return 64 * 1024;
  case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
    return 32;
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
    return gpu.regsPerSm;
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
    return gpu.maxThreadsPerSm;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
    return gpu.maxBlocksPerSm;
  case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
    return gpu.clockMhz * kKilo;
  case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
    // Such that clock (kHz) · bus width (bytes) · 2 gives the table's bandwidth.
    return static_cast<int>(gpu.dramBytesPerNs * 1'000'000LL / (2 * gpu.dramBusBits / 8));
  case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
    return gpu.dramBusBits;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    return gpu.smCount;
  case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
    return gpu.l2Bytes;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    return gpu.computeMajor;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    return gpu.computeMinor;
  case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH:
  case CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED:
    return gpu.computeMajor >= 9 ? 1 : 0;
  case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
    return 512;
  case CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT:
    return 32;
  case CU_DEVICE_ATTRIBUTE_MAX_PITCH:
    return 0x7fffffff;
  case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
    return 2;
  case CU_DEVICE_ATTRIBUTE_GPU_OVERLAP:
  case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
  case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
  case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
  case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
  case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
  case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED:
    return 1;
  default:
    // A capability that the emulator lacks, or a property it has none of.
    return attribute > 0 && attribute < CU_DEVICE_ATTRIBUTE_MAX ? std::optional(0) : std::nullopt;
  }
}

} // namespace fp8jit::emulator
