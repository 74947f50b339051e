// Branches, exit, trap, special registers and the instructions without effect here.
#include "emulator/exec/block.h"
#include "emulator/exec/cluster.h"
#include "emulator/exec/handlers.h"
#include "emulator/exec/race_checker.h"
#include "emulator/exec/tensor_function.h"
#include "emulator/exec/wgmma_rules.h"

#include <bit>

namespace fp8jit::emulator {

static bool isPlainExit(const Warp &warp, const Step &step) {
  const Op op = step.instruction->op;
  const bool endsThread =
      op == Op::Exit || (op == Op::Ret && warp.block->launch->kernel.functions.empty());
  return endsThread && step.instruction->guard == kNoSlot;
}

/// The pc of the instruction that follows `step`.
static std::uint32_t pcAfter(const Warp &warp, const Step &step) {
  return static_cast<std::uint32_t>(&step - warp.block->launch->steps.data()) + 1;
}

/// Continues with the lanes of `mask` at `target` and the other active lanes at `fallThrough`.
/// Lanes that would do nothing but exit exit at once, so that an early return does not keep a warp
/// split in two.
static Outcome diverge(Warp &warp, const Step &step, LaneMask mask, std::uint32_t target,
                       std::uint32_t fallThrough) {
  const std::vector<Step> &steps = warp.block->launch->steps;
  const LaneMask rest = warp.active & ~mask;
  if (isPlainExit(warp, steps[target])) {
    warp.pc = fallThrough;
    return exitLanes(warp, *step.instruction, mask);
  }
  if (isPlainExit(warp, steps[fallThrough])) {
    warp.pc = target;
    const Outcome outcome = exitLanes(warp, *step.instruction, rest);
    return outcome == Outcome::Stop ? outcome : Outcome::Reschedule;
  }
  warp.others.push_back({.mask = rest, .pc = fallThrough});
  warp.active = mask;
  warp.pc = target;
  return Outcome::Reschedule;
}

/// Continues with the whole running split at `target`.
static Outcome jumpTo(Warp &warp, const Step &step, std::uint32_t target) {
  warp.pc = target;
  const bool mayReschedule = !warp.others.empty() && target < pcAfter(warp, step);
  return mayReschedule ? Outcome::Reschedule : Outcome::Jump;
}

static Outcome branch(Warp &warp, const Step &step, LaneMask mask) {
  const std::uint32_t target = step.instruction->target;
  if (mask == warp.active) {
    return jumpTo(warp, step, target);
  }
  if (step.instruction->mods.uniform &&
      warp.block->launch->findings.add(
          warp, *step.instruction, mask, Fault::IllegalInstruction, Severity::Finding,
          "is marked uniform, but only some lanes take it") == Outcome::Stop) {
    return Outcome::Stop;
  }
  return diverge(warp, step, mask, target, pcAfter(warp, step));
}

static Outcome branchIndexed(Warp &warp, const Step &step, LaneMask mask) {
  const Instruction &instruction = *step.instruction;
  LaunchContext &launch = *warp.block->launch;
  const std::uint32_t *index = warp.lanes<const std::uint32_t>(step.operand[0]);
  const LaneMask rest = warp.active & ~mask;
  if (rest != 0) {
    warp.others.push_back({.mask = rest, .pc = pcAfter(warp, step)});
  }
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (((mask >> lane) & 1U) == 0) {
      continue;
    }
    if (index[lane] >= static_cast<std::uint64_t>(instruction.immediate2)) {
      return launch.findings.add(warp, instruction, LaneMask{1} << lane, Fault::IllegalInstruction,
                                 Severity::HardwareFault,
                                 "takes entry " + std::to_string(index[lane]) + " of " +
                                     std::to_string(instruction.immediate2) + " targets");
    }
    const std::size_t entry = static_cast<std::size_t>(instruction.immediate) + index[lane];
    warp.others.push_back({.mask = LaneMask{1} << lane, .pc = launch.kernel.branchTargets[entry]});
  }
  warp.active = 0; // the scheduler merges the splits that go to one target
  return Outcome::Reschedule;
}

/// Stack bytes of a return address; they end every recursion, also one without variables.
static constexpr std::uint32_t kReturnBytes = 8;

/// Pushes the caller's values of what `function` uses, for each lane of `mask`; the first lane
/// whose stack overflows, or kLanes.
static unsigned saveRegisters(Warp &warp, const DeviceFunction &function, std::uint32_t index,
                              std::uint32_t returnPc, LaneMask mask) {
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    CallStack &stack = warp.calls[lane];
    stack.bytes += function.frameBytes + kReturnBytes;
    if (stack.bytes > kStackBytes) {
      return lane;
    }
    for (const std::uint32_t slot : function.slots) {
      stack.words.push_back(warp.lanes<std::uint32_t>(slot * kSlotBytes)[lane]);
    }
    for (const std::uint32_t slot : function.wideSlots) {
      const std::uint64_t value = warp.lanes<std::uint64_t>(slot * kSlotBytes)[lane];
      stack.words.push_back(static_cast<std::uint32_t>(value));
      stack.words.push_back(static_cast<std::uint32_t>(value >> 32));
    }
    for (const std::uint32_t predicate : function.predicates) {
      stack.words.push_back((warp.predicates[predicate] >> lane) & 1U);
    }
    stack.words.push_back(returnPc);
    stack.words.push_back(index);
  }
  return kLanes;
}

