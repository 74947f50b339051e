// What a program asks of one launch, and the driver's checks of it. Main entries: LaunchArguments,
// readConfig, resolveLaunch.
#pragma once

#include "emulator/abi/loaded_code.h"
#include "emulator/exec/launch.h"

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace fp8jit::emulator {

struct Event;

/// The arguments of a launch, whichever entry point they came through.
struct LaunchArguments {
  Dim3 grid, block;
  std::optional<Dim3> cluster = std::nullopt; ///< nothing: the launch does not say
  bool isExplicitCluster = false; ///< filled by resolveLaunch: launch or kernel name a size
  std::uint32_t dynamicShared = 0;
  CUstream stream = nullptr;
  void **parameters = nullptr;
  void **extra = nullptr;
  bool isCooperative = false;
  /// The kernel may start before the one ahead of it in the stream has ended (programmatic stream
  /// serialization).
  bool startsEarly = false;
  std::shared_ptr<Event> event = nullptr; ///< to record with the launch, or null
};

/// Shape, stream and attributes of `config`. Attributes that change nothing here (priorities, cache
/// windows, memory domains, scheduling preferences) are accepted. CUDA_ERROR_INVALID_VALUE for a
/// null list or a bad value, CUDA_ERROR_NOT_SUPPORTED for attributes of graphs.
CUresult readConfig(const CUlaunchConfig &config, LaunchArguments &launch);

/// The driver's checks before a launch of `function`: sizes, shared memory, the kernel's
/// directives, clusters, cooperative residency. Fills launch.cluster with the shape that runs. A
/// refusal that concerns clusters or a directive is said on the log.
CUresult resolveLaunch(const Function &function, LaunchArguments &launch, const GpuProfile &gpu);

/// The shape of the clusters that `function` runs in: what the launch says, else the kernel's
/// directive or attribute, else one block. Nothing if they contradict one another.
std::optional<Dim3> clusterShape(const Function &function, const std::optional<Dim3> &asked);

/// Most blocks that a cluster of `function` may have on `gpu`; 1 without clusters.
std::uint32_t maxClusterBlocks(const Function &function, const GpuProfile &gpu);

inline std::uint64_t volume(const Dim3 &shape) {
  return std::uint64_t{shape.x} * shape.y * shape.z;
}

} // namespace fp8jit::emulator
