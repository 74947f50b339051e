// The barrier of all threads of a cluster (PTX ISA, "barrier.cluster").
//
//  1. A phase completes when every thread of the cluster has arrived or exited.
//  2. A thread that arrived has to wait before it arrives again; Warp::clusterArrived are lanes
//     whose phase is open, clusterReleased those whose phase is complete and who have not waited.
//  3. Both instructions first wait for the other threads of the warp.
#include "emulator/exec/cluster.h"
#include "emulator/exec/handlers.h"
#include "emulator/exec/race_checker.h"

namespace fp8jit::emulator {

void leaveClusterBarrier(Cluster &cluster) {
  bool hasArrivals = false;
  for (const Block &block : cluster.blocks) {
    for (const Warp &warp : block.warps) {
      if ((warp.live & ~warp.clusterArrived) != 0) {
        return;
      }
      hasArrivals |= warp.clusterArrived != 0;
    }
  }
  if (!hasArrivals) {
    return;
  }
  for (Block &block : cluster.blocks) {
    for (Warp &warp : block.warps) {
      warp.clusterReleased |= warp.clusterArrived;
      warp.clusterArrived = 0;
    }
  }
  if (RaceChecker *race = cluster.blocks.front().race) {
    race->clusterClose();
  }
  ++cluster.barrierPhase;
  cluster.wakeWaiters();
}

static Outcome refuseArrival(Warp &warp, const Step &step, LaneMask lanes, const char *what) {
  return warp.block->launch->findings.add(warp, *step.instruction, lanes, Fault::IllegalInstruction,
                                          Severity::HardwareFault, what);
}

static Outcome arrive(Warp &warp, const Step &step, LaneMask mask) {
  if ((warp.live & ~mask) != 0) {
    return Outcome::Park;
  }
  if (const LaneMask early = (warp.clusterArrived | warp.clusterReleased) & mask; early != 0) {
    return refuseArrival(warp, step, early,
                         "arrives a second time without a barrier.cluster.wait before");
  }
  Cluster &cluster = *warp.block->cluster;
  warp.clusterArrived |= mask;
  if (RaceChecker *race = warp.block->race) {
    race->clusterArrive(warp, step.instruction->mods.semantics);
  }
  ++warp.block->launch->counters.barrierWaits;
  cluster.noteProgress();
  leaveClusterBarrier(cluster);
  return Outcome::Next;
}

static Outcome wait(Warp &warp, const Step &step, LaneMask mask) {
  if ((warp.live & ~mask) != 0) {
    return Outcome::Park;
  }
  if (const LaneMask early = mask & ~(warp.clusterArrived | warp.clusterReleased); early != 0) {
    return refuseArrival(warp, step, early, "waits without a barrier.cluster.arrive before");
  }
  if ((warp.clusterArrived & mask) != 0) {
    warp.wait = {.kind = WaitKind::ClusterBarrier};
    return Outcome::Wait;
  }
  if (RaceChecker *race = warp.block->race) {
    race->clusterLeave(warp);
  }
  warp.clusterReleased &= ~mask;
  return Outcome::Next;
}

Handler selectClusterBarrier(const Instruction &instruction) {
  switch (instruction.op) {
  case Op::ClusterArrive:
    return &arrive;
  case Op::ClusterWait:
    return &wait;
  default: // the other groups
    return nullptr;
  }
}

} // namespace fp8jit::emulator