/// Pops one lane's call; returns the pc behind it.
static std::uint32_t restoreRegisters(Warp &warp, unsigned lane) {
  CallStack &stack = warp.calls[lane];
  const auto pop = [&stack] {
    const std::uint32_t word = stack.words.back();
    stack.words.pop_back();
    return word;
  };
  const DeviceFunction &function = warp.block->launch->kernel.functions[pop()];
  const std::uint32_t returnPc = pop();
  for (auto p = function.predicates.rbegin(); p != function.predicates.rend(); ++p) {
    const LaneMask bit = LaneMask{1} << lane;
    warp.predicates[*p] = (warp.predicates[*p] & ~bit) | (pop() << lane);
  }
  for (auto slot = function.wideSlots.rbegin(); slot != function.wideSlots.rend(); ++slot) {
    const std::uint64_t high = pop();
    warp.lanes<std::uint64_t>(*slot * kSlotBytes)[lane] = (high << 32) | pop();
  }
  for (auto slot = function.slots.rbegin(); slot != function.slots.rend(); ++slot) {
    warp.lanes<std::uint32_t>(*slot * kSlotBytes)[lane] = pop();
  }
  stack.bytes -= function.frameBytes + kReturnBytes;
  return returnPc;
}

static Outcome callFunction(Warp &warp, const Step &step, LaneMask mask) {
  const Instruction &instruction = *step.instruction;
  LaunchContext &launch = *warp.block->launch;
  const auto index = static_cast<std::uint32_t>(instruction.immediate);
  const DeviceFunction &function = launch.kernel.functions[index];
  const unsigned full = saveRegisters(warp, function, index, pcAfter(warp, step), mask);
  if (full != kLanes) {
    return launch.findings.add(warp, instruction, LaneMask{1} << full, Fault::IllegalAddress,
                               Severity::HardwareFault,
                               "overflows the stack of its thread: \"" + function.name +
                                   "\" needs more than " + std::to_string(kStackBytes) + " bytes");
  }
  return mask == warp.active ? jumpTo(warp, step, instruction.target)
                             : diverge(warp, step, mask, instruction.target, pcAfter(warp, step));
}

static Outcome exitThreads(Warp &warp, const Step &step, LaneMask mask) {
  warp.pc = pcAfter(warp, step);
  return exitLanes(warp, *step.instruction, mask);
}

/// Ret: behind the call that each lane is in. A kernel's own code is in no call, so that its lanes
/// exit together.
static Outcome returnFromCall(Warp &warp, const Step &step, LaneMask mask) {
  if (warp.calls[static_cast<unsigned>(std::countr_zero(mask))].words.empty()) {
    return exitThreads(warp, step, mask);
  }
  const LaneMask rest = warp.active & ~mask;
  if (rest != 0) {
    warp.others.push_back({.mask = rest, .pc = pcAfter(warp, step)});
  }
  const std::size_t before = warp.others.size();
  for (LaneMask lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    const std::uint32_t returnPc = restoreRegisters(warp, lane);
    if (warp.others.size() > before && warp.others.back().pc == returnPc) {
      warp.others.back().mask |= LaneMask{1} << lane;
    } else {
      warp.others.push_back({.mask = LaneMask{1} << lane, .pc = returnPc});
    }
  }
  warp.active = 0; // the scheduler merges the splits that return to one place
  return Outcome::Reschedule;
}

/// The last lanes of `warp` exit; with the last warp the block ends.
static Outcome leaveBlock(Warp &warp) {
  Block &block = *warp.block;
  PendingOperations &pending = block.cluster->pending;
  block.cluster->noteProgress();
  if (pending.leave(warp) == Outcome::Stop) {
    return Outcome::Stop;
  }
  if (--block.liveWarps > 0) {
    return Outcome::Next;
  }
  if (pending.leave(block) == Outcome::Stop) {
    return Outcome::Stop;
  }
  block.state = BlockState::Exited;
  return Outcome::Next;
}

