// Stands in for the interpreter until it is part of the build.
#include "emulator/exec/launch.h"

namespace fp8jit::emulator {

LaunchResult runGrid(const LaunchRequest &, GlobalMemory &, const GpuProfile &) {
  return {.fault = Fault::Trap, .report = "the interpreter is not part of this build"};
}

} // namespace fp8jit::emulator
