// State of a running block. Main type: Block.
#pragma once

#include "emulator/exec/launch_context.h"
#include "emulator/exec/mbarrier_table.h"
#include "emulator/exec/register_pool.h"
#include "emulator/exec/shared_memory.h"
#include "emulator/exec/warp_state.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fp8jit::emulator {

class Cluster;
class RaceChecker; // emulator/exec/race_checker.h

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

/// Frees memory of aligned_alloc.
struct AlignedDelete {
  void operator()(std::byte *memory) const;
};

/// Life of a block in its cluster.
enum class BlockState : std::uint8_t { NotStarted, Running, Exited };

/// A block and its warps; reused for the next block by start().
struct Block {
  Cluster *cluster = nullptr;
  LaunchContext *launch = nullptr; ///< of the cluster
  bool hasWaitedForGrid = false;   ///< a thread executed griddepcontrol.wait
  RaceChecker *race = nullptr;     ///< of the cluster, or null: not checked
  std::uint32_t rank = 0;          ///< %cluster_ctarank
  BlockState state = BlockState::NotStarted;
  std::uint32_t liveWarps = 0;
  Dim3 index;
  std::uint64_t linearIndex = 0;
  std::uint32_t threadCount = 0;
  SharedMemory shared;
  MbarrierTable mbarriers;
  std::array<NamedBarrier, 16> barriers;
  RegisterPool registerPool;
  std::vector<Warp> warps;
  std::unique_ptr<std::byte[], AlignedDelete> registerFile;
  std::vector<LaneMask> predicateFile;

  /// Allocates the state of the block of rank `blockRank`; false when the host has no memory.
  bool allocate(Cluster &owner, std::uint32_t blockRank);
  /// Resets to the start of block `blockIndex`.
  void start(const Dim3 &blockIndex, std::uint64_t linear);

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

/// Called when lanes exited: the barrier of the cluster may complete without them.
void leaveClusterBarrier(Cluster &cluster);

/// Called when a warp has no live lanes left: barriers that wait for all threads may complete.
void leaveBarriers(Block &block);

/// What a warp that is blocked at a named barrier waits for: "at barrier 1 with 64 of 128 threads".
std::string describeBarrierWait(const Warp &warp);

} // namespace fp8jit::emulator
