// A loaded driver library: the real libcuda or the CUDA driver in software. Main entry:
// Driver::load. States that leave no usable device are NoDevice errors that name reason and remedy.
#pragma once

#include "runtime/driver/driver_api.h"
#include "support/abi/emulator_table.h"

#include <memory>
#include <string>

namespace fp8jit {

/// Immutable after construction, so one may serve many threads. The library is never unloaded:
/// drivers keep threads and exit handlers of their own.
class Driver {
public:
  /// Opens the library `path` ("libcuda.so.1", or a file), resolves the table, initialises it and
  /// finds out whether it is the driver in software. Errors: NoDevice for a missing library, a stub
  /// (34), no device (100) and a driver that does not match the kernel module (803, 804).
  static llvm::Expected<std::shared_ptr<const Driver>> load(const std::string &path);

  /// Takes a table that is already filled (fakes of the tests), and initialises it the same way.
  static llvm::Expected<std::shared_ptr<const Driver>> fromTable(const DriverApi &api,
                                                                 std::string path);

  const DriverApi &api() const { return api_; }
  const std::string &path() const { return path_; }
  /// The CUDA version of the driver, 1000 * major + 10 * minor.
  int version() const { return version_; }
  /// The table of the driver in software; null for a real driver.
  const EmulatorTable *emulator() const { return emulator_; }

private:
  Driver() = default;

  DriverApi api_;
  std::string path_;
  int version_ = 0;
  const EmulatorTable *emulator_ = nullptr;
};

} // namespace fp8jit
