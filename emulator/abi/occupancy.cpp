// How many blocks of a kernel fit on one SM.
#include "generator/profiles/occupancy.h"

#include "emulator/abi/function_limits.h"
#include "emulator/abi/launch_arguments.h"
#include "emulator/abi/process.h"
#include "entry_points.h"

namespace fp8jit::emulator {

int maxActiveBlocks(const GpuProfile &gpu, const KernelResources &resources, int threads,
                    size_t dynamicShared) {
  const bool isKnown = resources.isRegisterCountKnown;
  return residentBlocks(gpu,
                        {.threads = threads,
                         .registersPerThread = isKnown ? static_cast<int>(resources.registers) : 0,
                         .sharedBytes = static_cast<std::int64_t>(resources.staticSharedBytes) +
                                        static_cast<std::int64_t>(dynamicShared)});
}

int maxActiveClusters(const GpuProfile &gpu, const KernelResources &resources, int threads,
                      size_t dynamicShared, int clusterBlocks) {
  const int blocks = maxActiveBlocks(gpu, resources, threads, dynamicShared);
  if (gpu.smsPerCluster == 0 || clusterBlocks == 1) {
    return clusterBlocks == 1 ? blocks * gpu.smCount : 0;
  }
  const int whole = gpu.smCount / gpu.smsPerCluster;
  const int rest = gpu.smCount % gpu.smsPerCluster;
  return whole * (blocks * gpu.smsPerCluster / clusterBlocks) + blocks * rest / clusterBlocks;
}

/// Runs `use(function, launch)` on a function and a configuration whose block is possible.
template <typename Use>
static CUresult withConfig(CUfunction handle, const CUlaunchConfig *config, const int *answer,
                           const Use &use) {
  if (config == nullptr || answer == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  CUresult status = CUDA_SUCCESS;
  const std::shared_ptr<Function> function =
      findFunction(Process::instance().currentContext(), handle, status);
  if (function == nullptr) {
    return status;
  }
  LaunchArguments launch;
  status = readConfig(*config, launch);
  const std::uint64_t threads = volume(launch.block);
  if (status == CUDA_SUCCESS && (threads == 0 || threads > kMaxThreadsPerBlock)) {
    status = CUDA_ERROR_INVALID_VALUE;
  }
  return status == CUDA_SUCCESS ? use(*function, launch) : status;
}

/// Clusters of `blocks` blocks of the launch that fit at a time; 0 if the block itself does not.
static int clustersThatFit(const Function &function, const LaunchArguments &launch, int blocks) {
  const auto threads = static_cast<int>(volume(launch.block));
  return static_cast<unsigned>(threads) > function.resources().maxThreads
             ? 0
             : maxActiveClusters(*function.module->context->device.profile, function.resources(),
                                 threads, launch.dynamicShared, blocks);
}

namespace driver {

CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction handle,
                                      const CUlaunchConfig *config) {
  return withConfig(
      handle, config, clusters, [&](const Function &function, const LaunchArguments &launch) {
        const std::optional<Dim3> shape = clusterShape(function, launch.cluster);
        const GpuProfile &gpu = *function.module->context->device.profile;
        if (!shape || volume(*shape) > maxClusterBlocks(function, gpu)) {
          return CUDA_ERROR_INVALID_CLUSTER_SIZE;
        }
        *clusters = clustersThatFit(function, launch, static_cast<int>(volume(*shape)));
        return CUDA_SUCCESS;
      });
}

CUresult cuOccupancyMaxPotentialClusterSize(int *clusterSize, CUfunction handle,
                                            const CUlaunchConfig *config) {
  return withConfig(handle, config, clusterSize,
                    [&](const Function &function, const LaunchArguments &launch) {
                      const GpuProfile &gpu = *function.module->context->device.profile;
                      int size = static_cast<int>(maxClusterBlocks(function, gpu));
                      while (size > 0 && clustersThatFit(function, launch, size) == 0) {
                        --size;
                      }
                      *clusterSize = size;
                      return CUDA_SUCCESS;
                    });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction handle,
                                                              int threads, size_t dynamicShared,
                                                              unsigned int flags) {
  if (blocks == nullptr || threads <= 0 || threads > kMaxThreadsPerBlock ||
      (flags & ~unsigned{CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE}) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  CUresult status = CUDA_SUCCESS;
  const std::shared_ptr<Function> function =
      findFunction(Process::instance().currentContext(), handle, status);
  if (function == nullptr) {
    return status;
  }
  const GpuProfile &gpu = *function->module->context->device.profile;
  *blocks = static_cast<unsigned>(threads) > function->resources().maxThreads
                ? 0
                : maxActiveBlocks(gpu, function->resources(), threads, dynamicShared);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     size_t dynamicShared) {
  return driver::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads,
                                                                      dynamicShared, 0);
}

} // namespace driver
} // namespace fp8jit::emulator
