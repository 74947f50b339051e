// Groups of bulk and tensor copies that a thread waits for (PTX ISA, "cp.async.bulk.commit_group",
// "cp.async.bulk.wait_group").
#include "emulator/exec/cluster.h"
#include "emulator/exec/race_checker.h"
#include "emulator/exec/tensor_copy.h"

namespace fp8jit::emulator {

static Outcome commitGroup(Warp &warp, const Step &, LaneMask mask) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    warp.bulkGroups[lane] += (mask >> lane) & 1U;
  }
  if (RaceChecker *race = warp.block->race) {
    race->bulkCommit(warp, mask);
  }
  return Outcome::Next;
}

static Outcome waitGroup(Warp &warp, const Step &step, LaneMask mask) {
  const auto pending = static_cast<std::uint64_t>(step.instruction->immediate);
  const bool readOnly = step.instruction->mods.readOnly;
  const Outcome outcome = warp.block->cluster->pending.waitGroups(
      warp, mask, CompletionKind::BulkGroup, pending, readOnly);
  if (RaceChecker *race = warp.block->race; race != nullptr && outcome != Outcome::Stop) {
    race->bulkWait(warp, mask, pending, readOnly);
  }
  return outcome;
}

Handler selectBulkGroup(const Instruction &instruction) {
  return instruction.op == Op::BulkCommit ? commitGroup
         : instruction.op == Op::BulkWait ? waitGroup
                                          : nullptr;
}

} // namespace fp8jit::emulator
