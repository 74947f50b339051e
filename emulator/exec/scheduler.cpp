// Which lanes of a warp run next, and the loop that runs them. Main entry: runWarp.
//
// The split with the lowest pc runs until it reaches another split's pc, jumps back, parks, blocks
// or ends; splits that meet are merged. Compilers place reconvergence points behind both arms of a
// branch, so this order reconverges there. A split that runs kFairSlice instructions while another
// one could run gives way to it, so that lanes which spin on others make progress.
// Splits that wait for events (Outcome::Wait) stand aside until something changed; a warp is
// blocked when all of its splits wait or are parked, and one of them waits.
#include "emulator/exec/cluster.h"
#include "emulator/exec/instruction_class.h"
#include "emulator/exec/trace.h"

#include <algorithm>
#include <bit>
#include <cstdio>

namespace fp8jit::emulator {

static constexpr std::uint64_t kFairSlice = 4096;

/// Puts the running split back among the others; `outcome` is what its latest instruction gave.
static void suspend(Warp &warp, Outcome outcome) {
  if (warp.active == 0) {
    return;
  }
  Split split{.mask = warp.active, .pc = warp.pc, .mustAnswer = warp.mustAnswer};
  if (outcome == Outcome::Park) {
    split.isParked = true;
    split.isAligned = isAlignedOperation(*warp.block->launch->steps[warp.pc].instruction);
  } else if (outcome == Outcome::Wait) {
    split.isWaiting = true;
    split.wait = warp.wait;
  }
  warp.others.push_back(split);
  warp.active = 0;
}

/// Lets waiting splits look again if something has changed.
static void refreshWaits(Warp &warp) {
  const std::uint64_t wakeCount = warp.block->cluster->wakeCount;
  if (warp.seenWakeCount == wakeCount) {
    return;
  }
  warp.seenWakeCount = wakeCount;
  for (Split &split : warp.others) {
    split.isWaiting = false;
  }
}

/// Joins splits with equal pc. What was parked may go on if others arrived.
static void merge(Warp &warp) {
  std::vector<Split> &splits = warp.others;
  for (std::size_t i = 0; i < splits.size(); ++i) {
    for (std::size_t j = i + 1; j < splits.size();) {
      if (splits[j].pc != splits[i].pc) {
        ++j;
        continue;
      }
      splits[i].mask |= splits[j].mask;
      splits[i].isParked = splits[i].isWaiting = false;
      splits[i].mustAnswer |= splits[j].mustAnswer;
      splits[j] = splits.back();
      splits.pop_back();
    }
  }
}

/// Makes a split that can run the running one: the lowest pc, or with `after` the lowest above it
/// if there is one. False if all are parked or wait.
static bool pick(Warp &warp, const std::uint32_t *after) {
  std::vector<Split> &splits = warp.others;
  const auto end = splits.end();
  auto best = end;
  auto bestAfter = end;
  for (auto split = splits.begin(); split != end; ++split) {
    if (split->isParked || split->isWaiting) {
      continue;
    }
    best = best == end || split->pc < best->pc ? split : best;
    if (after != nullptr && split->pc > *after) {
      bestAfter = bestAfter == end || split->pc < bestAfter->pc ? split : bestAfter;
    }
  }
  const auto chosen = bestAfter != end ? bestAfter : best;
  if (chosen == end) {
    return false;
  }
  warp.active = chosen->mask;
  warp.pc = chosen->pc;
  warp.mustAnswer = chosen->mustAnswer;
  *chosen = splits.back();
  splits.pop_back();
  warp.stopPc = UINT32_MAX;
  for (const Split &split : splits) {
    if (split.pc > warp.pc) {
      warp.stopPc = std::min(warp.stopPc, split.pc);
    }
  }
  return true;
}

/// Executes from `step` on until `end` or an outcome other than Next; `step` becomes the one behind
/// the last that was issued.
static Outcome runStraight(Warp &warp, const Step *&step, const Step *end) {
  const LaneMask active = warp.active;
  const LaneMask *const predicates = warp.predicates;
  const Step *next = step;
  Outcome outcome = Outcome::Next;
  while (next != end && outcome == Outcome::Next) {
    const Step &current = *next++;
    LaneMask mask = active;
    if (current.guard != kNoSlot) {
      mask &= predicates[current.guard] ^ current.guardFlip;
      if (mask == 0) {
        continue;
      }
    }
    outcome = current.handler(warp, current, mask);
  }
  step = next;
  return outcome;
}

/// The same for a warp that is traced.
static Outcome runTraced(Warp &warp, const Step *&step, const Step *end) {
  Outcome outcome = Outcome::Next;
  while (step != end && outcome == Outcome::Next) {
    const Step &current = *step++;
    LaneMask mask = warp.active;
    if (current.guard != kNoSlot) {
      mask &= warp.predicates[current.guard] ^ current.guardFlip;
    }
    if (mask != 0) {
      outcome = executeTraced(warp, current, mask);
    }
  }
  return outcome;
}

/// Runs the running split; `slice` is reduced by the instructions issued. Next: used up.
static Outcome runSplit(Warp &warp, std::uint64_t &slice) {
  LaunchContext &launch = *warp.block->launch;
  const Step *const steps = launch.steps.data();
  const auto stepCount = static_cast<std::uint32_t>(launch.steps.size());
  Outcome outcome = Outcome::Jump;
  while (outcome == Outcome::Jump) {
    const std::uint32_t begin = warp.pc;
    if (slice == 0) {
      return Outcome::Next;
    }
    if (begin >= warp.stopPc) {
      return Outcome::Reschedule;
    }
    const std::uint64_t limit = std::min(warp.stopPc, stepCount) - begin;
    const Step *step = steps + begin;
    const Step *const stop = step + std::min(slice, limit);
    outcome = warp.isTraced ? runTraced(warp, step, stop) : runStraight(warp, step, stop);
    auto end = static_cast<std::uint32_t>(step - steps);
    slice -= end - begin;
    // Issued, but not executed.
    end -= outcome == Outcome::Park || outcome == Outcome::Wait ? 1 : 0;
    ++launch.countChanges[begin];
    --launch.countChanges[end];
    if (outcome != Outcome::Jump && outcome != Outcome::Reschedule) {
      warp.pc = end;
    }
    if (outcome == Outcome::Next) { // the slice's end, or another split's pc
      outcome = Outcome::Jump;
    }
  }
  return outcome;
}

static Outcome reportAllParked(Warp &warp) {
  LaunchContext &launch = *warp.block->launch;
  const Split &first = warp.others.front();
  const Instruction &instruction = *launch.steps[first.pc].instruction;
  std::string text = "waits for threads of its warp that never arrive; lanes wait at";
  for (const Split &split : warp.others) {
    char part[64];
    std::snprintf(part, sizeof(part), " PTX line %u (mask 0x%08x)",
                  launch.steps[split.pc].instruction->line, split.mask);
    text += part;
  }
  return launch.findings.add(warp, instruction, first.mask, Fault::IllegalInstruction,
                             Severity::HardwareFault, text);
}

/// No split can run: the warp is blocked if one of them waits for an event.
static Outcome blockOrReport(Warp &warp) {
  for (const Split &split : warp.others) {
    if (split.isWaiting) {
      warp.isBlocked = true;
      return Outcome::Blocked;
    }
  }
  return reportAllParked(warp);
}

Outcome runWarp(Warp &warp, std::uint64_t slice) {
  LaunchContext &launch = *warp.block->launch;
  const std::uint64_t before = slice;
  std::uint64_t fairLeft = kFairSlice; // until another split gets its turn
  Outcome outcome = Outcome::Next;
  while (slice != 0 && warp.live != 0) {
    const bool isSplit = !warp.others.empty();
    const std::uint64_t given = isSplit ? std::min(slice, fairLeft) : slice;
    std::uint64_t part = given;
    outcome = warp.active != 0 ? runSplit(warp, part) : Outcome::Reschedule;
    slice -= given - part;
    fairLeft -= isSplit ? given - part : 0;
    if (outcome == Outcome::Stop || outcome == Outcome::Blocked || outcome == Outcome::Yield) {
      break;
    }
    if (warp.live == 0) {
      outcome = Outcome::Next;
      break;
    }
    if (outcome == Outcome::Next && warp.others.empty()) {
      break;
    }
    const std::uint32_t after = warp.pc;
    const bool isRotation = fairLeft == 0;
    fairLeft = isRotation ? kFairSlice : fairLeft;
    refreshWaits(warp);
    suspend(warp, outcome);
    merge(warp);
    if (!pick(warp, isRotation ? &after : nullptr)) {
      outcome = blockOrReport(warp);
      break;
    }
  }
  const std::uint64_t used = before - slice;
  launch.budget -= std::min(launch.budget, used);
  launch.clockTicks += used;
  const bool mayGoOn =
      outcome == Outcome::Reschedule || outcome == Outcome::Park || outcome == Outcome::Wait;
  return mayGoOn ? Outcome::Next : outcome;
}

} // namespace fp8jit::emulator
