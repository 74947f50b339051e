// The driver's checks before a launch, in its order.
#include "emulator/abi/function_limits.h"
#include "emulator/abi/launch_arguments.h"
#include "emulator/abi/log.h"

#include <algorithm>
#include <string>

namespace fp8jit::emulator {

static bool isWithin(const Dim3 &size, const Dim3 &limit) {
  return volume(size) >= 1 && size.x <= limit.x && size.y <= limit.y && size.z <= limit.z;
}

static bool isSame(const Dim3 &a, const Dim3 &b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

static std::string textOf(const Dim3 &shape) {
  return std::to_string(shape.x) + "x" + std::to_string(shape.y) + "x" + std::to_string(shape.z);
}

/// Says on the log why a launch of `kernel` is refused.
static CUresult refuse(const Kernel &kernel, CUresult result, const std::string &message) {
  logLine("launch of " + kernel.name + ": " + message);
  return result;
}

static CUresult checkBlock(const Kernel &kernel, const KernelResources &resources,
                           const Dim3 &block) {
  const Dim3 required{kernel.requiredThreads[0], kernel.requiredThreads[1],
                      kernel.requiredThreads[2]};
  if (required.x != 0 && !isSame(block, required)) {
    return refuse(kernel, CUDA_ERROR_INVALID_VALUE,
                  "found a block of " + textOf(block) + " threads, expected .reqntid " +
                      textOf(required));
  }
  return volume(block) > resources.maxThreads ? CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES : CUDA_SUCCESS;
}

/// The shape that the kernel's directive or an attribute of the function asks for; zeros: neither.
static Dim3 requiredCluster(const Function &function) {
  const std::uint32_t *directive = function.kernel().requiredCluster;
  if (directive[0] != 0) {
    return {directive[0], directive[1], directive[2]};
  }
  const auto &set = function.settings->requiredCluster;
  return {static_cast<std::uint32_t>(set[0].load()), static_cast<std::uint32_t>(set[1].load()),
          static_cast<std::uint32_t>(set[2].load())};
}

std::optional<Dim3> clusterShape(const Function &function, const std::optional<Dim3> &asked) {
  const Dim3 required = requiredCluster(function);
  if (volume(required) == 0) {
    return asked.value_or(Dim3{});
  }
  return !asked || isSame(*asked, required) ? std::optional(required) : std::nullopt;
}

std::uint32_t maxClusterBlocks(const Function &function, const GpuProfile &gpu) {
  if (gpu.maxClusterBlocks == 0) {
    return 1;
  }
  const bool isRaised = function.settings->allowsNonPortableCluster.load();
  const auto limit =
      static_cast<std::uint32_t>(isRaised ? gpu.maxNonPortableClusterBlocks : gpu.maxClusterBlocks);
  const std::uint32_t ownLimit = function.kernel().maxClusterRank;
  return ownLimit == 0 ? limit : std::min(limit, ownLimit);
}

static CUresult checkCluster(const Function &function, LaunchArguments &launch,
                             const GpuProfile &gpu) {
  const Kernel &kernel = function.kernel();
  const std::optional<Dim3> shape = clusterShape(function, launch.cluster);
  if (!shape) {
    return refuse(kernel, CUDA_ERROR_INVALID_CLUSTER_SIZE,
                  "found clusters of " + textOf(*launch.cluster) +
                      " blocks, expected what the kernel requires");
  }
  const std::uint64_t blocks = volume(*shape);
  const std::string found = "found clusters of " + textOf(*shape) + " blocks, expected ";
  if (kernel.explicitCluster && !launch.cluster && blocks == 1) {
    return refuse(kernel, CUDA_ERROR_INVALID_CLUSTER_SIZE,
                  "found no cluster dimension, expected one (.explicitcluster)");
  }
  const std::uint32_t limit = maxClusterBlocks(function, gpu);
  if (blocks > limit) {
    return refuse(kernel, CUDA_ERROR_INVALID_CLUSTER_SIZE,
                  found + "at most " + std::to_string(limit));
  }
  if (launch.grid.x % shape->x != 0 || launch.grid.y % shape->y != 0 ||
      launch.grid.z % shape->z != 0) {
    return refuse(kernel, CUDA_ERROR_INVALID_CLUSTER_SIZE,
                  found + "a divisor of the grid of " + textOf(launch.grid));
  }
  const auto threads = static_cast<int>(volume(launch.block));
  if (blocks > 1 && maxActiveClusters(gpu, function.resources(), threads, launch.dynamicShared,
                                      static_cast<int>(blocks)) == 0) {
    return refuse(kernel, CUDA_ERROR_INVALID_CLUSTER_SIZE, found + "a size that fits on the GPU");
  }
  launch.isExplicitCluster = launch.cluster.has_value() || volume(requiredCluster(function)) != 0;
  launch.cluster = shape;
  return CUDA_SUCCESS;
}

/// All blocks of a cooperative launch run at the same time.
static CUresult checkCooperative(const Function &function, const LaunchArguments &launch,
                                 const GpuProfile &gpu) {
  const int perSm = maxActiveBlocks(gpu, function.resources(),
                                    static_cast<int>(volume(launch.block)), launch.dynamicShared);
  const auto resident = static_cast<std::uint64_t>(perSm) * static_cast<unsigned>(gpu.smCount);
  return volume(launch.grid) > resident ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE : CUDA_SUCCESS;
}

CUresult resolveLaunch(const Function &function, LaunchArguments &launch, const GpuProfile &gpu) {
  constexpr Dim3 kMaxGrid{0x7fffffff, 65535, 65535};
  constexpr Dim3 kMaxBlock{1024, 1024, 64};
  const KernelResources &resources = function.resources();
  if (!isWithin(launch.grid, kMaxGrid) || !isWithin(launch.block, kMaxBlock) ||
      volume(launch.block) > kMaxThreadsPerBlock) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  CUresult result = checkBlock(function.kernel(), resources, launch.block);
  if (result != CUDA_SUCCESS) {
    return result;
  }
  const auto allowed = static_cast<std::uint32_t>(maxDynamicShared(resources, *function.settings));
  const std::uint64_t shared = std::uint64_t{resources.staticSharedBytes} + launch.dynamicShared;
  if (launch.dynamicShared > allowed ||
      shared > static_cast<std::uint64_t>(gpu.smemPerBlockOptin)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  result = checkCluster(function, launch, gpu);
  if (result == CUDA_SUCCESS && launch.isCooperative) {
    result = checkCooperative(function, launch, gpu);
  }
  return result;
}

} // namespace fp8jit::emulator
