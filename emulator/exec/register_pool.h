// The registers that setmaxnreg moves between the warps of a block. Main type: RegisterPool.
#pragma once

#include <cstdint>

namespace fp8jit::emulator {

/// Registers of a block that no warp owns (PTX ISA, "setmaxnreg"). At launch there are none: the
/// block was given threads x registers per thread.
struct RegisterPool {
  std::uint32_t available = 0;
  std::uint32_t total = 0; ///< what the launch allocated
};

} // namespace fp8jit::emulator
