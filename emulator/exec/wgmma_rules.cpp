// Registers in use, fences, and the agreement of the four warps of a warp group.
#include "emulator/exec/wgmma_rules.h"

#include "emulator/exec/block.h"
#include "emulator/exec/instruction_class.h"

#include <algorithm>

namespace fp8jit::emulator {

static Outcome reportRule(const Warp &warp, const Instruction &instruction,
                          const std::string &what) {
  return warp.block->launch->findings.add(warp, instruction, kAllLanes, Fault::IllegalInstruction,
                                          Severity::Finding, what);
}

static std::uint32_t lineOf(const Warp &warp, std::uint32_t pc) {
  return warp.block->launch->steps[pc].instruction->line;
}

static std::uint32_t pcOf(const Warp &warp, const Step &step) {
  return static_cast<std::uint32_t>(&step - warp.block->launch->steps.data());
}

/// The tracked registers of `warp`, by slot.
static std::vector<WarpgroupRegister> &trackedRegisters(Warp &warp) {
  std::vector<WarpgroupRegister> &registers = warp.warpgroup.registers;
  if (registers.empty()) {
    registers.resize(warp.block->launch->kernel.slotCount);
  }
  return registers;
}

/// The handler of guarded steps.
static Outcome checkAccess(Warp &warp, const Step &step, LaneMask mask) {
  const WarpgroupGuards &guards = warp.block->launch->plan.prepared->warpgroupGuards;
  const Instruction &instruction = *step.instruction;
  std::vector<WarpgroupRegister> &registers = trackedRegisters(warp);
  const unsigned count = instruction.numDst + instruction.numSrc;
  for (unsigned i = 0; i < count; ++i) {
    if (step.operands[i] == kNoSlot || isPredicateOperand(instruction, i) ||
        !guards.slots[step.operands[i] / kSlotBytes]) {
      continue;
    }
    WarpgroupRegister &state = registers[step.operands[i] / kSlotBytes];
    if (state.group > warp.warpgroup.waited &&
        reportRule(warp, instruction,
                   std::string(i < instruction.numDst ? "writes" : "reads") +
                       " a register that the wgmma of PTX line " +
                       std::to_string(lineOf(warp, state.usedPc)) +
                       " is using: no wgmma.wait_group covers it yet") == Outcome::Stop) {
      return Outcome::Stop;
    }
    state.touchedEpoch = warp.warpgroup.epoch;
    state.touchedLine = instruction.line;
  }
  return guards.handlers[pcOf(warp, step)](warp, step, mask);
}

void guardWarpgroupRegisters(const Kernel &kernel, PreparedKernel &prepared) {
  WarpgroupGuards &guards = prepared.warpgroupGuards;
  const auto markSlot = [&](std::uint32_t operand) {
    guards.slots.resize(kernel.slotCount);
    guards.slots[operand / kSlotBytes] = true;
  };
  for (const Step &step : prepared.steps) {
    if (step.instruction->op == Op::Wgmma) {
      const unsigned count =
          step.instruction->numDst + (hasRegistersA(step) ? kWgmmaRegistersA : 0U);
      std::for_each_n(step.operands, count, markSlot);
    }
  }
  if (guards.slots.empty()) {
    return;
  }
  guards.handlers.resize(prepared.steps.size());
  for (std::size_t pc = 0; pc < prepared.steps.size(); ++pc) {
    Step &step = prepared.steps[pc];
    const Instruction &instruction = *step.instruction;
    bool isGuarded = false;
    for (unsigned i = 0; i < instruction.numDst + instruction.numSrc; ++i) {
      isGuarded |= step.operands[i] != kNoSlot && !isPredicateOperand(instruction, i) &&
                   guards.slots[step.operands[i] / kSlotBytes];
    }
    if (isGuarded && instruction.op != Op::Wgmma) {
      guards.handlers[pc] = step.handler;
      step.handler = &checkAccess;
    }
  }
}

/// Rule 1 for one register of a wgmma; empty if it holds.
static std::string findFenceProblem(const Warp &warp, const WarpgroupRegister &state,
                                    const Instruction &instruction, bool isAccumulator) {
  if (state.touchedEpoch == warp.warpgroup.epoch) {
    return "uses a register that PTX line " + std::to_string(state.touchedLine) +
           " accessed after the latest wgmma.fence";
  }
  if (state.usedEpoch != warp.warpgroup.epoch || (!isAccumulator && !state.isAccumulator)) {
    return {};
  }
  const Instruction &earlier = *warp.block->launch->steps[state.usedPc].instruction;
  const bool isSameShape = earlier.mods.n == instruction.mods.n &&
                           earlier.mods.k == instruction.mods.k && earlier.type == instruction.type;
  if (isAccumulator && state.isAccumulator && isSameShape) {
    return {};
  }
  return "uses a register that the wgmma of PTX line " + std::to_string(earlier.line) +
         " uses in another way, without a wgmma.fence between them";
}

/// Rule 1 for all registers, and notes their use.
static Outcome noteRegisters(Warp &warp, const Step &step) {
  const Instruction &instruction = *step.instruction;
  WarpgroupState &group = warp.warpgroup;
  if (group.epoch == 0) {
    group.epoch = 1; // reported once in Report mode
    if (reportRule(warp, instruction,
                   "is the first of its warp and needs a wgmma.fence before it") == Outcome::Stop) {
      return Outcome::Stop;
    }
  }
  std::vector<WarpgroupRegister> &registers = trackedRegisters(warp);
  const std::uint32_t pc = pcOf(warp, step);
  const unsigned count = instruction.numDst + (hasRegistersA(step) ? kWgmmaRegistersA : 0U);
  for (unsigned i = 0; i < count; ++i) {
    const bool isAccumulator = i < instruction.numDst;
    WarpgroupRegister &state = registers[step.operands[i] / kSlotBytes];
    if (state.touchedEpoch == group.epoch || state.usedEpoch == group.epoch) {
      const std::string problem = findFenceProblem(warp, state, instruction, isAccumulator);
      if (!problem.empty() && reportRule(warp, instruction, problem) == Outcome::Stop) {
        return Outcome::Stop;
      }
    }
    state.group = warp.wgmmaGroups + 1;
    state.usedEpoch = group.epoch;
    state.usedPc = pc;
    state.isAccumulator = isAccumulator;
  }
  return Outcome::Next;
}

static std::string findDifference(const Warp &warp, const WarpgroupIssue &first,
                                  const WarpgroupIssue &mine) {
  if (first.pc != mine.pc) {
    return "is executed where another warp of the warp group executed that of PTX line " +
           std::to_string(lineOf(warp, first.pc));
  }
  if (first.descriptorA != mine.descriptorA || first.descriptorB != mine.descriptorB) {
    return std::string("has another descriptor of ") +
           (first.descriptorA != mine.descriptorA ? "A" : "B") +
           " than in another warp of the warp group";
  }
  return first.accumulate != mine.accumulate
             ? "has another scale-d than in another warp of the warp group"
             : "";
}

/// Rule 3 while warps issue.
static Outcome noteIssue(Warp &warp, const Step &step, const WarpgroupIssue &issue) {
  std::vector<Warp> &warps = warp.block->warps;
  Warp *const members = &warps[warp.index / kWarpsPerGroup * kWarpsPerGroup];
  WarpgroupState &leader = members->warpgroup;
  const std::uint32_t number = warp.warpgroup.issued - leader.firstIssue;
  if (number == leader.issues.size()) {
    leader.issues.push_back(issue);
  }
  const std::string difference = findDifference(warp, leader.issues[number], issue);
  if (!difference.empty() && reportRule(warp, *step.instruction, difference) == Outcome::Stop) {
    return Outcome::Stop;
  }
  ++warp.warpgroup.issued;
  std::uint32_t common = UINT32_MAX;
  for (std::uint32_t i = 0; i < kWarpsPerGroup; ++i) {
    const Warp &member = members[i];
    common = std::min(common, member.warpgroup.issued);
    if (member.live == 0 && member.warpgroup.issued < warp.warpgroup.issued &&
        reportRule(warp, *step.instruction,
                   "needs the four warps of the warp group, but warp " +
                       std::to_string(member.index) + " has exited") == Outcome::Stop) {
      return Outcome::Stop;
    }
  }
  leader.issues.erase(leader.issues.begin(), leader.issues.begin() + (common - leader.firstIssue));
  leader.firstIssue = common;
  return Outcome::Next;
}

Outcome checkWarpgroupIssue(Warp &warp, const Step &step, const WarpgroupIssue &issue) {
  if ((warp.index | (kWarpsPerGroup - 1)) >= warp.block->warps.size()) {
    const Outcome outcome =
        reportRule(warp, *step.instruction,
                   "needs the four warps of a warp group, but the block has only " +
                       std::to_string(warp.block->warps.size()) + " warps");
    return outcome == Outcome::Stop ? outcome : noteRegisters(warp, step);
  }
  const Outcome outcome = noteIssue(warp, step, issue);
  return outcome == Outcome::Stop ? outcome : noteRegisters(warp, step);
}

Outcome leaveWarpgroup(Warp &warp, const Instruction &exit) {
  const WarpgroupState &group = warp.warpgroup;
  if (group.issued == 0 && warp.block->launch->plan.prepared->warpgroupGuards.slots.empty()) {
    return Outcome::Next;
  }
  if ((group.isGroupOpen || group.waited < warp.wgmmaGroups) &&
      reportRule(warp, exit,
                 "leaves while the wgmma of PTX line " +
                     std::to_string(lineOf(warp, group.latestPc)) +
                     " is pending: no wgmma.wait_group covers it") == Outcome::Stop) {
    return Outcome::Stop;
  }
  std::vector<Warp> &warps = warp.block->warps;
  const std::uint32_t first = warp.index / kWarpsPerGroup * kWarpsPerGroup;
  const WarpgroupState &leader = warps[first].warpgroup;
  const std::uint32_t number = group.issued - leader.firstIssue;
  if (number < leader.issues.size()) {
    return reportRule(warp, exit,
                      "leaves without the wgmma of PTX line " +
                          std::to_string(lineOf(warp, leader.issues[number].pc)) +
                          " that another warp of the warp group executed");
  }
  return Outcome::Next;
}

} // namespace fp8jit::emulator
