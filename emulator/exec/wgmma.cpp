// wgmma.mma_async, fence, commit_group and wait_group (PTX ISA, "Asynchronous Warpgroup Level
// Matrix Instructions"). Every warp executes its 16 rows; the rules are in wgmma_rules.h.
#include "emulator/exec/block.h"
#include "emulator/exec/cluster.h"
#include "emulator/exec/handlers.h"
#include "emulator/exec/race_checker.h"
#include "emulator/exec/tensor_function.h"
#include "emulator/exec/wgmma_operation.h"
#include "emulator/exec/wgmma_rules.h"

#include <algorithm>

namespace fp8jit::emulator {

static Outcome reportWgmma(const Warp &warp, const Step &step, const std::string &what) {
  return warp.block->launch->findings.add(warp, *step.instruction, kAllLanes,
                                          Fault::IllegalInstruction, Severity::Finding, what);
}

static std::string descriptorText(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%016llx", static_cast<unsigned long long>(value));
  return text;
}

/// Reads the descriptor of matrix `name` from register `operand`; Stop if a finding ends the
/// launch.
static Outcome readDescriptor(const Warp &warp, const Step &step, std::uint32_t operand,
                              const char *name, std::uint64_t &bits) {
  const auto *lanes = warp.lanes<const std::uint64_t>(operand);
  bits = lanes[0];
  if (!std::all_of(lanes, lanes + kLanes, [bits](std::uint64_t lane) { return lane == bits; }) &&
      reportWgmma(warp, step,
                  std::string("has different descriptors of ") + name +
                      " in the lanes of a warp") == Outcome::Stop) {
    return Outcome::Stop;
  }
  const char *problem = descriptorError(bits);
  return problem == nullptr
             ? Outcome::Next
             : reportWgmma(warp, step,
                           std::string("has the descriptor ") + descriptorText(bits) + " of " +
                               name + ": " + problem);
}

/// Reads scale-d, which is a predicate.
static Outcome readScale(const Warp &warp, const Step &step, bool &accumulate) {
  const Instruction &instruction = *step.instruction;
  const std::uint32_t index = step.operands[instruction.numDst + instruction.numSrc - 1];
  const LaneMask lanes =
      warp.predicates[index] ^ (instruction.mods.negateSource ? kAllLanes : LaneMask{0});
  accumulate = (lanes & 1U) != 0;
  return lanes == 0 || lanes == kAllLanes
             ? Outcome::Next
             : reportWgmma(warp, step, "has different values of scale-d in the lanes of a warp");
}

static std::uint32_t elementBytesOf(const Instruction &instruction) {
  return kOperandRowBytes / instruction.mods.k;
}

/// Builds the operation from checked values, has it check its operands, and issues it.
static Outcome issueOperation(Warp &warp, const Step &step, const WarpgroupIssue &values) {
  const Instruction &instruction = *step.instruction;
  OperandTile a;
  if (!hasRegistersA(step)) {
    a = {.descriptor = decodeDescriptor(values.descriptorA),
         .major = instruction.mods.transposeA ? Major::MN : Major::K,
         .firstRow = warp.index % kWarpsPerGroup * WgmmaOperation::kRowsA,
         .rows = WgmmaOperation::kRowsA,
         .elementBytes = elementBytesOf(instruction)};
  }
  const OperandTile b{.descriptor = decodeDescriptor(values.descriptorB),
                      .major = instruction.mods.transposeB ? Major::MN : Major::K,
                      .rows = instruction.mods.n,
                      .elementBytes = elementBytesOf(instruction)};
  auto operation = std::make_unique<WgmmaOperation>(
      AsyncIssue{.warp = &warp, .step = &step, .completion = CompletionKind::WgmmaGroup}, a, b,
      values.accumulate);
  if (operation->checkBounds() == Outcome::Stop || operation->noteReads() == Outcome::Stop) {
    return Outcome::Stop;
  }
  return warp.block->cluster->issue(std::move(operation));
}

static Outcome multiplyWgmma(Warp &warp, const Step &step, LaneMask mask) {
  const Outcome converged = requireWarp(warp, step, mask);
  if (converged != Outcome::Next) {
    return converged;
  }
  const Instruction &instruction = *step.instruction;
  const std::uint32_t *sources = step.operands + instruction.numDst;
  WarpgroupIssue values{.pc = static_cast<std::uint32_t>(&step - warp.block->launch->steps.data())};
  const bool hasDescriptorA = !hasRegistersA(step);
  if (hasDescriptorA &&
      readDescriptor(warp, step, sources[0], "A", values.descriptorA) == Outcome::Stop) {
    return Outcome::Stop;
  }
  const std::uint32_t operandB = sources[instruction.numSrc - 2];
  if (readDescriptor(warp, step, operandB, "B", values.descriptorB) == Outcome::Stop ||
      readScale(warp, step, values.accumulate) == Outcome::Stop ||
      checkWarpgroupIssue(warp, step, values) == Outcome::Stop) {
    return Outcome::Stop;
  }
  warp.warpgroup.isGroupOpen = true;
  warp.warpgroup.latestPc = values.pc;
  return issueOperation(warp, step, values);
}

static Outcome fenceWgmma(Warp &warp, const Step &step, LaneMask mask) {
  const Outcome converged = requireWarp(warp, step, mask);
  if (converged == Outcome::Next) {
    ++warp.warpgroup.epoch;
  }
  return converged;
}

static Outcome commitWgmma(Warp &warp, const Step &step, LaneMask mask) {
  const Outcome converged = requireWarp(warp, step, mask);
  if (converged != Outcome::Next) {
    return converged;
  }
  if (RaceChecker *race = warp.block->race) {
    race->wgmmaCommit(warp);
  }
  ++warp.wgmmaGroups;
  warp.warpgroup.isGroupOpen = false;
  return Outcome::Next;
}

static Outcome waitWgmma(Warp &warp, const Step &step, LaneMask mask) {
  const Outcome converged = requireWarp(warp, step, mask);
  if (converged != Outcome::Next) {
    return converged;
  }
  const auto pending = static_cast<std::uint32_t>(step.instruction->immediate);
  if (RaceChecker *race = warp.block->race) {
    race->wgmmaWait(warp, pending);
  }
  const std::uint32_t complete = warp.wgmmaGroups - std::min(warp.wgmmaGroups, pending);
  warp.warpgroup.waited = std::max(warp.warpgroup.waited, complete);
  return warp.block->cluster->pending.waitGroups(warp, mask, CompletionKind::WgmmaGroup, pending,
                                                 false);
}

Handler selectWarpgroup(const Instruction &instruction) {
  switch (instruction.op) {
  case Op::Wgmma:
    return &multiplyWgmma;
  case Op::WgmmaFence:
    return &fenceWgmma;
  case Op::WgmmaCommit:
    return &commitWgmma;
  case Op::WgmmaWait:
    return &waitWgmma;
  default: // another group's
    return nullptr;
  }
}

} // namespace fp8jit::emulator
