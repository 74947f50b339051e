// The terms of the modelled time. A roofline over executed counters: every resource of the device
// gives a time that its counter alone would take, and the slowest one decides.
#include "emulator/exec/time_model.h"

#include "generator/profiles/occupancy.h"

#include <algorithm>

namespace fp8jit::emulator {

// Typical cost of an empty kernel launch; CUDA launches of 2 to 4 us are commonly measured.
static constexpr double kLaunchNs = 2500;
// Cycles from one barrier to the next that no other work of the block hides: about the latency of
// a shared-memory load and of a barrier on recent SMs.
static constexpr double kBarrierCycles = 30;
// Warp instructions per cycle and SM: four schedulers (CUDA programming guide, "Compute
// Capabilities").
static constexpr double kIssuePerCycle = 4;
// Sectors served from DRAM when the L2 holds what blocks share; a launch's first touch cannot be
// told from its counters, so a fixed part of the L2 traffic is charged.
static constexpr double kDramShare = 0.25;
static constexpr std::uint32_t kWarpLanes = 32;
static constexpr double kSectorBytes = 32;

std::uint32_t blocksPerSm(const ModelInput &input, const GpuProfile &profile) {
  const int blocks =
      residentBlocks(profile, {.threads = static_cast<int>(input.threadsPerBlock),
                               .registersPerThread = static_cast<int>(input.registersPerThread),
                               .sharedBytes = input.sharedBytesPerBlock});
  return static_cast<std::uint32_t>(std::max(blocks, 1));
}

ModelTerms modelTime(const ModelInput &input, const GpuProfile &profile) {
  const EmulatorCounters &counters = input.counters;
  const double blocks = static_cast<double>(std::max<std::uint64_t>(counters.blocksTotal, 1));
  const double smCount = std::max(profile.smCount, 1);
  const double cyclesPerNs = std::max(profile.clockMhz, 1) / 1000.0;
  // SMs that have work at all, and how unevenly whole blocks divide among them: the SM with the
  // most blocks decides, and a block uses its share of an SM's units.
  const double residentBlocks = smCount * blocksPerSm(input, profile);
  const double waves = std::max(1.0, static_cast<double>(static_cast<std::uint64_t>(
                                         (blocks + residentBlocks - 1) / residentBlocks)));
  const double blocksOnBusiestSm =
      static_cast<double>(static_cast<std::uint64_t>((blocks + smCount - 1) / smCount));
  const double busiestShare = blocksOnBusiestSm / blocks; // of all per-SM work
  const auto perSm = [&](double work, double ratePerCycle) {
    return work * busiestShare / std::max(ratePerCycle, 1.0) / cyclesPerNs;
  };
  ModelTerms terms;
  terms.launchNs = kLaunchNs;
  // Every barrier arrival of a warp is one stage for that warp; stages of one block follow each
  // other, those of resident blocks overlap.
  const double warpsPerBlock = std::max<double>(
      1.0, static_cast<double>((input.threadsPerBlock + kWarpLanes - 1) / kWarpLanes));
  const double stages = static_cast<double>(counters.barrierWaits) / blocks / warpsPerBlock;
  terms.latencyNs = waves * stages * kBarrierCycles / cyclesPerNs;
  terms.tensorNs = perSm(static_cast<double>(counters.mmaFlops), profile.fp8FlopPerClockPerSm);
  // An instruction of a warp keeps kWarpLanes of the FP32 lanes busy; a lane does 2 flop per clock.
  terms.floatNs = perSm(static_cast<double>(counters.floatInstructions) * 2 * kWarpLanes,
                        profile.fp32FlopPerClockPerSm);
  terms.issueNs = perSm(static_cast<double>(counters.warpInstructions), kIssuePerCycle);
  // One wavefront of 128 bytes per cycle and SM.
  terms.sharedNs = perSm(static_cast<double>(counters.sharedWavefronts), 1);
  const double globalBytes =
      kSectorBytes * static_cast<double>(counters.globalLoadSectors + counters.globalStoreSectors);
  terms.l2Ns = globalBytes / std::max(profile.l2BytesPerClock, 1) / cyclesPerNs;
  terms.dramNs = kDramShare * globalBytes / std::max(profile.dramBytesPerNs, 1);
  terms.totalNs = terms.launchNs + terms.latencyNs +
                  std::max({terms.tensorNs, terms.floatNs, terms.issueNs, terms.sharedNs,
                            terms.l2Ns, terms.dramNs});
  return terms;
}

} // namespace fp8jit::emulator
