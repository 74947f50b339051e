// Executing a decoded kernel. Main entry: runGrid.
#pragma once

#include "emulator/ptx/program.h"
#include "generator/profiles/gpu_profile.h"
#include "support/abi/emulator_table.h"

#include <cstdint>
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

struct LaunchRequest {
  const Module *module = nullptr;
  const Kernel *kernel = nullptr;
  Dim3 grid, block;
  std::uint32_t dynamicSharedBytes = 0;
  std::vector<std::uint8_t> params;           ///< kernel->paramBytes bytes
  std::vector<std::uint64_t> globalAddresses; ///< device address of each of module->globals
  std::uint32_t registersPerThread = 0;       ///< for the occupancy of the model; 0: assume 128
  std::uint64_t blockSample = 0; ///< 0: every block; else at most so many, spread over the grid
  EmulatorStrictness strictness = EmulatorStrictness::Strict;
  std::uint64_t instructionBudget = 0; ///< warp instructions per block; 0: a billion
  RaceChecks raceChecks = RaceChecks::Default;
  bool portableHandlers = false; ///< the code for any x86-64: slower, the same results
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
};

/// Runs the grid to its end on the calling thread. `memory` may be shared by concurrent launches.
LaunchResult runGrid(const LaunchRequest &request, GlobalMemory &memory, const GpuProfile &profile);

} // namespace fp8jit::emulator
