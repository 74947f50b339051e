// What the instructions of a launch refer to. Main types: LaunchPlan, which is constant while the
// launch runs and shared by all host threads, and LaunchContext, which belongs to one cluster.
#pragma once

#include "emulator/exec/findings.h"
#include "emulator/exec/prepared_kernel.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace fp8jit::emulator {

/// Counters that instructions add to while they run; the rest follows from execution counts.
struct MemoryCounters {
  std::uint64_t loadSectors = 0, storeSectors = 0;
  std::uint64_t sharedWavefronts = 0, sharedBankConflicts = 0;
  std::uint64_t barrierWaits = 0;
  std::uint64_t bulkLoadBytes = 0, bulkStoreBytes = 0; ///< of bulk and tensor copies

  MemoryCounters &operator+=(const MemoryCounters &other);
};

/// Generic addresses of shared, local and parameter memory are their offset plus a window base that
/// no host address reaches. The offset of shared memory is its 32-bit address, block rank included.
inline constexpr std::uint64_t kSharedWindow = 0x0100'0000'0000'0000ULL;
inline constexpr std::uint64_t kLocalWindow = 0x0200'0000'0000'0000ULL;
inline constexpr std::uint64_t kParamWindow = 0x0300'0000'0000'0000ULL;
inline constexpr std::uint64_t kWindowMask = 0xff00'0000'0000'0000ULL;

/// Constant for a launch. Read by all its host threads.
struct LaunchPlan {
  const LaunchRequest &request;
  const Kernel &kernel;
  GlobalMemory &memory;
  const GpuProfile &profile;
  std::shared_ptr<const PreparedKernel> prepared;
  Dim3 clusterGrid;                     ///< clusters of the grid
  std::uint32_t clusterSize = 1;        ///< blocks of a cluster
  std::uint32_t sharedBytes = 0;        ///< static and dynamic shared memory of a block
  std::uint32_t sharedOffset = 0;       ///< of its first byte in the block's window
  std::uint32_t localStride = 0;        ///< bytes from one lane's local memory to the next lane's
  std::uint32_t registersPerThread = 0; ///< at launch; what setmaxnreg starts from
  std::uint32_t smCount = 1;            ///< of the GPU profile

  LaunchPlan(const LaunchRequest &launch, GlobalMemory &globalMemory, const GpuProfile &gpu);

  /// Clusters of the grid.
  std::uint64_t countClusters() const {
    return std::uint64_t{clusterGrid.x} * clusterGrid.y * clusterGrid.z;
  }
};

/// What the running cluster counts and finds. One thread at a time.
struct LaunchContext {
  const LaunchPlan &plan;
  const LaunchRequest &request; ///< of the plan, as the next four are
  const Kernel &kernel;
  GlobalMemory &memory;
  const std::vector<Step> &steps; ///< one per instruction, then an Exit
  const std::uint32_t localStride;
  Findings findings;
  /// How often a pc is issued more than the one before it: a straight run adds 1 where it begins
  /// and -1 behind its end. Sums from 0 on are execution counts.
  std::vector<std::int64_t> countChanges;
  MemoryCounters counters;
  const bool watchesGlobal;             ///< accesses of global memory go through watchGlobal
  ByteRanges writes;                    ///< where request.recordsWrites
  std::vector<std::uint8_t> parameters; ///< the parameter block
  std::uint64_t budget = 0;             ///< warp instructions that the cluster may still execute
  std::uint64_t clockTicks = 0; ///< what %clock reads: warp instructions of the cluster so far

  explicit LaunchContext(const LaunchPlan &launchPlan);
};

} // namespace fp8jit::emulator
