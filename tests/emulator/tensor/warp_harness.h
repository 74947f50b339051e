// Puts matrices into the fragment registers of one warp, runs an mma or wgmma function and reads
// the result back. The layout is written here a second time, per lane, straight from the PTX ISA.
#pragma once

#include "emulator/tensor/mma.h"

#include <array>
#include <cstdint>
#include <vector>

namespace fp8jit::emulator::testing {

/// One m16n8 problem: operand codes a[row][k], b[column][k], accumulator bits [row][column].
struct WarpProblem {
  std::array<std::array<std::uint32_t, 32>, 16> a{};
  std::array<std::array<std::uint32_t, 32>, 8> b{};
  std::array<std::array<std::uint32_t, 8>, 16> c{};
};

using WarpResult = std::array<std::array<std::uint32_t, 8>, 16>;

/// Runs `function` on `problem`; with `inPlace` D uses the registers of C.
WarpResult runWarp(MmaFunction function, const MmaShape &shape, const WarpProblem &problem,
                   bool inPlace = false);

/// Runs a warp's part of wgmma: the rows of the first problem, eight columns of each problem.
std::vector<WarpResult> runWarpgroupWarp(WgmmaFunction function, const MmaShape &shape,
                                         const std::vector<WarpProblem> &columns,
                                         bool accumulate = true);

} // namespace fp8jit::emulator::testing
