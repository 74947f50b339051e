// What the race checks say (race_checker.h).
#include "emulator/exec/block.h"
#include "emulator/exec/race_checker.h"

#include <algorithm>
#include <bit>
#include <cstdio>

namespace fp8jit::emulator {

bool RaceChecker::isNewPair(std::uint32_t earlierPc, std::uint32_t pc, RaceVerdict verdict) {
  const auto [first, second] = std::minmax(earlierPc, pc);
  return reported_.insert({first, second, static_cast<std::uint32_t>(verdict)}).second;
}

std::string RaceChecker::instructionText(std::uint32_t pc) const {
  if (pc >= steps_.size()) {
    return "an instruction far behind";
  }
  const Instruction &instruction = *steps_[pc].instruction;
  return "PTX line " + std::to_string(instruction.line) + ": " + instructionName(instruction);
}

static const char *verb(RaceAccess kind) {
  switch (kind) {
  case RaceAccess::Read:
  case RaceAccess::StrongRead:
    return "reads";
  case RaceAccess::Update:
    return "updates";
  case RaceAccess::Write:
    return "writes";
  }
  return "accesses";
}

static const char *pastVerb(RaceAccess kind) {
  switch (kind) {
  case RaceAccess::Read:
  case RaceAccess::StrongRead:
    return "read";
  case RaceAccess::Update:
    return "updated";
  case RaceAccess::Write:
    return "written";
  }
  return "accessed";
}

/// "block (1,0,0), warp 3 (threads 96 to 127)".
static std::string warpText(const LaunchRequest &request, std::uint32_t block, std::uint32_t warp) {
  const Dim3 &shape = request.block;
  const std::uint32_t last = std::min((warp + 1) * kLanes, shape.x * shape.y * shape.z) - 1;
  return "warp " + std::to_string(warp) + " (threads " + std::to_string(warp * kLanes) + " to " +
         std::to_string(last) + ") of block rank " + std::to_string(block);
}

const RaceChecker::Component &RaceChecker::culprit(const RaceProbe &probe) const {
  const RaceRecord &record = probe.earlier;
  std::uint32_t component = record.firstComponent();
  for (std::uint32_t mask = record.mask(); mask != 0; mask &= mask - 1) {
    component = record.firstComponent() + static_cast<std::uint32_t>(std::countr_zero(mask));
    if (!probe.order->all.covers({.component = component, .clock = record.clock()})) {
      break;
    }
  }
  return components_[component];
}

std::string RaceChecker::earlierText(const RaceProbe &probe) const {
  const RaceRecord &record = probe.earlier;
  const Component &component = culprit(probe);
  std::string text = std::string(pastVerb(record.kind())) + " by ";
  switch (component.part) {
  case Part::Warp:
  case Part::Inits:
    break;
  case Part::Wgmma:
    text += "the wgmma of ";
    break;
  case Part::Copies:
    text += "the cp.async of ";
    break;
  case Part::Bulk:
    text += "the bulk copy of ";
    break;
  case Part::BarrierCopies: {
    char place[96];
    std::snprintf(place, sizeof(place),
                  "the copy that completes on the mbarrier at shared offset 0x%x of block rank %u",
                  component.index, component.block);
    return text + place + " at " + instructionText(record.pc());
  }
  }
  return text + warpText(request_, component.block, component.index) + " at " +
         instructionText(record.pc());
}

std::string RaceChecker::missingEdge(const RaceProbe &probe) const {
  if (probe.verdict == RaceVerdict::NoProxyFence) {
    return "no fence.proxy.async lies between the two";
  }
  switch (culprit(probe).part) {
  case Part::Warp:
  case Part::Inits:
    return "no barrier orders the two";
  case Part::Wgmma:
    return "no wgmma.wait_group and barrier after it order the two";
  case Part::Copies:
    return "no cp.async.wait_group and barrier after it order the two";
  case Part::Bulk:
    return "no cp.async.bulk.wait_group and barrier after it order the two";
  case Part::BarrierCopies:
    return "no wait on that mbarrier orders the two";
  }
  return "nothing orders the two";
}

Outcome RaceChecker::report(const Warp &warp, const Step &step, const Block &target, LaneMask lanes,
                            const RaceProbe &probe) {
  if (!isNewPair(probe.earlier.pc(), pcOf(step), probe.verdict)) {
    return Outcome::Next;
  }
  char place[96];
  std::snprintf(place, sizeof(place), "%s shared offset 0x%x", verb(probe.record.kind()),
                probe.offset);
  std::string text = place;
  if (target.rank != warp.block->rank) {
    text += " of block rank " + std::to_string(target.rank);
  }
  text += ", which is " + earlierText(probe) + ", and " + missingEdge(probe);
  return findings_.add(warp, *step.instruction, lanes, Fault::DataRace, Severity::Finding, text);
}

Outcome RaceChecker::checkInit(const Warp &warp, const Step &step, const Block &target,
                               std::uint32_t offset, bool isAsync) {
  const Mbarrier &barrier = mbarrierAt(target, offset);
  const RaceOrder &now = stateOf(warp).now;
  RaceVerdict verdict = RaceVerdict::Ordered;
  if (!now.all.covers(barrier.init)) {
    verdict = RaceVerdict::Unordered;
  } else if (isAsync && !now.asyncVisible.covers(barrier.init)) {
    verdict = RaceVerdict::NoProxyFence;
  }
  if (verdict == RaceVerdict::Ordered || !isNewPair(barrier.initPc, pcOf(step), verdict)) {
    return Outcome::Next;
  }
  char place[96];
  std::snprintf(place, sizeof(place), "uses the mbarrier at shared offset 0x%x of block rank %u",
                offset, target.rank);
  const char *missing =
      verdict == RaceVerdict::Unordered
          ? "no barrier lies between the two"
          : "no fence.proxy.async or fence.mbarrier_init makes that visible to copies";
  return findings_.add(warp, *step.instruction, warp.active, Fault::DataRace, Severity::Finding,
                       std::string(place) + ", which is initialised at " +
                           instructionText(barrier.initPc) + ", and " + missing);
}

} // namespace fp8jit::emulator
