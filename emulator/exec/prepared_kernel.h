// A kernel whose instructions are resolved for execution. Main entry: prepareKernel.
#pragma once

#include "emulator/exec/warp_state.h"
#include "emulator/exec/wgmma_rules.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fp8jit::emulator {

/// The steps of a kernel on one architecture. Immutable, so that concurrent launches share it; it
/// refers to the Kernel, which has to outlive it.
struct PreparedKernel {
  std::vector<Step> steps;             ///< one per instruction, then an Exit
  std::vector<std::uint32_t> operands; ///< Step::operands point into it
  WarpgroupGuards warpgroupGuards;
  std::string problem; ///< why an instruction cannot be executed; else empty
};

/// Resolves the instructions of `kernel` for architecture `arch` ("89"); with `portable`, with the
/// handlers for any x86-64. Thread safe. Keep the result (LaunchRequest::prepared) to launch a
/// kernel repeatedly.
std::shared_ptr<const PreparedKernel> prepareKernel(const Kernel &kernel, std::string_view arch,
                                                    bool portable = false);

} // namespace fp8jit::emulator
