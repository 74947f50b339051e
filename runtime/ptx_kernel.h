// A kernel from PTX text that this project did not generate: loaded by name, asked for its
// parameters, launched with bytes. Main type: PtxKernel. No CUDA types, as in device.h.
#pragma once

#include "runtime/device.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fp8jit {

/// x, y, z.
using Extent3 = std::array<unsigned, 3>;

/// Size and resources of one launch.
struct LaunchShape {
  Extent3 grid = {1, 1, 1}, block = {1, 1, 1};
  Extent3 cluster = {0, 0, 0}; ///< zeros: what the kernel itself asks for
  unsigned smemBytes = 0;      ///< dynamic shared memory
};

/// A kernel of a loaded PTX text. Move only.
class PtxKernel {
public:
  /// Loads `ptx` on `device` and finds the kernel `entry`. Errors: DriverError with the driver's
  /// log in the details if the text does not load; NotFound naming the kernels that there are.
  static llvm::Expected<PtxKernel> load(std::shared_ptr<Device> device, llvm::StringRef ptx,
                                        llvm::StringRef entry);
  PtxKernel(PtxKernel &&other) noexcept;
  PtxKernel &operator=(PtxKernel &&) = delete;
  ~PtxKernel();

  /// Bytes of each parameter, in order.
  llvm::ArrayRef<std::size_t> parameterBytes() const { return parameterBytes_; }

  /// Launches with `arguments`, one byte string per parameter with its size, and waits. Allows as
  /// much shared memory and as large clusters as `shape` asks for. Errors: DriverError, with the
  /// emulator's report in the details after a fault.
  llvm::Error launch(const LaunchShape &shape, llvm::ArrayRef<std::vector<std::uint8_t>> arguments);

private:
  PtxKernel() = default;
  llvm::Error findEntry(llvm::StringRef entry);
  std::string kernelNames() const;
  int enqueue(const LaunchShape &shape, llvm::ArrayRef<std::vector<std::uint8_t>> arguments,
              const char *&call);

  std::shared_ptr<Device> device_;
  void *library_ = nullptr; ///< CUlibrary
  void *kernel_ = nullptr;  ///< CUkernel
  std::vector<std::size_t> parameterBytes_;
};

/// A tensor in device memory and the box that one copy moves; dimension 0 is innermost. Numbers of
/// `elementType`, `swizzle` and `fill` are those of CUtensorMapDataType, CUtensorMapSwizzle and
/// CUtensorMapFloatOOBfill.
struct TensorMapSpec {
  void *address = nullptr;
  int elementType = 0, swizzle = 0, fill = 0;
  llvm::SmallVector<std::uint64_t, 5> dims;    ///< elements
  llvm::SmallVector<std::uint64_t, 5> strides; ///< bytes, of dimensions 1 and up
  llvm::SmallVector<std::uint32_t, 5> box;     ///< elements
  llvm::SmallVector<std::uint32_t, 5> elementStrides;
};

/// The 128 bytes that a kernel takes as its tensor map. Errors: DriverError (the emulator says on
/// standard error which field breaks a rule).
llvm::Expected<std::vector<std::uint8_t>> encodeTensorMap(const Device &device,
                                                          const TensorMapSpec &spec);

} // namespace fp8jit
