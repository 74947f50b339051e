// The options of cuModuleLoadDataEx and cuLibraryLoadData that ask for a log.
#pragma once

#include <cuda.h>

#include <string_view>

namespace fp8jit::emulator {

/// The program's options, as the driver's interface passes them.
struct JitOptions {
  unsigned count = 0;
  const CUjit_option *options = nullptr;
  void **values = nullptr;
};

/// Fills the program's log buffers: the error log with `errorLog` cut to its size, the information
/// log with nothing; the size options receive the bytes written. Other options have no effect.
void writeLogs(const JitOptions &options, std::string_view errorLog);

} // namespace fp8jit::emulator
