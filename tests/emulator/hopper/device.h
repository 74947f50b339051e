// One run of a kernel on the emulated H200 through the driver's functions. Main type: Device.
#pragma once

#include "tests/emulator/abi/driver_under_test.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace fp8jit::testing {

/// How asynchronous work completes and warps are ordered in a run.
struct Mode {
  EmulatorAsyncMode async = EmulatorAsyncMode::Lazy;
  std::uint64_t seed = 0; ///< of Random

  /// "lazy", "eager", "random:7".
  std::string name() const;
};

/// Lazy, the seeds 0 to 15, eager.
std::vector<Mode> allModes();

/// What a launch needs besides its arguments.
struct LaunchShape {
  unsigned gridX = 1, gridY = 1, gridZ = 1;
  unsigned block = 128;
  unsigned sharedBytes = 0; ///< dynamic shared memory
  bool isDependent = false; ///< may start before the launch before it has ended
};

/// A matrix [rows, columns] of a global buffer and the boxes that tensor copies take from it.
struct MatrixMap {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  CUdeviceptr address = 0;
  unsigned elementBytes = 4;
  unsigned rows = 1, columns = 1;
  unsigned pitchBytes = 0; ///< between rows; 0: dense
  unsigned boxRows = 1, boxColumns = 1;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
};

/// A context of its own on the H200 with one loaded module; everything is reset at the end, also
/// after a fault. The first call that fails is kept in status(), later ones do nothing. One at a
/// time.
class Device {
public:
  /// Loads `ptx`; `mode` holds for all launches.
  Device(const std::string &ptx, const Mode &mode);
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  /// A buffer with these values; freed at the end.
  template <typename T>
  CUdeviceptr upload(const std::vector<T> &values) {
    return uploadBytes(values.data(), values.size() * sizeof(T));
  }
  /// `count` values of a buffer; zeros after a failure.
  template <typename T>
  std::vector<T> download(CUdeviceptr address, std::size_t count) {
    std::vector<T> values(count);
    downloadBytes(values.data(), address, count * sizeof(T));
    return values;
  }
  CUtensorMap encode(const MatrixMap &matrix);

  /// Launches a kernel and waits for it. Arguments have the kernel's types.
  template <typename... Args>
  void launch(const char *kernel, const LaunchShape &shape, const Args &...args) {
    const void *pointers[] = {&args...};
    launchPointers(kernel, shape, const_cast<void **>(pointers));
  }

  CUresult status() const { return status_; }

private:
  void keep(CUresult result);
  CUdeviceptr uploadBytes(const void *values, std::size_t bytes);
  void downloadBytes(void *values, CUdeviceptr address, std::size_t bytes);
  void launchPointers(const char *kernel, const LaunchShape &shape, void **arguments);

  const DriverFunctions &cu_ = driverFunctions();
  const EmulatorTable &table_ = emulatorTable();
  CUmodule module_ = nullptr;
  CUresult status_ = CUDA_SUCCESS;
};

/// Where `found` first differs from `expected`, as text; empty if nowhere.
template <typename T>
std::string firstDifference(const std::vector<T> &found, const std::vector<T> &expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::memcmp(&found[i], &expected[i], sizeof(T)) != 0) {
      return "element " + std::to_string(i) + ": found " + std::to_string(found[i]) +
             ", expected " + std::to_string(expected[i]);
    }
  }
  return "";
}

} // namespace fp8jit::testing
