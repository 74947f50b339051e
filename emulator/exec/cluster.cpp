// The cooperative scheduler over the warps of a cluster.
//
// A round gives every warp that can run one turn. When no warp can run, something outside the warps
// has to happen: a pending operation completes, or, when there is none, waits that may time out
// (mbarrier.try_wait) answer false so that their loops come round. A cluster that does that
// kMaxStalls times without any progress is in a deadlock.
#include "emulator/exec/cluster.h"

#include "emulator/exec/race_checker.h"

#include <algorithm>

namespace fp8jit::emulator {

/// Instructions that a warp runs before another one gets its turn, if it does not block earlier.
static constexpr std::uint64_t kWarpSlice = 1U << 14;
/// AsyncMode::Random: the longest turn is 2^kMaxSliceShift instructions.
static constexpr std::uint64_t kMaxSliceShift = 11;
static constexpr unsigned kMaxStalls = 64;
/// Rounds in which warps ran but changed no barrier, after which a pending operation completes
/// although not all warps are blocked: one of them may spin on what only comes after it.
static constexpr unsigned kPatience = 8;

Cluster::Cluster(const LaunchPlan &launchPlan) : plan(launchPlan), context(launchPlan) {
  if (RaceChecker::isWanted(plan.request)) {
    race_ = std::make_unique<RaceChecker>(plan.request, context.steps, context.findings,
                                          plan.clusterSize, plan.sharedBytes);
  }
}

Cluster::~Cluster() = default;

bool Cluster::allocate() {
  blocks.resize(plan.clusterSize);
  for (std::uint32_t rank = 0; rank < plan.clusterSize; ++rank) {
    blocks[rank].race = race_.get();
    if (!blocks[rank].allocate(*this, rank)) {
      return false;
    }
  }
  return true;
}

void Cluster::start(std::uint64_t linear) {
  const Dim3 &grid = plan.clusterGrid;
  const Dim3 &shape = plan.request.cluster;
  linearIndex = linear;
  index = {.x = static_cast<std::uint32_t>(linear % grid.x),
           .y = static_cast<std::uint32_t>(linear / grid.x % grid.y),
           .z = static_cast<std::uint32_t>(linear / grid.x / grid.y)};
  constexpr std::uint64_t kDefaultBudget = 1'000'000'000; // per block; some seconds
  const std::uint64_t budget = plan.request.instructionBudget;
  context.budget = (budget == 0 ? kDefaultBudget : budget) * plan.clusterSize;
  context.clockTicks = 0;
  context.findings.reset();
  random.seed(plan.request.seed, linear);
  pending.reset(plan.request.asyncMode, random);
  tensormaps.reset();
  barrierPhase = wakeCount = progressCount = 0;
  progressAtStall_ = progressAtPatience_ = 0;
  stalls_ = impatience_ = turnsAfterFault = 0;
  if (race_ != nullptr) {
    race_->start();
  }
  order_.clear();
  for (Block &block : blocks) {
    for (Warp &warp : block.warps) {
      order_.push_back(&warp);
    }
    const Dim3 inCluster = {.x = block.rank % shape.x,
                            .y = block.rank / shape.x % shape.y,
                            .z = block.rank / shape.x / shape.y};
    const Dim3 place = {.x = index.x * shape.x + inCluster.x,
                        .y = index.y * shape.y + inCluster.y,
                        .z = index.z * shape.z + inCluster.z};
    const Dim3 &blockGrid = plan.request.grid;
    block.start(place, place.x + std::uint64_t{blockGrid.x} *
                                     (place.y + std::uint64_t{blockGrid.y} * place.z));
  }
}

Block *Cluster::blockAt(std::uint32_t sharedAddress) {
  const std::uint32_t rank = sharedAddress >> SharedMemory::kRankShift;
  return rank < blocks.size() ? &blocks[rank] : nullptr;
}

std::string Cluster::peerProblem(std::uint32_t sharedAddress) {
  const Block *block = blockAt(sharedAddress);
  const std::string rank = std::to_string(sharedAddress >> SharedMemory::kRankShift);
  if (block == nullptr) {
    return "in block rank " + rank + " of a cluster of " + std::to_string(blocks.size());
  }
  switch (block->state) {
  case BlockState::NotStarted:
    return "in block rank " + rank + ", which has not started";
  case BlockState::Exited:
    return "in block rank " + rank + ", which has exited";
  case BlockState::Running:
    break;
  }
  return {};
}

std::string describeUnwritten(Cluster &cluster, std::uint32_t sharedAddress) {
  const Block *block = cluster.blockAt(sharedAddress);
  const bool isBarrier = block != nullptr && block->mbarriers.findOverlap(
                                                 sharedAddress - block->shared.base, 1) != nullptr;
  return isBarrier ? " (a live mbarrier lies there)" : "";
}

/// Lets a warp whose splits all wait look again; false if nothing has changed.
static bool wake(Warp &warp) {
  if (warp.active != 0 || warp.seenWakeCount == warp.block->cluster->wakeCount) {
    return false; // waits at a named barrier, or in vain
  }
  warp.isBlocked = false;
  return true;
}

bool Cluster::runTurn(Warp &warp, std::uint64_t &instructions, bool &hasRun) {
  if (warp.live == 0 || (warp.isBlocked && !wake(warp))) {
    return true;
  }
  warp.block->state = BlockState::Running;
  hasRun = true;
  const std::uint64_t slice = plan.request.asyncMode == AsyncMode::Random
                                  ? std::uint64_t{1} << random.below(kMaxSliceShift + 1)
                                  : kWarpSlice;
  const std::uint64_t before = context.budget;
  if (runWarp(warp, std::min(slice, context.budget)) == Outcome::Stop) {
    return false;
  }
  instructions -= std::min(instructions, before - context.budget);
  if (context.budget == 0) {
    const std::uint32_t pc = warp.active != 0 || warp.others.empty() ? warp.pc : warp.others[0].pc;
    context.findings.addFault(Fault::Budget,
                              "block " + coordinateText(warp.block->index) +
                                  " has used up its instruction budget at PTX line " +
                                  std::to_string(context.steps[pc].instruction->line) +
                                  " of warp " + std::to_string(warp.index));
    return false;
  }
  return true;
}

bool Cluster::runRound(std::uint64_t &instructions, bool &hasRun) {
  if (plan.request.asyncMode == AsyncMode::Random) {
    for (std::size_t i = order_.size(); i > 1; --i) {
      std::swap(order_[i - 1], order_[random.below(i)]);
    }
  }
  for (Warp *warp : order_) {
    if (!runTurn(*warp, instructions, hasRun)) {
      return false;
    }
  }
  return pending.advance() != Outcome::Stop;
}

bool Cluster::hasEnded() const {
  return std::all_of(blocks.begin(), blocks.end(),
                     [](const Block &block) { return block.liveWarps == 0; });
}

Outcome Cluster::completeOne() {
  return pending.completeOne([this](std::uint32_t address) {
    return std::any_of(order_.begin(), order_.end(), [address](const Warp *warp) {
      return std::any_of(warp->others.begin(), warp->others.end(), [address](const Split &split) {
        return split.isWaiting && split.wait.kind == WaitKind::Mbarrier &&
               split.wait.address == address;
      });
    });
  });
}

ClusterState Cluster::resolveStall() {
  stalls_ = progressCount == progressAtStall_ ? stalls_ + 1 : 0;
  if (!pending.isEmpty()) {
    progressAtStall_ = progressCount;
    return completeOne() == Outcome::Stop ? ClusterState::Stopped : ClusterState::Running;
  }
  progressAtStall_ = progressCount;
  bool mayAnswer = false;
  for (Warp *warp : order_) {
    for (Split &split : warp->others) {
      if (split.isWaiting && split.wait.kind == WaitKind::Mbarrier) {
        split.mustAnswer = true;
        split.isWaiting = false;
        warp->isBlocked = false;
        mayAnswer = true;
      }
    }
  }
  if (mayAnswer && stalls_ < kMaxStalls) {
    return ClusterState::Running;
  }
  context.findings.addFault(Fault::Deadlock, describeDeadlock(*this));
  return ClusterState::Stopped;
}

ClusterState Cluster::run(std::uint64_t instructions) {
  while (instructions > 0) {
    bool hasRun = false;
    if (!runRound(instructions, hasRun)) {
      return ClusterState::Stopped;
    }
    if (hasEnded()) {
      return ClusterState::Ended;
    }
    if (!hasRun) {
      const ClusterState state = resolveStall();
      if (state != ClusterState::Running) {
        return state;
      }
      continue;
    }
    impatience_ = progressCount == progressAtPatience_ ? impatience_ + 1 : 0;
    progressAtPatience_ = progressCount;
    if (impatience_ >= kPatience && completeOne() == Outcome::Stop) {
      return ClusterState::Stopped;
    }
  }
  return ClusterState::Running;
}

} // namespace fp8jit::emulator
