// Limits of a launch that depend on the function: shared memory and occupancy.
#pragma once

#include "emulator/abi/loaded_code.h"
#include "generator/profiles/gpu_profile.h"

namespace fp8jit::emulator {

/// Bytes of dynamic shared memory that a launch may ask for: what the attribute was set to, else
/// 48 KiB less the static part.
int maxDynamicShared(const KernelResources &resources, const FunctionSettings &settings);

/// Blocks of `threads` threads and `dynamicShared` bytes that fit on one SM at a time
/// (residentBlocks of generator/profiles/occupancy.h).
int maxActiveBlocks(const GpuProfile &gpu, const KernelResources &resources, int threads,
                    size_t dynamicShared);

/// Clusters of `clusterBlocks` such blocks that fit on the GPU at a time. A model: each group of
/// GpuProfile::smsPerCluster SMs holds what its blocks' places give; real groups differ in size.
int maxActiveClusters(const GpuProfile &gpu, const KernelResources &resources, int threads,
                      size_t dynamicShared, int clusterBlocks);

} // namespace fp8jit::emulator
