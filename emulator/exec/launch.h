// Executing a decoded kernel. Main entry: runGrid.
#pragma once

#include "emulator/exec/byte_ranges.h"
#include "emulator/exec/warp_trace.h"
#include "emulator/ptx/program.h"
#include "generator/profiles/gpu_profile.h"
#include "support/abi/emulator_table.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fp8jit::emulator {

class GlobalMemory; // emulator/exec/global_memory.h

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
};

/// Whether accesses of shared memory are checked for races (race_checker.h).
enum class RaceChecks : std::uint8_t {
  Default, ///< in Strict mode
  On,
  Off,
};

/// When asynchronous operations (cp.async, bulk and tensor copies, st.async, wgmma) complete.
enum class AsyncMode : std::uint8_t {
  Eager,  ///< when they are issued
  Lazy,   ///< as late as PTX allows: at the wait that needs them
  Random, ///< at random times and in random order; warps run in random order as well
};

struct PreparedKernel; // emulator/exec/prepared_kernel.h

struct LaunchRequest {
  const Module *module = nullptr;
  const Kernel *kernel = nullptr;
  Dim3 grid, block;
  Dim3 cluster;                   ///< blocks of a cluster; divides the grid
  bool isExplicitCluster = false; ///< the launch or the kernel named a cluster size
  std::uint32_t dynamicSharedBytes = 0;
  std::vector<std::uint8_t> params;           ///< kernel->paramBytes bytes
  std::vector<std::uint64_t> globalAddresses; ///< device address of each of module->globals
  std::uint32_t registersPerThread = 0;       ///< for the occupancy of the model; 0: assume 128
  std::uint64_t blockSample = 0; ///< 0: every block; else at most so many, spread over the grid
  EmulatorStrictness strictness = EmulatorStrictness::Strict;
  std::uint64_t instructionBudget = 0; ///< warp instructions per block; 0: a billion
  RaceChecks raceChecks = RaceChecks::Default;
  bool portableHandlers = false; ///< the code for any x86-64: slower, the same results
  AsyncMode asyncMode = AsyncMode::Lazy;
  std::uint64_t seed = 0;   ///< of AsyncMode::Random
  unsigned hostThreads = 1; ///< that run clusters side by side; 0: one per processor
  WarpTrace trace;          ///< a warp to trace, or none
  /// What the launch ahead in the stream wrote, if it may still run (grid_dependency.h); settled.
  std::shared_ptr<const ByteRanges> earlierWrites;
  bool recordsWrites = false; ///< fill LaunchResult::writes
  /// What prepareKernel made of `kernel`, to save that work; null: the launch does it.
  std::shared_ptr<const PreparedKernel> prepared;
};

/// What ended a launch early, as the driver reports it.
enum class Fault : std::uint8_t {
  None,
  IllegalAddress, ///< out of bounds, freed
  MisalignedAddress,
  IllegalInstruction, ///< convergence and barrier rules
  UninitializedRead,
  DataRace, ///< unordered accesses, or a missing proxy fence
  Trap,
  Deadlock,
  Budget, ///< instruction budget used up (livelock)
};

struct LaunchResult {
  Fault fault = Fault::None;
  std::string report; ///< kernel, block, thread, PTX line, what happened; findings in report mode;
                      ///< else empty
  EmulatorCounters counters{};
  double modelledNs = 0;
  ByteRanges
      writes; ///< of global memory, where LaunchRequest::recordsWrites asked for them; settled
};

/// Runs the grid to its end. `memory` may be shared by concurrent launches. Of several faults that
/// of the cluster with the lowest index is reported.
LaunchResult runGrid(const LaunchRequest &request, GlobalMemory &memory, const GpuProfile &profile);

} // namespace fp8jit::emulator
