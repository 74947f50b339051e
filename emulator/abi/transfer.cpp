// Copies and fills. The work is done when the call returns; the stream's modelled clock advances.
#include "emulator/abi/process.h"
#include "entry_points.h"

#include <cstring>

namespace fp8jit::emulator {
namespace {

/// Where the time of a transfer goes.
enum class Link { Dram, Host };

} // namespace

/// Bytes per nanosecond of a copy from or to the host: PCI Express 4.0 with 16 lanes, 31.5 GB/s
/// raw, of which about 25 remain.
static constexpr double kHostBytesPerNs = 25.0;

static bool isDeviceAddress(const Context &context, CUdeviceptr pointer) {
  return context.memory.find(pointer).has_value();
}

/// Runs `transfer(memory)` in order on `handle`, charging `sizeBytes` over `link`. The transfer
/// answers whether its device ranges were valid.
template <typename Transfer>
static CUresult onStream(CUstream handle, Link link, double sizeBytes, const Transfer &transfer) {
  Process &process = Process::instance();
  const std::shared_ptr<Context> context = process.currentContext();
  const std::shared_ptr<Stream> stream = process.findStream(context, handle);
  if (stream == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  const std::lock_guard lock(stream->mutex);
  if (!transfer(context->memory)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const double bytesPerNs = link == Link::Host
                                ? kHostBytesPerNs
                                : static_cast<double>(context->device.profile->dramBytesPerNs);
  advanceClock(*context, *stream, sizeBytes / bytesPerNs);
  return CUDA_SUCCESS;
}

static CUresult copyToDevice(CUdeviceptr destination, const void *source, size_t sizeBytes,
                             CUstream stream) {
  if (sizeBytes != 0 && source == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return onStream(stream, Link::Host, static_cast<double>(sizeBytes), [&](GlobalMemory &memory) {
    return sizeBytes == 0 || memory.copyIn(destination, source, sizeBytes);
  });
}

static CUresult copyToHost(void *destination, CUdeviceptr source, size_t sizeBytes,
                           CUstream stream) {
  if (sizeBytes != 0 && destination == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return onStream(stream, Link::Host, static_cast<double>(sizeBytes), [&](GlobalMemory &memory) {
    return sizeBytes == 0 || memory.copyOut(destination, source, sizeBytes);
  });
}

static CUresult copyOnDevice(CUdeviceptr destination, CUdeviceptr source, size_t sizeBytes,
                             CUstream stream) {
  // Every byte is read once and written once.
  return onStream(stream, Link::Dram, 2.0 * static_cast<double>(sizeBytes),
                  [&](GlobalMemory &memory) {
                    return sizeBytes == 0 || memory.copyWithin(destination, source, sizeBytes);
                  });
}

/// Copies between unified addresses: each side is a device range if the driver knows it.
static CUresult copyUnified(CUdeviceptr destination, CUdeviceptr source, size_t sizeBytes,
                            CUstream stream) {
  const std::shared_ptr<Context> context = Process::instance().currentContext();
  const bool toDevice = isDeviceAddress(*context, destination);
  const bool fromDevice = isDeviceAddress(*context, source);
  if (toDevice && fromDevice) {
    return copyOnDevice(destination, source, sizeBytes, stream);
  }
  if (toDevice) {
    return copyToDevice(destination, reinterpret_cast<const void *>(source), sizeBytes, stream);
  }
  if (fromDevice) {
    return copyToHost(reinterpret_cast<void *>(destination), source, sizeBytes, stream);
  }
  return CUDA_ERROR_INVALID_VALUE;
}

static CUresult fill(CUdeviceptr destination, std::uint32_t value, unsigned elementBytes,
                     size_t count, CUstream stream) {
  if (destination % elementBytes != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return onStream(stream, Link::Dram, static_cast<double>(count) * elementBytes,
                  [&](GlobalMemory &memory) {
                    return count == 0 || memory.fill(destination, value, elementBytes, count);
                  });
}

namespace driver {

CUresult cuMemcpyHtoD_v2(CUdeviceptr destination, const void *source, size_t sizeBytes) {
  return copyToDevice(destination, source, sizeBytes, nullptr);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr destination, const void *source, size_t sizeBytes,
                              CUstream stream) {
  return copyToDevice(destination, source, sizeBytes, stream);
}

CUresult cuMemcpyDtoH_v2(void *destination, CUdeviceptr source, size_t sizeBytes) {
  return copyToHost(destination, source, sizeBytes, nullptr);
}

CUresult cuMemcpyDtoHAsync_v2(void *destination, CUdeviceptr source, size_t sizeBytes,
                              CUstream stream) {
  return copyToHost(destination, source, sizeBytes, stream);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr destination, CUdeviceptr source, size_t sizeBytes) {
  return copyOnDevice(destination, source, sizeBytes, nullptr);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr destination, CUdeviceptr source, size_t sizeBytes,
                              CUstream stream) {
  return copyOnDevice(destination, source, sizeBytes, stream);
}

CUresult cuMemcpy(CUdeviceptr destination, CUdeviceptr source, size_t sizeBytes) {
  return copyUnified(destination, source, sizeBytes, nullptr);
}

CUresult cuMemcpyAsync(CUdeviceptr destination, CUdeviceptr source, size_t sizeBytes,
                       CUstream stream) {
  return copyUnified(destination, source, sizeBytes, stream);
}

CUresult cuMemsetD8_v2(CUdeviceptr destination, unsigned char value, size_t count) {
  return fill(destination, value, 1, count, nullptr);
}

CUresult cuMemsetD16_v2(CUdeviceptr destination, unsigned short value, size_t count) {
  return fill(destination, value, 2, count, nullptr);
}

CUresult cuMemsetD32_v2(CUdeviceptr destination, unsigned int value, size_t count) {
  return fill(destination, value, 4, count, nullptr);
}

CUresult cuMemsetD8Async(CUdeviceptr destination, unsigned char value, size_t count,
                         CUstream stream) {
  return fill(destination, value, 1, count, stream);
}

CUresult cuMemsetD16Async(CUdeviceptr destination, unsigned short value, size_t count,
                          CUstream stream) {
  return fill(destination, value, 2, count, stream);
}

CUresult cuMemsetD32Async(CUdeviceptr destination, unsigned int value, size_t count,
                          CUstream stream) {
  return fill(destination, value, 4, count, stream);
}

} // namespace driver
} // namespace fp8jit::emulator
