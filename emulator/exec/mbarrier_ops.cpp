// The instructions of barriers in shared memory (PTX ISA, "mbarrier.*"). Each active lane acts for
// itself, in ascending order. A wait of which no lane succeeds stands aside until a barrier of the
// cluster changed (Outcome::Wait); test_wait is treated like try_wait, so that polling loops of
// both kinds count as blocked.
#include "emulator/exec/cluster.h"
#include "emulator/exec/handlers.h"
#include "emulator/exec/mbarrier.h"
#include "emulator/exec/race_checker.h"
#include "emulator/exec/shared_address.h"

#include <bit>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace fp8jit::emulator {

static Outcome refuseMbarrierUse(Warp &warp, const Step &step, unsigned lane,
                                 std::string_view what) {
  return warp.block->launch->findings.add(warp, *step.instruction, LaneMask{1} << lane,
                                          Fault::IllegalInstruction, Severity::HardwareFault, what);
}

/// The operand's 32-bit value in `lane`, or `absent`.
static std::uint32_t readWord(const Warp &warp, const Step &step, unsigned source, unsigned lane,
                              std::uint32_t absent) {
  const Instruction &instruction = *step.instruction;
  const std::uint32_t slot =
      source < instruction.numSrc ? step.operands[instruction.numDst + source] : kNoSlot;
  return slot == kNoSlot ? absent : warp.lanes<const std::uint32_t>(slot)[lane];
}

/// Calls act(lane, address) for each lane until one stops.
template <typename Act>
static Outcome forEachBarrier(Warp &warp, const Step &step, LaneMask mask, Act act) {
  const AddressOperand operand = addressOperand(step, 0, 0, step.instruction->space);
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    std::uint32_t address = 0;
    if (readSharedAddress(warp, step, operand, lane, address) == Outcome::Stop ||
        act(lane, address) == Outcome::Stop) {
      return Outcome::Stop;
    }
  }
  return Outcome::Next;
}

static Outcome initialise(Warp &warp, const Step &step, LaneMask mask) {
  Block &block = *warp.block;
  return forEachBarrier(warp, step, mask, [&](unsigned lane, std::uint32_t address) {
    char text[128];
    const std::uint32_t offset = address - block.shared.base;
    const std::uint32_t count = readWord(warp, step, 1, lane, 0);
    if (offset >= block.shared.sizeBytes() || block.shared.sizeBytes() - offset < 8) {
      std::snprintf(text, sizeof(text),
                    "writes 8 bytes at shared offset 0x%x, outside the %u bytes", address,
                    block.shared.sizeBytes());
      return block.launch->findings.add(warp, *step.instruction, LaneMask{1} << lane,
                                        Fault::IllegalAddress, Severity::HardwareFault, text);
    }
    if (address % 8 != 0) {
      std::snprintf(text, sizeof(text), "needs an address that is a multiple of 8, found 0x%x",
                    address);
      return block.launch->findings.add(warp, *step.instruction, LaneMask{1} << lane,
                                        Fault::MisalignedAddress, Severity::HardwareFault, text);
    }
    if (count == 0 || count > Mbarrier::kMaxCount) {
      std::snprintf(text, sizeof(text), "has a count of %u, 1 to %u expected", count,
                    Mbarrier::kMaxCount);
      return refuseMbarrierUse(warp, step, lane, text);
    }
    if (block.mbarriers.findOverlap(offset, 8) != nullptr) {
      std::snprintf(text, sizeof(text),
                    "initialises shared address 0x%08x, where a live barrier lies", address);
      return refuseMbarrierUse(warp, step, lane, text);
    }
    initialiseMbarrier(block, offset, count);
    if (block.race != nullptr) {
      block.race->mbarrierInit(warp, step, block, offset);
    }
    return Outcome::Next;
  });
}

static Outcome invalidate(Warp &warp, const Step &step, LaneMask mask) {
  Block &block = *warp.block;
  return forEachBarrier(warp, step, mask, [&](unsigned lane, std::uint32_t address) {
    std::string problem;
    const Mbarrier *barrier = findMbarrier(*block.cluster, address, problem);
    if (barrier == nullptr) {
      return refuseMbarrierUse(warp, step, lane, problem);
    }
    const std::uint32_t offset = barrier->offset;
    if (block.race != nullptr) {
      block.race->mbarrierInval(block, offset);
    }
    block.mbarriers.erase(offset);
    std::memset(block.shared.written.data() + offset, 0, 8);
    block.cluster->wakeWaiters(); // a wait for it is an error from now on
    return Outcome::Next;
  });
}

static Outcome arrive(Warp &warp, const Step &step, LaneMask mask) {
  const Modifiers &mods = step.instruction->mods;
  Cluster &cluster = *warp.block->cluster;
  const std::uint32_t destination = step.instruction->numDst > 0 ? step.operands[0] : kNoSlot;
  return forEachBarrier(warp, step, mask, [&](unsigned lane, std::uint32_t address) {
    const MbarrierChange change{.address = address,
                                .arrivals = readWord(warp, step, 1, lane, 1),
                                .tx = readWord(warp, step, 2, lane, 0),
                                .drop = mods.drop,
                                .noComplete = mods.noComplete};
    std::string problem;
    const Mbarrier *barrier = findMbarrier(cluster, address, problem);
    if (barrier != nullptr && warp.block->race != nullptr &&
        warp.block->race->mbarrierArrive(warp, step, *cluster.blockAt(address), barrier->offset,
                                         mods.semantics) == Outcome::Stop) {
      return Outcome::Stop;
    }
    std::uint64_t state = 0;
    problem = changeMbarrier(cluster, change, warp, step, &state);
    if (!problem.empty()) {
      return refuseMbarrierUse(warp, step, lane, problem);
    }
    if (destination != kNoSlot) {
      warp.lanes<std::uint64_t>(destination)[lane] = state;
    }
    return Outcome::Next;
  });
}