Outcome exitLanes(Warp &warp, const Instruction &instruction, LaneMask lanes) {
  Findings &findings = warp.block->launch->findings;
  for (std::size_t i = warp.async.first; i < warp.async.copies.size(); ++i) {
    const PendingCopy &copy = warp.async.copies[i];
    if ((copy.lanes & lanes) == 0) {
      continue;
    }
    if (findings.add(warp, *copy.step->instruction, copy.lanes & lanes, Fault::IllegalInstruction,
                     Severity::Finding,
                     "is never waited for: the thread exits while the copy is pending") ==
        Outcome::Stop) {
      return Outcome::Stop;
    }
    break;
  }
  for (Split &split : warp.others) {
    if (split.isParked && split.isAligned) {
      const std::uint32_t line = warp.block->launch->steps[split.pc].instruction->line;
      if (findings.add(warp, instruction, lanes, Fault::IllegalInstruction, Severity::Finding,
                       "leaves while other threads of its warp wait for it at the aligned "
                       "instruction of PTX line " +
                           std::to_string(line)) == Outcome::Stop) {
        return Outcome::Stop;
      }
    }
    split.isParked = false; // fewer lanes to wait for
  }
  if (warp.live == lanes &&
      (leaveWarpgroup(warp, instruction) == Outcome::Stop || leaveBlock(warp) == Outcome::Stop)) {
    return Outcome::Stop;
  }
  warp.live &= ~lanes;
  warp.active &= ~lanes;
  leaveClusterBarrier(*warp.block->cluster);
  if (warp.live == 0) {
    if (warp.block->race != nullptr) {
      warp.block->race->warpExit(warp);
    }
    leaveBarriers(*warp.block);
  }
  return warp.active == 0 ? Outcome::Reschedule : Outcome::Jump;
}

static Outcome trap(Warp &warp, const Step &step, LaneMask mask) {
  return warp.block->launch->findings.add(warp, *step.instruction, mask, Fault::Trap,
                                          Severity::HardwareFault, "was executed");
}

static Outcome doNothing(Warp &, const Step &, LaneMask) {
  return Outcome::Next;
}

/// Memory is sequentially consistent here: only the race checks care.
static Outcome fence(Warp &warp, const Step &step, LaneMask) {
  if (warp.block->race != nullptr) {
    warp.block->race->fence(warp, step.instruction->mods.semantics);
  }
  return Outcome::Next;
}

static Outcome yield(Warp &, const Step &, LaneMask) {
  return Outcome::Yield;
}

template <typename Storage>
static void broadcast(Warp &warp, std::uint32_t operand, Storage value, LaneMask mask) {
  Storage *lanes = warp.lanes<Storage>(operand);
  for (unsigned i = 0; i < kLanes; ++i) {
    lanes[i] = ((mask >> i) & 1U) != 0 ? value : lanes[i];
  }
}

/// Clocks count warp instructions of the launch: monotonic, but no measure of time.
static Outcome readSpecial(Warp &warp, const Step &step, LaneMask mask) {
  const std::uint64_t ticks = ++warp.block->launch->clockTicks;
  const auto special = static_cast<Special>(step.instruction->immediate);
  const bool isHigh = special == Special::ClockHi || special == Special::GlobalTimerHi;
  if (step.instruction->dstBits == 64) {
    broadcast<std::uint64_t>(warp, step.operand[0], ticks, mask);
  } else {
    broadcast(warp, step.operand[0], static_cast<std::uint32_t>(isHigh ? ticks >> 32 : ticks),
              mask);
  }
  return Outcome::Next;
}

/// createpolicy: a value that only instructions with a cache hint take, which ignore it.
static Outcome createPolicy(Warp &warp, const Step &step, LaneMask mask) {
  broadcast<std::uint64_t>(warp, step.operand[0], 0, mask);
  return Outcome::Next;
}

static Outcome activeMask(Warp &warp, const Step &step, LaneMask mask) {
  broadcast(warp, step.operand[0], mask, mask);
  return Outcome::Next;
}

Outcome requireWarp(Warp &warp, const Step &step, LaneMask mask) {
  if (mask == kAllLanes) [[likely]] {
    return Outcome::Next;
  }
  if ((warp.live & ~mask) != 0) {
    return Outcome::Park;
  }
  return warp.block->launch->findings.add(
      warp, *step.instruction, mask, Fault::IllegalInstruction, Severity::Finding,
      "needs all 32 threads of its warp, but some have exited or do not exist");
}

Handler selectControl(const Instruction &instruction) {
  switch (instruction.op) {
  case Op::Bra:
    return &branch;
  case Op::BrxIdx:
    return &branchIndexed;
  case Op::Call:
    return &callFunction;
  case Op::Ret:
    return &returnFromCall;
  case Op::Exit:
    return &exitThreads;
  case Op::Trap:
    return &trap;
  case Op::Membar:
    return &fence;
  case Op::Nop:
  case Op::Prefetch:
    return &doNothing;
  case Op::Nanosleep:
    return &yield;
  case Op::ReadSpecial:
    return &readSpecial;
  case Op::CreatePolicy:
    return &createPolicy;
  case Op::Activemask:
    return &activeMask;
  default: // the other groups
    return nullptr;
  }
}

} // namespace fp8jit::emulator
