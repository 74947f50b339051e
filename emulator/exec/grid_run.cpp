// Workers, residency, and which fault of several is reported.
#include "emulator/exec/grid_run.h"

#include "emulator/exec/time_model.h"

#include <algorithm>
#include <thread>
#include <xmmintrin.h>

namespace fp8jit::emulator {

/// Warp instructions after which a worker starts another cluster beside those that have not ended.
static constexpr std::uint64_t kFirstQuantum = 1U << 20;
/// Warp instructions of a turn when several clusters are resident on a worker.
static constexpr std::uint64_t kQuantum = 1U << 16;
/// Turns that a cluster still gets after another one with a higher index has faulted, for which it
/// may be waiting in vain.
static constexpr unsigned kTurnsAfterFault = 64;

namespace {

/// Round to nearest, no flushing of subnormals, no traps, whatever the caller had set.
class FloatingPointMode {
public:
  FloatingPointMode() : saved_(_mm_getcsr()) {
    constexpr unsigned kDefaultControl = 0x1f80;
    _mm_setcsr(kDefaultControl);
  }
  ~FloatingPointMode() { _mm_setcsr(saved_); }
  FloatingPointMode(const FloatingPointMode &) = delete;
  FloatingPointMode &operator=(const FloatingPointMode &) = delete;

private:
  const unsigned saved_;
};

} // namespace

/// Position `i` of `count` in even steps from the first to the last of `total`.
static std::uint64_t sampled(std::uint64_t i, std::uint64_t count, std::uint64_t total) {
  if (count == total || count <= 1) {
    return i;
  }
  // i * (total - 1) / (count - 1) without overflow.
  const std::uint64_t step = (total - 1) / (count - 1);
  const std::uint64_t rest = (total - 1) % (count - 1);
  return i * step + i * rest / (count - 1);
}

static std::uint64_t clustersToRun(const LaunchPlan &plan) {
  const std::uint64_t total = plan.countClusters();
  const std::uint64_t sample = plan.request.blockSample;
  const std::uint64_t clusters = (sample + plan.clusterSize - 1) / plan.clusterSize;
  return sample == 0 ? total : std::min(clusters, total);
}

static std::uint64_t residentClusters(const LaunchPlan &plan) {
  const Dim3 &block = plan.request.block;
  const ModelInput input{.threadsPerBlock = block.x * block.y * block.z,
                         .sharedBytesPerBlock = plan.sharedBytes,
                         .registersPerThread = plan.registersPerThread};
  const std::uint64_t blocks = std::uint64_t{plan.smCount} * blocksPerSm(input, plan.profile);
  return std::max<std::uint64_t>(blocks / plan.clusterSize, 1);
}

GridRun::GridRun(const LaunchPlan &plan)
    : plan_(plan), count_(clustersToRun(plan)), residentLimit_(residentClusters(plan)) {
  totals_.countChanges.assign(plan.prepared->steps.size() + 1, 0);
}

void GridRun::execute() {
  const unsigned wanted = plan_.request.hostThreads == 0 ? std::thread::hardware_concurrency()
                                                         : plan_.request.hostThreads;
  const std::uint64_t workers =
      std::min({std::max<std::uint64_t>(wanted, 1), count_, residentLimit_});
  std::vector<std::thread> threads;
  for (std::uint64_t i = 1; i < workers; ++i) {
    threads.emplace_back([this] { work(); });
  }
  work();
  for (std::thread &thread : threads) {
    thread.join();
  }
  writeReport();
}

std::unique_ptr<Cluster> GridRun::startNext(std::vector<std::unique_ptr<Cluster>> &idle) {
  if (resident_.fetch_add(1) >= residentLimit_) {
    resident_.fetch_sub(1);
    return nullptr;
  }
  const std::uint64_t position = next_.fetch_add(1);
  if (position >= count_ || position > firstFault_.load()) {
    resident_.fetch_sub(1);
    return nullptr;
  }
  std::unique_ptr<Cluster> cluster;
  if (idle.empty()) {
    cluster = std::make_unique<Cluster>(plan_);
    if (!cluster->allocate()) {
      fail(position, Fault::IllegalInstruction,
           "kernel " + plan_.kernel.name + ": the host has no memory for the block's registers");
      resident_.fetch_sub(1);
      return nullptr;
    }
  } else {
    cluster = std::move(idle.back());
    idle.pop_back();
  }
  cluster->start(sampled(position, count_, plan_.countClusters()));
  cluster->position = position;
  return cluster;
}

void GridRun::fail(std::uint64_t position, Fault fault, std::string text) {
  const std::lock_guard lock(mutex_);
  findings_[position] = {.fault = fault, .report = std::move(text)};
  std::uint64_t first = firstFault_.load();
  while (fault != Fault::None && position < first &&
         !firstFault_.compare_exchange_weak(first, position)) {
  }
}

/// Books what a cluster found; false while it still runs.
bool GridRun::finish(Cluster &cluster, ClusterState state) {
  const std::uint64_t firstFault = firstFault_.load();
  cluster.turnsAfterFault += firstFault != UINT64_MAX ? 1 : 0;
  const bool isOvertaken =
      cluster.position > firstFault ||
      (state == ClusterState::Running && cluster.turnsAfterFault > kTurnsAfterFault);
  if (state == ClusterState::Running && !isOvertaken) {
    return false;
  }
  const Findings &findings = cluster.context.findings;
  if (!findings.report().empty() && !isOvertaken) {
    fail(cluster.position, findings.fault(), findings.report());
  }
  if (state == ClusterState::Ended) {
    const std::lock_guard lock(mutex_);
    ++totals_.clustersEnded;
  }
  resident_.fetch_sub(1);
  return true;
}

void GridRun::collect(const Cluster &cluster) {
  const std::lock_guard lock(mutex_);
  const LaunchContext &context = cluster.context;
  for (std::size_t i = 0; i < context.countChanges.size(); ++i) {
    totals_.countChanges[i] += context.countChanges[i];
  }
  totals_.counters += context.counters;
  totals_.writes.add(context.writes);
}

void GridRun::work() {
  const FloatingPointMode mode;
  std::vector<std::unique_ptr<Cluster>> resident;
  std::vector<std::unique_ptr<Cluster>> idle;
  for (;;) {
    std::unique_ptr<Cluster> started = startNext(idle);
    if (started == nullptr && resident.empty()) {
      break;
    }
    const bool isAlone = resident.empty();
    if (started != nullptr) {
      resident.push_back(std::move(started));
    }
    for (std::size_t i = 0; i < resident.size();) {
      const bool isNew = i + 1 == resident.size();
      const ClusterState state = resident[i]->run(isAlone || isNew ? kFirstQuantum : kQuantum);
      if (finish(*resident[i], state)) {
        idle.push_back(std::move(resident[i]));
        resident.erase(resident.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
  }
  for (const std::unique_ptr<Cluster> &cluster : idle) {
    collect(*cluster);
  }
}

void GridRun::writeReport() {
  std::size_t lines = 0;
  for (const auto &[position, finding] : findings_) {
    if (position > firstFault_.load()) {
      break;
    }
    if (lines < Findings::kMaxFindings || finding.fault != Fault::None) {
      report_ += (report_.empty() ? "" : "\n") + finding.report;
    }
    lines += 1 + static_cast<std::size_t>(
                     std::count(finding.report.begin(), finding.report.end(), '\n'));
    fault_ = finding.fault;
  }
}

} // namespace fp8jit::emulator
