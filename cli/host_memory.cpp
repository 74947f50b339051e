#include "cli/host_memory.h"

#include "support/error.h"

#include "llvm/Support/FormatVariadic.h"

#include <unistd.h>

namespace fp8jit {

llvm::Error checkHostMemory(double neededBytes) {
  constexpr double kGibibyte = 1024.0 * 1024 * 1024;
  const double machineBytes =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (machineBytes <= 0 || neededBytes <= machineBytes) {
    return llvm::Error::success();
  }
  return fail(ErrorCode::InvalidArgument,
              llvm::formatv("problem: its arrays need {0:F1} GiB of host memory, found {1:F1} GiB "
                            "on this machine",
                            neededBytes / kGibibyte, machineBytes / kGibibyte));
}

} // namespace fp8jit
