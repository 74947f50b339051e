// A compiled kernel on a device. Main entry: LoadedKernel::load.
#pragma once

#include "runtime/device.h"
#include "runtime/kernel_builder.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>

namespace fp8jit {

/// One entry of a source, ready to launch.
struct LoadedEntry {
  void *kernel = nullptr; ///< CUkernel, good in every context of the device
  unsigned threads = 0;   ///< per block
  unsigned smemBytes = 0; ///< dynamic
};

/// Blocks of each entry, in order.
using EntryGrids = llvm::SmallVector<std::int64_t, 4>;

/// Immutable and thread safe; unloads itself.
class LoadedKernel {
public:
  /// Loads the cubin; where the driver has no binary for its device, the PTX; where the driver is
  /// older than that PTX, the PTX with its version lowered to the driver's. Errors: DriverError
  /// naming both versions, with the driver's log in the details.
  static llvm::Expected<std::shared_ptr<const LoadedKernel>>
  load(std::shared_ptr<Device> device, std::shared_ptr<const BuiltKernel> built, Config config);

  LoadedKernel(const LoadedKernel &) = delete;
  LoadedKernel &operator=(const LoadedKernel &) = delete;
  ~LoadedKernel();

  Device &device() const { return *device_; }
  const BuiltKernel &built() const { return *built_; }
  const Config &config() const { return config_; }
  llvm::ArrayRef<LoadedEntry> entries() const { return entries_; }

  /// Grids for the run-time m of `problem`. Errors: Unsupported beyond 2^31-1 blocks.
  llvm::Expected<EntryGrids> grids(const Problem &problem) const;

  /// Launches all entries in order with `params`, the parameter struct of the source (passed by
  /// address, copied by the driver). Allocates nothing. Errors: DriverError.
  llvm::Error launch(llvm::ArrayRef<std::int64_t> grids, void *params, void *stream) const;

private:
  LoadedKernel(std::shared_ptr<Device> device, std::shared_ptr<const BuiltKernel> built,
               Config config);
  llvm::Error loadAnyForm();
  int tryLoad(const std::string &image, std::string &log);
  int findEntries();

  std::shared_ptr<Device> device_;
  std::shared_ptr<const BuiltKernel> built_;
  Config config_;
  void *library_ = nullptr; ///< CUlibrary
  llvm::SmallVector<LoadedEntry, 4> entries_;
};

/// The newest PTX version that a driver of CUDA `driverVersion` (1000 * major + 10 * minor) reads,
/// as 10 * major + minor. Source: PTX ISA, section "Release Notes", table of PTX and CUDA versions.
int ptxVersionOfDriver(int driverVersion);

/// `ptx` with its .version line lowered to `version` (as above) if it names a newer one.
std::string lowerPtxVersion(llvm::StringRef ptx, int version);

} // namespace fp8jit
