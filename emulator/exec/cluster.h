// The blocks that run together and their scheduler. Main type: Cluster; a launch without clusters
// has clusters of one block. Clusters meet only in global memory, so that host threads run
// different clusters side by side (grid_run.h).
#pragma once

#include "emulator/exec/block.h"
#include "emulator/exec/launch_context.h"
#include "emulator/exec/pending_operations.h"
#include "emulator/exec/random_source.h"
#include "emulator/exec/tensormap_proxy.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fp8jit::emulator {

/// Why Cluster::run returned.
enum class ClusterState : std::uint8_t {
  Running, ///< the instructions given are used up
  Ended,   ///< every block has exited
  Stopped, ///< a fault was recorded
};

/// The blocks of one cluster. Owned by one host thread at a time; start() reuses it for the next
/// cluster.
class Cluster {
public:
  explicit Cluster(const LaunchPlan &launchPlan);
  ~Cluster();
  Cluster(const Cluster &) = delete;
  Cluster &operator=(const Cluster &) = delete;

  /// Allocates the blocks; false when the host has no memory.
  bool allocate();
  /// Resets to the start of cluster `linear` of the grid.
  void start(std::uint64_t linear);
  /// Runs for about `instructions` warp instructions, less if the cluster ends before.
  ClusterState run(std::uint64_t instructions);

  /// Takes over an asynchronous operation (async_operation.h). Stop if it faults at once (Eager).
  Outcome issue(std::unique_ptr<AsyncOperation> operation) {
    return pending.issue(std::move(operation));
  }

  /// The block whose window holds the shared::cluster address, or null if the cluster has no such
  /// rank.
  Block *blockAt(std::uint32_t sharedAddress);
  /// Why the block at `sharedAddress` cannot be reached: no such rank, not started, exited. Empty
  /// if it can.
  std::string peerProblem(std::uint32_t sharedAddress);

  /// To be called when something changed that a waiting split may wait for: it looks again.
  void wakeWaiters() {
    ++wakeCount;
    ++progressCount;
  }
  /// To be called when the state of a barrier, an operation or a thread changed: no deadlock.
  void noteProgress() { ++progressCount; }

  const LaunchPlan &plan;
  LaunchContext context;
  std::vector<Block> blocks; ///< by rank
  PendingOperations pending;
  TensormapProxy tensormaps;
  RandomSource random;
  Dim3 index; ///< %clusterid
  std::uint64_t linearIndex = 0;
  std::uint64_t position = 0;     ///< in the order in which clusters start; set by GridRun
  unsigned turnsAfterFault = 0;   ///< of another cluster; counted by GridRun
  std::uint64_t barrierPhase = 0; ///< of barrier.cluster
  std::uint64_t wakeCount = 0, progressCount = 0;

private:
  bool runRound(std::uint64_t &instructions, bool &hasRun);
  bool runTurn(Warp &warp, std::uint64_t &instructions, bool &hasRun);
  bool hasEnded() const;
  Outcome completeOne();
  ClusterState resolveStall();

  std::unique_ptr<RaceChecker> race_; ///< null: not checked
  std::vector<Warp *> order_;         ///< of a round
  std::uint64_t progressAtStall_ = 0; ///< progressCount
  std::uint64_t progressAtPatience_ = 0;
  unsigned stalls_ = 0;     ///< in a row without progress
  unsigned impatience_ = 0; ///< rounds in a row in which warps ran without progress
};

/// Why a byte of shared memory may count as unwritten although the program wrote it, to be added to
/// a report: a live mbarrier lies there. Else empty.
std::string describeUnwritten(Cluster &cluster, std::uint32_t sharedAddress);

/// What every warp of the cluster waits for, barrier by barrier, and the pending operations.
std::string describeDeadlock(Cluster &cluster);

} // namespace fp8jit::emulator
