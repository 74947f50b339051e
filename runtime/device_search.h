// Names of devices and where their driver libraries are. Main entries: parseDeviceName,
// emulatorLibraryPath, findOrdinal.
#pragma once

#include "runtime/device.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace fp8jit {

/// "cuda:0" or "emulator:sm_89", taken apart.
struct DeviceName {
  std::string text; ///< canonical
  bool isEmulator = false;
  int ordinal = 0;  ///< of a CUDA device
  std::string arch; ///< of an emulated one, "sm_89"
};

/// Reads a device name; empty means "cuda:0". Errors: NoDevice naming the forms that exist.
llvm::Expected<DeviceName> parseDeviceName(llvm::StringRef name);

/// NVRTC's target for a compute capability, "89" or "90a": the architecture-specific one from
/// Hopper on, because the tensor-core instructions of those generations exist only there.
std::string archOf(int major, int minor);

/// The library of the emulator: the one of `search`, else FP8JIT_EMULATOR, else
/// libfp8jit-emulator.so in the folder of this code (executable or shared library) or in ../lib
/// from it; if there is none, the last of these places, so that the load error names it.
std::string emulatorLibraryPath(const DeviceSearch &search);

/// The driver's ordinal of a device. Errors: NoDevice listing what the driver has, also when a
/// CUDA device is asked of the driver in software.
llvm::Expected<int> findOrdinal(const Driver &driver, const DeviceName &name);

} // namespace fp8jit
