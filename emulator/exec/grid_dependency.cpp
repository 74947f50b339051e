// griddepcontrol, and the accesses that need it.
#include "emulator/exec/grid_dependency.h"

#include "emulator/exec/block.h"
#include "emulator/exec/handlers.h"

#include <cinttypes>
#include <cstdio>

namespace fp8jit::emulator {

Outcome watchGlobal(Warp &warp, const Step &step, unsigned lane, std::uint64_t address,
                    std::uint64_t bytes, bool isWrite) {
  LaunchContext &launch = *warp.block->launch;
  if (isWrite && launch.request.recordsWrites) {
    launch.writes.add(address, address + bytes);
  }
  const ByteRanges *earlier = launch.request.earlierWrites.get();
  if (earlier == nullptr || warp.block->hasWaitedForGrid ||
      !earlier->overlaps(address, address + bytes)) {
    return Outcome::Next;
  }
  char text[192];
  std::snprintf(text, sizeof text,
                "%s %" PRIu64 " bytes at 0x%" PRIx64
                ", which the launch ahead in the stream wrote, "
                "before griddepcontrol.wait",
                isWrite ? "writes" : "reads", bytes, address);
  return launch.findings.add(warp, *step.instruction, LaneMask{1} << lane, Fault::DataRace,
                             Severity::Finding, text);
}

static Outcome waitForGrid(Warp &warp, const Step &, LaneMask) {
  warp.block->hasWaitedForGrid = true;
  return Outcome::Next;
}

static Outcome launchDependents(Warp &, const Step &, LaneMask) {
  return Outcome::Next; // launches run one after the other
}

Handler selectGridDependency(const Instruction &instruction) {
  return instruction.op == Op::GridDependencyWait     ? waitForGrid
         : instruction.op == Op::GridDependencyLaunch ? launchDependents
                                                      : nullptr;
}

} // namespace fp8jit::emulator
