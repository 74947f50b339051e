// Running a prepared kernel and timing it by events. Main entry: runTimed.
#pragma once

#include "fp8jit/engine.h"
#include "runtime/device.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"

namespace fp8jit {

/// Runs `launch` on a stream of its own, waits, and tells the nanoseconds of one launch: on an
/// emulated device the modelled time of the only launch, on a real one the mean of a batch after a
/// first launch that warms up. `launch` must give the same result each time. Errors: those of
/// `launch`; DriverError.
llvm::Expected<double> runTimed(Device &device, llvm::function_ref<Result<void>(Stream)> launch);

} // namespace fp8jit
