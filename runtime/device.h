// One GPU, real or emulated: its properties, memory, streams and events. Main entries:
// Device::open, listDevices. No CUDA types here, so that tuner and command need no CUDA header.
#pragma once

#include "generator/profiles/gpu_profile.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fp8jit {

class Device;
class Driver;
struct EmulatorTable;

/// Device memory that frees itself. Move only.
class DeviceBuffer {
public:
  DeviceBuffer() = default;
  DeviceBuffer(DeviceBuffer &&other) noexcept;
  DeviceBuffer &operator=(DeviceBuffer &&other) noexcept;
  ~DeviceBuffer();

  /// Address on the device; null for an empty buffer.
  void *data() const { return reinterpret_cast<void *>(address_); } // NOLINT: from the driver
  std::size_t sizeBytes() const { return sizeBytes_; }

private:
  friend class Device;
  std::shared_ptr<Device> device_;
  std::uintptr_t address_ = 0;
  std::size_t sizeBytes_ = 0;
};

/// A stream of its own, not synchronising with the default stream. Move only.
class DeviceStream {
public:
  DeviceStream() = default;
  DeviceStream(DeviceStream &&other) noexcept;
  DeviceStream &operator=(DeviceStream &&other) noexcept;
  ~DeviceStream();

  /// The CUstream, as Engine::gemm takes it.
  void *handle() const { return handle_; }
  /// Waits for all enqueued work. Errors: DriverError with the emulator's report in the details.
  llvm::Error synchronize() const;

private:
  friend class Device;
  std::shared_ptr<Device> device_;
  void *handle_ = nullptr;
};

/// A point in a stream, for timing. Move only.
class DeviceEvent {
public:
  DeviceEvent() = default;
  DeviceEvent(DeviceEvent &&other) noexcept;
  DeviceEvent &operator=(DeviceEvent &&other) noexcept;
  ~DeviceEvent();

  /// Enqueues the event on `stream` (a CUstream). Errors: DriverError.
  llvm::Error record(void *stream) const;
  /// Waits for this event, then tells the nanoseconds since `start`. On an emulated device the time
  /// is modelled, never measured. Errors: DriverError.
  llvm::Expected<double> elapsedNsSince(const DeviceEvent &start) const;

private:
  friend class Device;
  std::shared_ptr<Device> device_;
  void *handle_ = nullptr;
};

/// Where driver libraries are looked for.
struct DeviceSearch {
  std::string cudaLibrary = "libcuda.so.1";
  /// Empty: FP8JIT_EMULATOR, else libfp8jit-emulator.so beside this code or in ../lib from it.
  std::string emulatorLibrary;
};

/// A row of `fp8jit devices`.
struct DeviceListing {
  std::string name;       ///< "cuda:0", "emulator:sm_89", or "cuda", "emulator" if there is none
  std::string deviceName; ///< as the driver says; empty if not available
  std::string arch;       ///< "sm_89"; empty if not available
  bool isAvailable = false;
  bool isEmulated = false;
  std::string reason; ///< why not, and the remedy; empty if available
};

/// Everything that can run here, and what cannot with its reason. Never fails.
std::vector<DeviceListing> listDevices(const DeviceSearch &search = {});

/// Thread safe. Keeps the device's primary context while it lives. Each operation makes that
/// context current in the calling thread if the thread has none.
class Device : public std::enable_shared_from_this<Device> {
public:
  /// Opens "cuda:0", "emulator:sm_89", or with an empty name the first CUDA GPU. The emulator is
  /// set to strict mode. Errors: NoDevice with reason and remedy.
  static llvm::Expected<std::shared_ptr<Device>> open(llvm::StringRef name,
                                                      const DeviceSearch &search = {});
  /// Opens device `ordinal` of a driver at hand under the name `name`. Errors: NoDevice,
  /// DriverError.
  static llvm::Expected<std::shared_ptr<Device>> onDriver(std::shared_ptr<const Driver> driver,
                                                          int ordinal, std::string name);
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;
  ~Device();

  /// As opened: "emulator:sm_89".
  const std::string &name() const { return name_; }
  /// As the driver names it: "NVIDIA L40S (emulated)".
  const std::string &deviceName() const { return deviceName_; }
  /// "sm_89".
  const std::string &arch() const { return arch_; }
  /// What rules and estimates need: the table's row of this GPU with the driver's own figures put
  /// in; for a GPU that the table does not know, a row of its generation scaled to it.
  const GpuProfile &profile() const { return profile_; }
  bool isEmulated() const { return emulator() != nullptr; }
  /// The export table of the driver in software; null on a real device.
  const EmulatorTable *emulator() const;
  /// What distinguishes this device for winners: name, arch, visible SMs, L2, shared memory, and
  /// whether it is emulated. Canonical text.
  const std::string &targetText() const { return targetText_; }
  const Driver &driver() const { return *driver_; }
  /// The CUdevice.
  int handle() const { return handle_; }

  /// Uninitialised memory, aligned to 256 bytes; 0 bytes give an empty buffer. Errors: DriverError.
  llvm::Expected<DeviceBuffer> allocate(std::size_t sizeBytes);
  /// Synchronous copies; 0 bytes are allowed. Errors: DriverError.
  llvm::Error copyToDevice(void *target, const void *source, std::size_t sizeBytes);
  llvm::Error copyToHost(void *target, const void *source, std::size_t sizeBytes);
  /// Waits for all work of the context. Errors: DriverError.
  llvm::Error synchronize();
  llvm::Expected<DeviceStream> createStream();
  llvm::Expected<DeviceEvent> createEvent();

  /// Makes a context of this device current in the calling thread: the caller's if there is one,
  /// else the primary one. Returns a context to be restored by leaveContext, or null. Lock-free.
  llvm::Expected<void *> enterContext() const;
  void leaveContext(void *toRestore) const;

  /// The DriverError for `result` (a CUresult) of `call`: the driver's texts, what to do, and after
  /// a fault the emulator's report in the details.
  llvm::Error driverFailure(const char *call, int result) const;

private:
  friend class DeviceBuffer;
  friend class DeviceStream;
  friend class DeviceEvent;
  Device() = default;
  llvm::Error readProperties();

  std::shared_ptr<const Driver> driver_;
  std::string name_, deviceName_, arch_, targetText_;
  GpuProfile profile_;
  int handle_ = 0;                 ///< CUdevice
  void *primaryContext_ = nullptr; ///< CUcontext, retained
};

} // namespace fp8jit
