// State of a running block and of its launch. Main types: Block, LaunchContext.
#pragma once

#include "emulator/exec/findings.h"
#include "emulator/exec/shared_memory.h"
#include "emulator/exec/warp_state.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fp8jit::emulator {

class RaceChecker; // emulator/exec/race_checker.h

/// Counters that instructions add to while they run; the rest follows from execution counts.
struct MemoryCounters {
  std::uint64_t loadSectors = 0, storeSectors = 0;
  std::uint64_t sharedWavefronts = 0, sharedBankConflicts = 0;
  std::uint64_t barrierWaits = 0;
};

/// Generic addresses of shared, local and parameter memory are their offset plus a window base that
/// no host address reaches.
inline constexpr std::uint64_t kSharedWindow = 0x0100'0000'0000'0000ULL;
inline constexpr std::uint64_t kLocalWindow = 0x0200'0000'0000'0000ULL;
inline constexpr std::uint64_t kParamWindow = 0x0300'0000'0000'0000ULL;
inline constexpr std::uint64_t kWindowMask = 0xff00'0000'0000'0000ULL;

/// One of the 16 named barriers of a block (PTX ISA, "bar, barrier").
struct NamedBarrier {
  std::uint32_t expectedThreads = 0;  ///< of the running phase; 0: all threads of the block
  std::uint32_t arrivedThreads = 0;   ///< 32 per warp that arrived
  bool isOpen = false;                ///< somebody arrived in this phase
  std::vector<std::uint32_t> arrived; ///< ranks of the warps that arrived
  std::vector<std::uint32_t> waiting; ///< those of them that wait
  std::uint32_t trueCount = 0;        ///< bar.red: threads whose predicate is true
  std::uint32_t reducedCount = 0;     ///< bar.red: threads that gave a predicate

  /// Closes the phase; keeps the capacity of the lists.
  void reset() {
    expectedThreads = arrivedThreads = trueCount = reducedCount = 0;
    isOpen = false;
    arrived.clear();
    waiting.clear();
  }
};

/// What all blocks of a launch share.
struct LaunchContext {
  const LaunchRequest &request;
  const Kernel &kernel;
  GlobalMemory &memory;
  Findings findings;
  std::vector<Step> steps;                 ///< one per instruction, then an Exit
  std::vector<std::uint32_t> stepOperands; ///< Step::operands point into it
  /// How often a pc is issued more than the one before it: a straight run adds 1 where it begins
  /// and -1 behind its end. Sums from 0 on are execution counts.
  std::vector<std::int64_t> countChanges;
  MemoryCounters counters;
  std::vector<std::uint8_t> parameters; ///< the parameter block
  std::uint32_t sharedBytes = 0;        ///< static and dynamic shared memory of a block
  std::uint32_t localStride = 0;        ///< bytes from one lane's local memory to the next lane's
  std::uint64_t budget = 0;     ///< warp instructions that the running block may still execute
  std::uint32_t smCount = 1;    ///< of the GPU profile
  std::uint64_t clockTicks = 0; ///< what %clock reads: warp instructions of the launch so far

  LaunchContext(const LaunchRequest &launch, GlobalMemory &globalMemory)
      : request(launch), kernel(*launch.kernel), memory(globalMemory), findings(launch) {}
};

/// Frees memory of aligned_alloc.
struct AlignedDelete {
  void operator()(std::byte *memory) const;
};

/// A block and its warps; reused for the next block by start().
struct Block {
  LaunchContext *launch = nullptr;
  RaceChecker *race = nullptr; ///< of the cluster, or null: not checked
  std::uint32_t rank = 0;      ///< %cluster_ctarank
  Dim3 index;
  std::uint64_t linearIndex = 0;
  std::uint32_t threadCount = 0;
  SharedMemory shared;
  std::array<NamedBarrier, 16> barriers;
  std::vector<Warp> warps;
  std::unique_ptr<std::byte[], AlignedDelete> registerFile;
  std::vector<LaneMask> predicateFile;

  /// Allocates the state of `context`'s block shape; false when the host has no memory.
  bool allocate(LaunchContext &context);
  /// Resets to the start of block `blockIndex`.
  void start(const Dim3 &blockIndex, std::uint64_t linear);
  /// Runs the block to its end; false if the launch has to stop.
  bool run();

private:
  void fillConstants(Warp &warp);
  void fillSpecials(Warp &warp);
  std::uint32_t specialOf(const Warp &warp, Special special, unsigned lane) const;
};

/// Runs `warp` until it blocks, ends, faults or has used `slice` instructions. Next means that the
/// slice is used up or the warp ended (no live lanes).
Outcome runWarp(Warp &warp, std::uint64_t slice);

/// Takes `lanes` out of the warp (exit): updates the running split and pending copies. Jump, or
/// Reschedule if the running split is empty, or Stop if a check failed.
Outcome exitLanes(Warp &warp, const Instruction &instruction, LaneMask lanes);

/// Called when a warp has no live lanes left: barriers that wait for all threads may complete.
void leaveBarriers(Block &block);

/// What each blocked warp waits for, one line each.
std::string describeWaits(const Block &block);

} // namespace fp8jit::emulator
