// Named barriers of a block: bar.sync, bar.arrive, bar.red (PTX ISA, "bar, barrier").
//
//  1. A phase opens with the first arrival and closes when as many threads arrived as it expects.
//     A warp arrives as a whole and counts 32 threads, even if some of its lanes have exited.
//  2. All participants of a phase name the same number of threads; without a number a phase expects
//     every warp of the block that has not exited.
//  3. No warp arrives twice in one phase.
#include "emulator/exec/block.h"
#include "emulator/exec/cluster.h"
#include "emulator/exec/handlers.h"
#include "emulator/exec/race_checker.h"

#include <algorithm>
#include <bit>

namespace fp8jit::emulator {

static void finishReduction(Warp &warp, const NamedBarrier &barrier) {
  if (warp.barrierStep == nullptr) {
    return;
  }
  const Instruction &instruction = *warp.barrierStep->instruction;
  const std::uint32_t operand = warp.barrierStep->operands[0];
  if (instruction.mods.boolOp == BoolOp::Popc) {
    auto *destination = warp.lanes<std::uint32_t>(operand);
    for (unsigned i = 0; i < kLanes; ++i) {
      destination[i] = barrier.trueCount;
    }
    return;
  }
  const bool holds = instruction.mods.boolOp == BoolOp::And
                         ? barrier.trueCount == barrier.reducedCount
                         : barrier.trueCount > 0;
  warp.predicates[operand] = holds ? kAllLanes : 0;
}

static std::uint32_t expectedThreads(const Block &block, const NamedBarrier &barrier) {
  if (barrier.expectedThreads != 0) {
    return barrier.expectedThreads;
  }
  std::uint32_t threads = 0;
  for (const Warp &warp : block.warps) {
    const bool hasArrived = std::find(barrier.arrived.begin(), barrier.arrived.end(), warp.index) !=
                            barrier.arrived.end();
    threads += warp.live != 0 || hasArrived ? kLanes : 0;
  }
  return threads;
}

/// Releases the waiting warps if the phase is complete.
static void closeIfComplete(Block &block, NamedBarrier &barrier) {
  if (!barrier.isOpen || barrier.arrivedThreads < expectedThreads(block, barrier)) {
    return;
  }
  if (block.race != nullptr) {
    const auto id = static_cast<std::uint32_t>(&barrier - block.barriers.data());
    block.race->barrierClose(block, id, barrier.waiting);
  }
  for (const std::uint32_t index : barrier.waiting) {
    Warp &warp = block.warps[index];
    finishReduction(warp, barrier);
    warp.isBlocked = false;
  }
  barrier.reset();
}

void leaveBarriers(Block &block) {
  for (NamedBarrier &barrier : block.barriers) {
    if (barrier.isOpen && barrier.expectedThreads == 0) {
      closeIfComplete(block, barrier);
    }
  }
}

/// The operand's value in the first lane of `mask`; Stop if lanes disagree.
static Outcome readUniform(Warp &warp, const Step &step, std::uint32_t operand, LaneMask mask,
                           std::uint32_t &value) {
  const auto *lanes = warp.lanes<const std::uint32_t>(operand);
  value = lanes[std::countr_zero(mask)];
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
    if (lanes[std::countr_zero(rest)] != value) {
      return warp.block->launch->findings.add(
          warp, *step.instruction, mask, Fault::IllegalInstruction, Severity::HardwareFault,
          "has different barrier numbers or thread counts in one warp");
    }
  }
  return Outcome::Next;
}

static Outcome refuse(Warp &warp, const Step &step, LaneMask mask, const std::string &what) {
  return warp.block->launch->findings.add(warp, *step.instruction, mask, Fault::IllegalInstruction,
                                          Severity::HardwareFault, what);
}

