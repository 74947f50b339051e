// Runs the clusters of a launch on host threads. Main type: GridRun.
//
//  1. Clusters start in the order of their index. A worker (host thread) owns the clusters that it
//     started until they end.
//  2. A cluster that has not ended after a quantum gives way to another one, which may be what it
//     waits for (kernels whose blocks spin on flags of others). At most as many clusters are
//     resident as the GPU could hold.
//  3. A fault of a cluster ends those with a higher index; those with a lower one go on, since
//     theirs would be reported instead.
#pragma once

#include "emulator/exec/cluster.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace fp8jit::emulator {

/// Sums over the clusters that ran.
struct GridTotals {
  std::vector<std::int64_t> countChanges; ///< as LaunchContext::countChanges
  MemoryCounters counters;
  ByteRanges writes; ///< LaunchContext::writes
  std::uint64_t clustersEnded = 0;
};

/// One launch. execute() is called once; the results are then constant.
class GridRun {
public:
  explicit GridRun(const LaunchPlan &plan);

  /// Runs all clusters, or the sample that the request asks for.
  void execute();

  Fault fault() const { return fault_; }
  const std::string &report() const { return report_; }
  const GridTotals &totals() const { return totals_; }

private:
  struct Finding {
    Fault fault = Fault::None;
    std::string report;
  };

  void work();
  std::unique_ptr<Cluster> startNext(std::vector<std::unique_ptr<Cluster>> &idle);
  bool finish(Cluster &cluster, ClusterState state);
  void fail(std::uint64_t cluster, Fault fault, std::string text);
  void collect(const Cluster &cluster);
  void writeReport();

  const LaunchPlan &plan_;
  const std::uint64_t count_;         ///< clusters to run
  const std::uint64_t residentLimit_; ///< that the GPU holds at a time
  std::atomic<std::uint64_t> next_{0};
  std::atomic<std::uint64_t> resident_{0};
  std::atomic<std::uint64_t> firstFault_{UINT64_MAX}; ///< the lowest position with a fault
  std::mutex mutex_;                                  ///< guards the two below while workers run
  GridTotals totals_;
  std::map<std::uint64_t, Finding> findings_; ///< by position in the order of clusters
  Fault fault_ = Fault::None;
  std::string report_;
};

} // namespace fp8jit::emulator
