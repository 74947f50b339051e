// What is reported when no thread of a cluster can go on.
#include "emulator/exec/cluster.h"
#include "emulator/exec/mbarrier.h"

#include <cinttypes>
#include <cstdio>

namespace fp8jit::emulator {

static constexpr std::size_t kMaxOperations = 8; ///< pending ones that are listed

static std::string describeMbarrierWait(Cluster &cluster, const WaitInfo &wait) {
  char text[96];
  std::snprintf(text, sizeof(text), "for the barrier at shared address 0x%08x, ", wait.address);
  std::string result = text;
  std::string problem;
  const Mbarrier *barrier = findMbarrier(cluster, wait.address, problem);
  if (barrier == nullptr) {
    return result + "which has ended";
  }
  if (wait.isParity) {
    std::snprintf(text, sizeof(text), "parity %u, ", static_cast<unsigned>(wait.value & 1));
  } else {
    std::snprintf(text, sizeof(text), "end of phase %" PRIu64 ", ", wait.value >> 20);
  }
  result += text;
  result += describeMbarrier(*barrier);
  if (wait.isParity && barrier->phase >= 2) {
    result += "; this parity has already passed, so a wait that is a phase late waits in vain";
  }
  return result;
}

static std::string describeWait(Warp &warp, const WaitInfo &wait) {
  Block &block = *warp.block;
  Cluster &cluster = *block.cluster;
  switch (wait.kind) {
  case WaitKind::Mbarrier:
    return describeMbarrierWait(cluster, wait);
  case WaitKind::ClusterBarrier: {
    unsigned missing = 0;
    for (const Block &peer : cluster.blocks) {
      for (const Warp &other : peer.warps) {
        missing += (other.live & ~other.clusterArrived) != 0 ? 1 : 0;
      }
    }
    return "for the barrier of the cluster, where " + std::to_string(missing) +
           " warps have not arrived";
  }
  case WaitKind::Registers:
    return "for " + std::to_string(wait.value) + " registers per thread: it has " +
           std::to_string(warp.registerCount) + " and needs " +
           std::to_string((wait.value - warp.registerCount) * kLanes) + " more, but only " +
           std::to_string(block.registerPool.available) + " of the block's " +
           std::to_string(block.registerPool.total) + " registers are free";
  case WaitKind::None:
    break;
  }
  return {};
}

static std::string describeWarp(Warp &warp) {
  const std::vector<Step> &steps = warp.block->launch->steps;
  if (warp.live == 0) {
    return " has exited";
  }
  if (warp.active != 0) { // at a named barrier, with the pc behind it
    return " waits at PTX line " + std::to_string(warp.barrierLine) + " " +
           describeBarrierWait(warp);
  }
  std::string text;
  for (const Split &split : warp.others) {
    char part[96];
    std::snprintf(part, sizeof(part), "%s waits at PTX line %u%s", text.empty() ? "" : ";",
                  steps[split.pc].instruction->line,
                  split.isWaiting || split.mustAnswer ? " " : " for other threads of its warp");
    text += part;
    text += describeWait(warp, split.wait);
    if (split.mask != warp.live) {
      std::snprintf(part, sizeof(part), " (lanes 0x%08x)", split.mask);
      text += part;
    }
  }
  return text;
}

std::string describeDeadlock(Cluster &cluster) {
  std::string text;
  for (Block &block : cluster.blocks) {
    if (cluster.blocks.size() > 1 || text.empty()) {
      text += (text.empty() ? "" : "\n") + ("block " + coordinateText(block.index)) +
              (text.empty() ? " is in a deadlock:" : ":");
    }
    for (Warp &warp : block.warps) {
      text += "\n  warp " + std::to_string(warp.index) + describeWarp(warp);
    }
  }
  return text + cluster.pending.describe(kMaxOperations);
}

} // namespace fp8jit::emulator