/// Joins the phase of barrier `id`; the checks are those of the head of this file.
static Outcome arrive(Warp &warp, const Step &step, LaneMask mask, std::uint32_t id,
                      std::uint32_t threads) {
  Block &block = *warp.block;
  if (id >= block.barriers.size()) {
    return refuse(warp, step, mask, "names barrier " + std::to_string(id) + ", 0 to 15 expected");
  }
  if (threads % kLanes != 0) {
    return refuse(warp, step, mask,
                  "names " + std::to_string(threads) + " threads, a multiple of 32 expected");
  }
  NamedBarrier &barrier = block.barriers[id];
  if (barrier.isOpen && barrier.expectedThreads != threads) {
    return refuse(warp, step, mask,
                  "expects " + std::to_string(threads) + " threads at barrier " +
                      std::to_string(id) + ", but its open phase expects " +
                      std::to_string(barrier.expectedThreads) + " (0: all)");
  }
  if (std::find(barrier.arrived.begin(), barrier.arrived.end(), warp.index) !=
      barrier.arrived.end()) {
    return refuse(warp, step, mask, "arrives twice in one phase of barrier " + std::to_string(id));
  }
  barrier.isOpen = true;
  barrier.expectedThreads = threads;
  barrier.arrivedThreads += kLanes;
  barrier.arrived.push_back(warp.index);
  if (block.race != nullptr) {
    block.race->barrierArrive(warp, id);
  }
  ++block.launch->counters.barrierWaits;
  block.cluster->noteProgress();
  return Outcome::Next;
}

/// Common part of all forms. `sources` are id and count as in program.h.
static Outcome enter(Warp &warp, const Step &step, LaneMask mask, std::uint32_t &id) {
  if ((warp.live & ~mask) != 0) {
    return Outcome::Park;
  }
  const Instruction &instruction = *step.instruction;
  const std::uint32_t *sources = step.operands + instruction.numDst;
  std::uint32_t threads = 0;
  if (readUniform(warp, step, sources[0], mask, id) == Outcome::Stop) {
    return Outcome::Stop;
  }
  const unsigned countSources = instruction.op == Op::BarRed ? 3 : 2;
  if (instruction.numSrc >= countSources && sources[1] != kNoSlot &&
      readUniform(warp, step, sources[1], mask, threads) == Outcome::Stop) {
    return Outcome::Stop;
  }
  return arrive(warp, step, mask, id, threads);
}

static Outcome wait(Warp &warp, const Step &step, std::uint32_t id, const Step *reduction) {
  Block &block = *warp.block;
  warp.isBlocked = true;
  warp.barrierId = id;
  warp.barrierLine = step.instruction->line;
  warp.barrierStep = reduction;
  block.barriers[id].waiting.push_back(warp.index);
  closeIfComplete(block, block.barriers[id]);
  return warp.isBlocked ? Outcome::Blocked : Outcome::Next;
}

static Outcome barrierSync(Warp &warp, const Step &step, LaneMask mask) {
  std::uint32_t id = 0;
  const Outcome outcome = enter(warp, step, mask, id);
  return outcome == Outcome::Next ? wait(warp, step, id, nullptr) : outcome;
}

static Outcome barrierArrive(Warp &warp, const Step &step, LaneMask mask) {
  std::uint32_t id = 0;
  const Outcome outcome = enter(warp, step, mask, id);
  if (outcome == Outcome::Next) {
    closeIfComplete(*warp.block, warp.block->barriers[id]);
  }
  return outcome;
}

static Outcome barrierReduce(Warp &warp, const Step &step, LaneMask mask) {
  std::uint32_t id = 0;
  const Outcome outcome = enter(warp, step, mask, id);
  if (outcome != Outcome::Next) {
    return outcome;
  }
  const Instruction &instruction = *step.instruction;
  const std::uint32_t source = step.operands[instruction.numDst + instruction.numSrc - 1];
  const LaneMask predicate =
      warp.predicates[source] ^ (instruction.mods.negateSource ? kAllLanes : 0U);
  NamedBarrier &barrier = warp.block->barriers[id];
  barrier.trueCount += static_cast<std::uint32_t>(std::popcount(predicate & mask));
  barrier.reducedCount += static_cast<std::uint32_t>(std::popcount(mask));
  return wait(warp, step, id, &step);
}

std::string describeBarrierWait(const Warp &warp) {
  const NamedBarrier &barrier = warp.block->barriers[warp.barrierId];
  return "at barrier " + std::to_string(warp.barrierId) + " with " +
         std::to_string(barrier.arrivedThreads) + " of " +
         std::to_string(expectedThreads(*warp.block, barrier)) + " threads";
}

Handler selectBarrier(const Instruction &instruction) {
  switch (instruction.op) {
  case Op::BarSync:
    return &barrierSync;
  case Op::BarArrive:
    return &barrierArrive;
  case Op::BarRed:
    return &barrierReduce;
  default: // the other groups
    return nullptr;
  }
}

} // namespace fp8jit::emulator