/// expect_tx and complete_tx without an arrival.
template <int Sign>
static Outcome changeTx(Warp &warp, const Step &step, LaneMask mask) {
  Cluster &cluster = *warp.block->cluster;
  return forEachBarrier(warp, step, mask, [&](unsigned lane, std::uint32_t address) {
    std::string problem;
    const Mbarrier *barrier = findMbarrier(cluster, address, problem);
    if (barrier != nullptr && warp.block->race != nullptr &&
        warp.block->race->mbarrierUse(warp, step, *cluster.blockAt(address), barrier->offset) ==
            Outcome::Stop) {
      return Outcome::Stop;
    }
    const MbarrierChange change{.address = address,
                                .tx = Sign * std::int64_t{readWord(warp, step, 1, lane, 0)}};
    problem = changeMbarrier(cluster, change, warp, step);
    return problem.empty() ? Outcome::Next : refuseMbarrierUse(warp, step, lane, problem);
  });
}

/// Whether the phase that `lane` waits for is complete.
static Outcome testPhase(Warp &warp, const Step &step, unsigned lane, std::uint32_t address,
                         bool &hasPassed) {
  std::string problem;
  const Mbarrier *barrier = findMbarrier(*warp.block->cluster, address, problem);
  if (barrier == nullptr) {
    return refuseMbarrierUse(warp, step, lane, problem);
  }
  if (warp.block->cluster->blockAt(address) != warp.block) {
    return refuseMbarrierUse(warp, step, lane, "waits at a barrier of another block");
  }
  const std::uint32_t slot = step.operands[step.instruction->numDst + 1];
  if (step.instruction->mods.parity) {
    const std::uint32_t parity = warp.lanes<const std::uint32_t>(slot)[lane];
    hasPassed = barrier->hasPassedParity(parity);
    warp.wait = {.kind = WaitKind::Mbarrier, .isParity = true, .address = address, .value = parity};
    return Outcome::Next;
  }
  const std::uint64_t state = warp.lanes<const std::uint64_t>(slot)[lane];
  hasPassed = barrier->hasPassed(state);
  warp.wait = {.kind = WaitKind::Mbarrier, .isParity = false, .address = address, .value = state};
  const std::uint64_t phase = state >> 20;
  if (phase > barrier->phase || barrier->phase - phase > 1) {
    char text[160];
    std::snprintf(text, sizeof(text),
                  "waits for phase %" PRIu64
                  " of the barrier at shared address 0x%08x, which is in "
                  "phase %" PRIu64 ": only that phase and the one before can be told apart",
                  phase, address, barrier->phase);
    return warp.block->launch->findings.add(warp, *step.instruction, LaneMask{1} << lane,
                                            Fault::IllegalInstruction, Severity::Finding, text);
  }
  return Outcome::Next;
}

/// Whether a wait that no lane passed answers false now instead of waiting.
static bool mustAnswer(Warp &warp) {
  if (warp.mustAnswer) {
    warp.mustAnswer = false;
    return true;
  }
  constexpr std::uint64_t kAnswerOneIn = 4; // often enough to meet code that polls
  Cluster &cluster = *warp.block->cluster;
  return cluster.plan.request.asyncMode == AsyncMode::Random &&
         cluster.random.below(kAnswerOneIn) == 0;
}

static Outcome wait(Warp &warp, const Step &step, LaneMask mask) {
  LaneMask passed = 0;
  const Outcome tested =
      forEachBarrier(warp, step, mask, [&](unsigned lane, std::uint32_t address) {
        bool hasPassed = false;
        if (testPhase(warp, step, lane, address, hasPassed) == Outcome::Stop) {
          return Outcome::Stop;
        }
        passed |= LaneMask{hasPassed} << lane;
        if (!hasPassed || warp.block->race == nullptr) {
          return Outcome::Next;
        }
        return warp.block->race->mbarrierLeave(warp, step, address - warp.block->shared.base,
                                               step.instruction->mods.semantics);
      });
  if (tested == Outcome::Stop) {
    return tested;
  }
  if (passed == 0 && !mustAnswer(warp)) {
    return Outcome::Wait;
  }
  if (step.operands[0] != kNoSlot) {
    LaneMask &predicate = warp.predicates[step.operands[0]];
    predicate = (predicate & ~mask) | passed;
  }
  return Outcome::Next;
}

static Outcome pendingCount(Warp &warp, const Step &step, LaneMask mask) {
  const auto *state = warp.lanes<const std::uint64_t>(step.operands[1]);
  auto *count = warp.lanes<std::uint32_t>(step.operands[0]);
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    count[lane] = static_cast<std::uint32_t>(state[lane]) & Mbarrier::kMaxCount;
  }
  return Outcome::Next;
}

Handler selectMbarrier(const Instruction &instruction) {
  switch (instruction.op) {
  case Op::MbarrierInit:
    return &initialise;
  case Op::MbarrierInval:
    return &invalidate;
  case Op::MbarrierArrive:
    return &arrive;
  case Op::MbarrierExpectTx:
    return &changeTx<1>;
  case Op::MbarrierCompleteTx:
    return &changeTx<-1>;
  case Op::MbarrierWait:
    return &wait;
  case Op::MbarrierPendingCount:
    return &pendingCount;
  default: // the other groups
    return nullptr;
  }
}

} // namespace fp8jit::emulator
