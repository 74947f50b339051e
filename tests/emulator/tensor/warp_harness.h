// Puts matrices into the fragment registers of one warp, runs an mma function and reads the result
// back. The layout is written here a second time, per lane, straight from the PTX ISA.
#pragma once

#include "emulator/tensor/mma.h"

#include <array>
#include <cstdint>

namespace fp8jit::emulator::testing {

/// Whether four elements share a register, not two.
bool isFp8(MmaFormat format);

/// One m16n8 problem: operand codes a[row][k], b[column][k], accumulator bits [row][column].
struct WarpProblem {
  std::array<std::array<std::uint16_t, 32>, 16> a{};
  std::array<std::array<std::uint16_t, 32>, 8> b{};
  std::array<std::array<std::uint32_t, 8>, 16> c{};
};

using WarpResult = std::array<std::array<std::uint32_t, 8>, 16>;

/// Runs `function` on `problem`; with `inPlace` D uses the registers of C.
WarpResult runWarp(MmaFunction function, const MmaShape &shape, const WarpProblem &problem,
                   bool inPlace = false);

} // namespace fp8jit::emulator::testing
