// What follows from a launch request once and for all.
#include "emulator/exec/launch_context.h"

#include "emulator/exec/shared_memory.h"

#include <algorithm>

namespace fp8jit::emulator {

static constexpr std::uint32_t kLocalAlignment = 16; // of the widest access

MemoryCounters &MemoryCounters::operator+=(const MemoryCounters &other) {
  loadSectors += other.loadSectors;
  storeSectors += other.storeSectors;
  sharedWavefronts += other.sharedWavefronts;
  sharedBankConflicts += other.sharedBankConflicts;
  barrierWaits += other.barrierWaits;
  bulkLoadBytes += other.bulkLoadBytes;
  bulkStoreBytes += other.bulkStoreBytes;
  return *this;
}

/// Static, alignment and dynamic shared memory of a block.
static std::uint32_t sharedBytesOf(const LaunchRequest &request) {
  const Kernel &kernel = *request.kernel;
  return request.dynamicSharedBytes == 0
             ? std::max(kernel.staticSharedBytes, kernel.dynamicSharedOffset)
             : kernel.dynamicSharedOffset + request.dynamicSharedBytes;
}

/// What ptxas gives a thread where the launch does not say: .maxnreg, or what fits the register
/// file of one SM, a multiple of 8 and at most 255 (CUDA programming guide, "Compute
/// Capabilities").
static std::uint32_t registersOf(const LaunchRequest &request, const GpuProfile &profile) {
  if (request.registersPerThread != 0) {
    return request.registersPerThread;
  }
  if (request.kernel->maxRegisters != 0) {
    return request.kernel->maxRegisters;
  }
  const std::uint32_t threads =
      std::max(request.block.x * request.block.y * request.block.z, std::uint32_t{1});
  const std::uint32_t fitting = static_cast<std::uint32_t>(profile.regsPerSm) / threads / 8 * 8;
  return std::min(fitting, std::uint32_t{255});
}

LaunchPlan::LaunchPlan(const LaunchRequest &launch, GlobalMemory &globalMemory,
                       const GpuProfile &gpu)
    : request(launch), kernel(*launch.kernel), memory(globalMemory), profile(gpu) {
  const auto divide = [](std::uint32_t blocks, std::uint32_t width) {
    return blocks / std::max(width, std::uint32_t{1});
  };
  clusterGrid = {.x = divide(launch.grid.x, launch.cluster.x),
                 .y = divide(launch.grid.y, launch.cluster.y),
                 .z = divide(launch.grid.z, launch.cluster.z)};
  clusterSize = launch.cluster.x * launch.cluster.y * launch.cluster.z;
  sharedBytes = sharedBytesOf(launch);
  sharedOffset = gpu.computeMajor >= 9 ? SharedMemory::kReservedBytes : 0;
  localStride = (kernel.localBytes + kLocalAlignment - 1) / kLocalAlignment * kLocalAlignment;
  registersPerThread = registersOf(launch, gpu);
  smCount = static_cast<std::uint32_t>(std::max(gpu.smCount, 1));
  prepared = launch.prepared != nullptr ? launch.prepared
                                        : prepareKernel(kernel, gpu.arch, launch.portableHandlers);
}

LaunchContext::LaunchContext(const LaunchPlan &launchPlan)
    : plan(launchPlan), request(launchPlan.request), kernel(launchPlan.kernel),
      memory(launchPlan.memory), steps(launchPlan.prepared->steps),
      localStride(launchPlan.localStride), findings(launchPlan.request),
      countChanges(launchPlan.prepared->steps.size() + 1, 0),
      watchesGlobal(launchPlan.request.recordsWrites ||
                    launchPlan.request.earlierWrites != nullptr),
      parameters(launchPlan.request.params) {}

} // namespace fp8jit::emulator
