// What a checked access means to the race checker. Main entry: checkRaces.
#include "emulator/exec/access.h"
#include "emulator/exec/race_checker.h"

#include <bit>

namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET {

RaceAccess raceAccess(const Instruction &instruction, AccessKind kind) {
  const bool isWeak = instruction.mods.semantics == Semantics::None;
  switch (kind) {
  case AccessKind::Read:
    return isWeak ? RaceAccess::Read : RaceAccess::StrongRead;
  case AccessKind::Write:
    return isWeak ? RaceAccess::Write : RaceAccess::Update;
  case AccessKind::Update:
    break;
  }
  return RaceAccess::Update;
}

/// What an atomic or ordered access synchronises with.
static void noteOrder(RaceChecker &race, const Warp &warp, const Step &step, AccessKind kind,
                      const Span &span) {
  const Semantics semantics = step.instruction->mods.semantics;
  for (LaneMask rest = span.lanes; rest != 0; rest &= rest - 1) {
    const std::uint64_t offset = span.offset[std::countr_zero(rest)];
    const std::uint64_t word = span.owner != nullptr
                                   ? RaceChecker::sharedKey(*span.owner, offset)
                                   : reinterpret_cast<std::uint64_t>(span.data) + offset;
    if (kind != AccessKind::Write) {
      race.atomicRead(warp, word, semantics);
    }
    if (kind != AccessKind::Read) {
      race.atomicWrite(warp, word, semantics, kind == AccessKind::Update);
    }
  }
}

Outcome checkRaces(Warp &warp, const Step &step, AccessKind kind, const Span &span,
                   std::uint32_t sizeBytes) {
  RaceChecker *race = warp.block->race;
  if (race == nullptr) {
    return Outcome::Next;
  }
  if (span.owner != nullptr &&
      race->access(warp, step, *span.owner, raceAccess(*step.instruction, kind), span.offset,
                   span.lanes, sizeBytes) == Outcome::Stop) {
    return Outcome::Stop;
  }
  if (kind == AccessKind::Update || step.instruction->mods.semantics != Semantics::None) {
    noteOrder(*race, warp, step, kind, span);
  }
  return Outcome::Next;
}

} // namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET
