// Which warp of a launch to trace. Main type: WarpTrace; trace.h has what makes the lines.
#pragma once

#include <cstdint>

namespace fp8jit::emulator {

/// A warp, and who gets the lines.
struct WarpTrace {
  void (*sink)(void *user, const char *line) = nullptr; ///< null: nothing is traced
  void *user = nullptr;
  std::uint64_t block = 0; ///< linear index in the grid
  std::uint64_t warp = 0;  ///< rank in the block
};

} // namespace fp8jit::emulator
