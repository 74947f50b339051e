// runGrid: checks and plans a launch, has its clusters run (grid_run.h), collects counters and the
// report.
#include "emulator/exec/launch.h"

#include "emulator/exec/grid_run.h"
#include "emulator/exec/instruction_class.h"
#include "emulator/exec/time_model.h"

#include <algorithm>

namespace fp8jit::emulator {

static constexpr std::uint32_t kDefaultRegisters = 128;

/// Scales a counter of `executed` blocks to `total`.
static std::uint64_t scaleUp(std::uint64_t value, std::uint64_t executed, std::uint64_t total) {
  if (executed == 0 || executed == total) {
    return value;
  }
  return static_cast<std::uint64_t>(static_cast<double>(value) * static_cast<double>(total) /
                                    static_cast<double>(executed));
}

static EmulatorCounters collectCounters(const Kernel &kernel, const GridTotals &totals,
                                        std::uint64_t executed, std::uint64_t total) {
  EmulatorCounters counters{};
  std::uint64_t count = 0;
  for (std::size_t pc = 0; pc < kernel.code.size() && pc < totals.countChanges.size(); ++pc) {
    const Instruction &instruction = kernel.code[pc];
    count += static_cast<std::uint64_t>(totals.countChanges[pc]);
    counters.warpInstructions += count;
    const InstructionClass kind = classify(instruction);
    counters.integerInstructions += kind == InstructionClass::Integer ? count : 0;
    counters.floatInstructions += kind == InstructionClass::Float ? count : 0;
    if (instruction.op == Op::Mma || instruction.op == Op::Wgmma) {
      // A warp executes a quarter of a warp-group instruction.
      const std::uint64_t rows = instruction.mods.m / (instruction.op == Op::Wgmma ? 4U : 1U);
      counters.mmaFlops += count * 2 * rows * instruction.mods.n * instruction.mods.k;
    }
  }
  const MemoryCounters &memory = totals.counters;
  counters.globalLoadSectors = memory.loadSectors;
  counters.globalStoreSectors = memory.storeSectors;
  counters.sharedWavefronts = memory.sharedWavefronts;
  counters.sharedBankConflicts = memory.sharedBankConflicts;
  counters.barrierWaits = memory.barrierWaits;
  counters.bulkLoadBytes = memory.bulkLoadBytes;
  counters.bulkStoreBytes = memory.bulkStoreBytes;
  std::uint64_t *const scaled[] = {
      &counters.warpInstructions, &counters.integerInstructions, &counters.floatInstructions,
      &counters.mmaFlops,         &counters.globalLoadSectors,   &counters.globalStoreSectors,
      &counters.sharedWavefronts, &counters.sharedBankConflicts, &counters.barrierWaits,
      &counters.bulkLoadBytes,    &counters.bulkStoreBytes};
  for (std::uint64_t *counter : scaled) {
    *counter = scaleUp(*counter, executed, total);
  }
  counters.blocksExecuted = executed;
  counters.blocksTotal = total;
  return counters;
}

/// What the driver should have checked; empty if all is well.
static std::string findProblem(const LaunchRequest &request) {
  const Kernel &kernel = *request.kernel;
  const auto volume = [](const Dim3 &shape) { return std::uint64_t{shape.x} * shape.y * shape.z; };
  if (volume(request.block) == 0 || volume(request.block) > 1024) {
    return "a block has " + std::to_string(volume(request.block)) + " threads, 1 to 1024 expected";
  }
  const Dim3 &grid = request.grid;
  const Dim3 &cluster = request.cluster;
  constexpr std::uint64_t kMaxCluster = 16; // CUDA programming guide, non-portable cluster size
  if (volume(cluster) == 0 || volume(cluster) > kMaxCluster || grid.x % cluster.x != 0 ||
      grid.y % cluster.y != 0 || grid.z % cluster.z != 0) {
    return "a cluster is " + coordinateText(cluster) + " blocks of a grid of " +
           coordinateText(grid) + ", 1 to 16 blocks that divide the grid expected";
  }
  if (request.params.size() != kernel.paramBytes) {
    return "the launch has " + std::to_string(request.params.size()) + " parameter bytes, " +
           std::to_string(kernel.paramBytes) + " expected";
  }
  if (request.globalAddresses.size() <
          (request.module == nullptr ? 0 : request.module->globals.size()) &&
      !kernel.symbols.empty()) {
    return "the launch gives no addresses for the module's variables";
  }
  return {};
}

static LaunchResult refuse(const LaunchRequest &request, const std::string &problem) {
  LaunchResult result;
  result.fault = Fault::IllegalInstruction;
  result.report = "kernel " + request.kernel->name + ": " + problem;
  return result;
}

LaunchResult runGrid(const LaunchRequest &request, GlobalMemory &memory,
                     const GpuProfile &profile) {
  if (const std::string problem = findProblem(request); !problem.empty()) {
    return refuse(request, problem);
  }
  const LaunchPlan plan(request, memory, profile);
  if (!plan.prepared->problem.empty()) {
    return refuse(request, plan.prepared->problem);
  }
  GridRun run(plan);
  run.execute();
  const GridTotals &totals = run.totals();
  LaunchResult result;
  result.fault = run.fault();
  result.report = run.report();
  result.writes.add(totals.writes);
  result.writes.settle();
  result.counters =
      collectCounters(plan.kernel, totals, totals.clustersEnded * plan.clusterSize,
                      std::uint64_t{request.grid.x} * request.grid.y * request.grid.z);
  const ModelInput input{.counters = result.counters,
                         .threadsPerBlock = request.block.x * request.block.y * request.block.z,
                         .sharedBytesPerBlock = plan.sharedBytes,
                         .registersPerThread = request.registersPerThread == 0
                                                   ? kDefaultRegisters
                                                   : request.registersPerThread};
  result.modelledNs = modelTime(input, profile).totalNs;
  return result;
}

} // namespace fp8jit::emulator
