// Instructions about a thread's place in its cluster, its proxies and its registers: elect.sync,
// mapa, getctarank, fence.proxy, setmaxnreg, griddepcontrol, createpolicy.
//
// setmaxnreg. The pool of a block holds the registers that warps gave back; an increase waits until
// the pool has what it needs (PTX ISA, "setmaxnreg"). Together with those of the warps they stay
// what the launch allocated.
#include "emulator/exec/cluster.h"
#include "emulator/exec/handlers.h"
#include "emulator/exec/race_checker.h"

#include <bit>
#include <cinttypes>
#include <cstdio>

namespace fp8jit::emulator {

static Outcome refuseClusterUse(Warp &warp, const Step &step, LaneMask lanes,
                                std::string_view what) {
  return warp.block->launch->findings.add(warp, *step.instruction, lanes, Fault::IllegalInstruction,
                                          Severity::HardwareFault, what);
}

/// Writes the 32-bit or 64-bit destination of one lane.
static void writeLane(Warp &warp, const Step &step, unsigned lane, std::uint64_t value) {
  if (step.instruction->dstBits == 64) {
    warp.lanes<std::uint64_t>(step.operands[0])[lane] = value;
  } else {
    warp.lanes<std::uint32_t>(step.operands[0])[lane] = static_cast<std::uint32_t>(value);
  }
}

static std::uint64_t readLane(const Warp &warp, const Step &step, unsigned lane) {
  const std::uint32_t slot = step.operands[1];
  return step.instruction->srcBits == 64 ? warp.lanes<const std::uint64_t>(slot)[lane]
                                         : warp.lanes<const std::uint32_t>(slot)[lane];
}

/// The address of the same variable in block `rank` of the cluster.
static Outcome mapAddress(Warp &warp, const Step &step, LaneMask mask) {
  const auto *rank = warp.lanes<const std::uint32_t>(step.operands[2]);
  const Cluster &cluster = *warp.block->cluster;
  constexpr std::uint64_t kRankBits = std::uint64_t{0xff} << SharedMemory::kRankShift;
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    if (rank[lane] >= cluster.blocks.size()) {
      return refuseClusterUse(warp, step, LaneMask{1} << lane,
                              "names block rank " + std::to_string(rank[lane]) +
                                  " of a cluster of " + std::to_string(cluster.blocks.size()));
    }
    const std::uint64_t address = readLane(warp, step, lane);
    writeLane(warp, step, lane,
              (address & ~kRankBits) | (std::uint64_t{rank[lane]} << SharedMemory::kRankShift));
  }
  return Outcome::Next;
}

static Outcome getRank(Warp &warp, const Step &step, LaneMask mask) {
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const auto address = static_cast<std::uint32_t>(readLane(warp, step, lane));
    writeLane(warp, step, lane, address >> SharedMemory::kRankShift);
  }
  return Outcome::Next;
}

/// The leader is the lowest lane of each lane's member mask that is alive.
static Outcome electLeader(Warp &warp, const Step &step, LaneMask mask) {
  const std::uint32_t slot = step.operands[step.instruction->numDst];
  const auto *members = warp.lanes<const std::uint32_t>(slot);
  LaneMask leaders = 0;
  std::uint32_t leader[kLanes] = {};
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    if (((members[lane] >> lane) & 1U) == 0) {
      return refuseClusterUse(warp, step, LaneMask{1} << lane,
                              "is executed by a lane that its mask lacks");
    }
    const LaneMask present = members[lane] & warp.live;
    if ((present & ~mask) != 0) {
      return Outcome::Park;
    }
    leader[lane] = static_cast<std::uint32_t>(std::countr_zero(present));
    leaders |= LaneMask{leader[lane] == lane} << lane;
  }
  if (step.operands[0] != kNoSlot) {
    for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      warp.lanes<std::uint32_t>(step.operands[0])[lane] = leader[lane];
    }
  }
  if (step.instruction->numDst > 1 && step.operands[1] != kNoSlot) {
    LaneMask &predicate = warp.predicates[step.operands[1]];
    predicate = (predicate & ~mask) | leaders;
  }
  return Outcome::Next;
}

static Outcome fenceProxy(Warp &warp, const Step &step, LaneMask) {
  RaceChecker *race = warp.block->race;
  if (race == nullptr) {
    return Outcome::Next;
  }
  switch (static_cast<ProxyFence>(step.instruction->immediate)) {
  case ProxyFence::Async:
  case ProxyFence::AsyncGlobal:
  case ProxyFence::AsyncShared:
    race->fenceAsync(warp);
    break;
  case ProxyFence::MbarrierInit:
    race->fenceMbarrierInit(warp);
    break;
  case ProxyFence::Alias:
  case ProxyFence::TensormapAcquire:
  case ProxyFence::TensormapRelease:
    break; // orders nothing that is checked here
  }
  return Outcome::Next;
}

/// Next if the whole warp executes the instruction, else Park.
static Outcome requireLive(const Warp &warp, LaneMask mask) {
  return (warp.live & ~mask) != 0 ? Outcome::Park : Outcome::Next;
}

static Outcome setRegisters(Warp &warp, const Step &step, LaneMask mask) {
  if (requireLive(warp, mask) == Outcome::Park) {
    return Outcome::Park;
  }
  const bool isIncrease = step.instruction->mods.increase;
  const auto wanted = static_cast<std::uint32_t>(step.instruction->immediate);
  RegisterPool &pool = warp.block->registerPool;
  char text[128];
  if (isIncrease ? wanted < warp.registerCount : wanted > warp.registerCount) {
    std::snprintf(text, sizeof(text), "asks for %u registers per thread, the warp has %u", wanted,
                  warp.registerCount);
    return refuseClusterUse(warp, step, mask, text);
  }
  if (!isIncrease) {
    pool.available += (warp.registerCount - wanted) * kLanes;
    warp.registerCount = wanted;
    warp.block->cluster->wakeWaiters();
    return Outcome::Next;
  }
  const std::uint32_t needed = (wanted - warp.registerCount) * kLanes;
  if (needed > pool.available) {
    warp.wait = {.kind = WaitKind::Registers, .isParity = false, .address = 0, .value = wanted};
    return Outcome::Wait;
  }
  pool.available -= needed;
  warp.registerCount = wanted;
  warp.block->cluster->noteProgress();
  return Outcome::Next;
}

/// Any value will do: cache policies have no effect here.
static Outcome createPolicy(Warp &warp, const Step &step, LaneMask mask) {
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
    warp.lanes<std::uint64_t>(step.operands[0])[std::countr_zero(rest)] = 0;
  }
  return Outcome::Next;
}

Handler selectClusterOperation(const Instruction &instruction) {
  switch (instruction.op) {
  case Op::Mapa:
    return &mapAddress;
  case Op::GetCtaRank:
    return &getRank;
  case Op::Elect:
    return &electLeader;
  case Op::FenceProxy:
    return &fenceProxy;
  case Op::SetMaxNReg:
    return &setRegisters;
  case Op::CreatePolicy:
    return &createPolicy;
  default: // the other groups
    return nullptr;
  }
}

} // namespace fp8jit::emulator
