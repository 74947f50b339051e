// How many blocks of a kernel fit on one SM: the one place that knows. Main entry: residentBlocks.
// Header only, standard library only, like gpu_profile.h. Source: CUDA programming guide, technical
// specifications per compute capability, and the granularities of the CUDA occupancy calculator.
#pragma once

#include "generator/profiles/gpu_profile.h"

#include <algorithm>
#include <cstdint>

namespace fp8jit {

/// What a block takes of an SM.
struct BlockResources {
  int threads = 0;
  int registersPerThread = 0;   ///< 0: not known, no limit
  std::int64_t sharedBytes = 0; ///< static and dynamic, without what the driver keeps
};

/// Blocks that an SM of `gpu` holds at once; 0 if not even one fits.
///
/// Warps have whole units of 256 registers and are placed four at a time, one per scheduler; shared
/// memory comes in units of 128 bytes, and each block has kReservedSmemPerBlock more.
constexpr int residentBlocks(const GpuProfile &gpu, const BlockResources &block) {
  constexpr int kLanes = 32;
  constexpr int kRegisterUnit = 256;
  constexpr int kSchedulers = 4;
  constexpr std::int64_t kSharedUnit = 128;
  const int warps = std::max((block.threads + kLanes - 1) / kLanes, 1);
  int blocks = std::min(gpu.maxBlocksPerSm, gpu.maxThreadsPerSm / kLanes / warps);
  if (block.registersPerThread > 0) {
    const int perWarp =
        (block.registersPerThread * kLanes + kRegisterUnit - 1) / kRegisterUnit * kRegisterUnit;
    const int warpsThatFit = gpu.regsPerSm / perWarp / kSchedulers * kSchedulers;
    blocks = std::min(blocks, warpsThatFit / warps);
  }
  const std::int64_t shared = block.sharedBytes + kReservedSmemPerBlock;
  const std::int64_t rounded = (shared + kSharedUnit - 1) / kSharedUnit * kSharedUnit;
  return static_cast<int>(std::min<std::int64_t>(blocks, gpu.smemPerSm / rounded));
}

} // namespace fp8jit
