// Warp collectives: shfl, vote, redux, match, bar.warp.sync (PTX ISA, the .sync forms).
//
// Lanes may carry different member masks at one instruction; each set of lanes with one mask acts
// for itself. A set acts when all of its live members have arrived, else the split parks.
#include "emulator/exec/block.h"
#include "emulator/exec/handlers.h"

#include <algorithm>
#include <bit>
#include <cstdio>

namespace fp8jit::emulator {

static bool isIn(LaneMask mask, unsigned lane) {
  return ((mask >> lane) & 1U) != 0;
}

/// Next if every set is complete, Park if lanes are missing, Stop if a lane is not in its own mask.
static Outcome requireMembers(Warp &warp, const Step &step, LaneMask mask,
                              const std::uint32_t *members) {
  std::uint32_t lacking = 0; // bits that not every member mask has
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    lacking |= ~members[lane];
  }
  if (mask == kAllLanes && lacking == 0) [[likely]] {
    return Outcome::Next;
  }
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!isIn(mask, lane)) {
      continue;
    }
    if (!isIn(members[lane], lane)) {
      char text[96];
      std::snprintf(text, sizeof(text),
                    "is executed by lane %u, which its member mask 0x%08x lacks", lane,
                    members[lane]);
      if (warp.block->launch->findings.add(warp, *step.instruction, LaneMask{1} << lane,
                                           Fault::IllegalInstruction, Severity::Finding,
                                           text) == Outcome::Stop) {
        return Outcome::Stop;
      }
    }
    if ((members[lane] & warp.live & ~mask) != 0) {
      return Outcome::Park;
    }
  }
  return Outcome::Next;
}

/// Calls act(set) for each set of lanes of `mask` with one member mask.
template <typename Act>
static void forEachSet(LaneMask mask, const std::uint32_t *members, Act act) {
  for (LaneMask rest = mask; rest != 0;) {
    const std::uint32_t lead = members[std::countr_zero(rest)];
    LaneMask set = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      set |= LaneMask{isIn(rest, lane) && members[lane] == lead} << lane;
    }
    act(set);
    rest &= ~set;
  }
}

static void writePredicate(Warp &warp, std::uint32_t index, LaneMask value, LaneMask mask) {
  if (index != kNoSlot) {
    warp.predicates[index] = (warp.predicates[index] & ~mask) | (value & mask);
  }
}

static void writeLanes(Warp &warp, std::uint32_t operand, const std::uint32_t *values,
                       LaneMask mask) {
  if (operand == kNoSlot) {
    return;
  }
  auto *destination = warp.lanes<std::uint32_t>(operand);
  if (mask == kAllLanes) {
    std::copy_n(values, kLanes, destination);
    return;
  }
  for (unsigned i = 0; i < kLanes; ++i) {
    destination[i] = isIn(mask, i) ? values[i] : destination[i];
  }
}

/// Source lane and validity of shfl for one lane (PTX ISA, "shfl.sync", pseudocode).
template <ShuffleMode Mode>
static bool shuffleSource(unsigned lane, std::uint32_t b, std::uint32_t c, unsigned &source) {
  const std::uint32_t segment = (c >> 8) & 0x1fU;
  const std::uint32_t clamp = c & 0x1fU;
  const std::uint32_t offset = b & 0x1fU;
  const std::uint32_t maxLane = (lane & segment) | (clamp & ~segment);
  const std::uint32_t minLane = lane & segment;
  switch (Mode) {
  case ShuffleMode::Up:
    source = lane - offset;
    return static_cast<std::int32_t>(lane - offset) >= static_cast<std::int32_t>(maxLane);
  case ShuffleMode::Down:
    source = lane + offset;
    return source <= maxLane;
  case ShuffleMode::Bfly:
    source = lane ^ offset;
    return source <= maxLane;
  case ShuffleMode::Idx:
    source = minLane | (offset & ~segment);
    return source <= maxLane;
  }
  return false;
}

template <ShuffleMode Mode>
static Outcome shuffle(Warp &warp, const Step &step, LaneMask mask) {
  const Instruction &instruction = *step.instruction;
  const std::uint32_t *sources = step.operands + instruction.numDst;
  const Outcome ready =
      requireMembers(warp, step, mask, warp.lanes<const std::uint32_t>(sources[3]));
  if (ready != Outcome::Next) {
    return ready;
  }
  const auto *value = warp.lanes<const std::uint32_t>(sources[0]);
  const auto *b = warp.lanes<const std::uint32_t>(sources[1]);
  const auto *c = warp.lanes<const std::uint32_t>(sources[2]);
  std::uint32_t sourceLanes[kLanes];
  std::uint32_t validBits[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) { // vectorised, which the gather below is not
    unsigned source = lane;
    const bool isValid = shuffleSource<Mode>(lane, b[lane], c[lane], source) & (source < kLanes);
    sourceLanes[lane] = isValid ? source : lane;
    validBits[lane] = isValid ? LaneMask{1} << lane : 0;
  }
  std::uint32_t result[kLanes];
  LaneMask valid = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    result[lane] = value[sourceLanes[lane]];
    valid |= validBits[lane];
  }
  writeLanes(warp, step.operands[0], result, mask);
  if (instruction.numDst > 1) {
    writePredicate(warp, step.operands[1], valid, mask);
  }
  return Outcome::Next;
}

static Handler selectShuffle(ShuffleMode mode) {
  switch (mode) {
  case ShuffleMode::Up:
    return &shuffle<ShuffleMode::Up>;
  case ShuffleMode::Down:
    return &shuffle<ShuffleMode::Down>;
  case ShuffleMode::Bfly:
    return &shuffle<ShuffleMode::Bfly>;
  case ShuffleMode::Idx:
    return &shuffle<ShuffleMode::Idx>;
  }
  return nullptr;
}

static Outcome vote(Warp &warp, const Step &step, LaneMask mask) {
  const Instruction &instruction = *step.instruction;
  const std::uint32_t *sources = step.operands + instruction.numDst;
  const auto *members = warp.lanes<const std::uint32_t>(sources[1]);
  const Outcome ready = requireMembers(warp, step, mask, members);
  if (ready != Outcome::Next) {
    return ready;
  }
  const LaneMask predicate =
      warp.predicates[sources[0]] ^ (instruction.mods.negateSource ? kAllLanes : 0U);
  std::uint32_t ballots[kLanes] = {};
  LaneMask answers = 0;
  forEachSet(mask, members, [&](LaneMask set) {
    const LaneMask votes = predicate & set;
    const bool holds = instruction.op == Op::VoteAll   ? votes == set
                       : instruction.op == Op::VoteAny ? votes != 0
                                                       : votes == set || votes == 0;
    answers |= holds ? set : 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      ballots[lane] = isIn(set, lane) ? votes : ballots[lane];
    }
  });
  if (instruction.op == Op::VoteBallot) {
    writeLanes(warp, step.operands[0], ballots, mask);
  } else {
    writePredicate(warp, step.operands[0], answers, mask);
  }
  return Outcome::Next;
}

static std::uint32_t reduce(const Instruction &instruction, std::uint32_t a, std::uint32_t b) {
  const bool isSigned = instruction.type == Type::S32;
  const bool isLess =
      isSigned ? static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b) : a < b;
  switch (instruction.mods.atomic) {
  case AtomicOp::Add:
    return a + b;
  case AtomicOp::Min:
    return isLess ? a : b;
  case AtomicOp::Max:
    return isLess ? b : a;
  case AtomicOp::And:
    return a & b;
  case AtomicOp::Or:
    return a | b;
  case AtomicOp::Xor:
    return a ^ b;
  case AtomicOp::None:
  case AtomicOp::Inc:
  case AtomicOp::Dec:
  case AtomicOp::Exch:
  case AtomicOp::Cas:
    break;
  }
  return a;
}

static Outcome reduceSync(Warp &warp, const Step &step, LaneMask mask) {
  const auto *value = warp.lanes<const std::uint32_t>(step.operand[1]);
  const auto *members = warp.lanes<const std::uint32_t>(step.operand[2]);
  const Outcome ready = requireMembers(warp, step, mask, members);
  if (ready != Outcome::Next) {
    return ready;
  }
  std::uint32_t result[kLanes] = {};
  forEachSet(mask, members, [&](LaneMask set) {
    std::uint32_t total = value[std::countr_zero(set)];
    for (LaneMask rest = set & (set - 1); rest != 0; rest &= rest - 1) {
      total = reduce(*step.instruction, total, value[std::countr_zero(rest)]);
    }
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      result[lane] = isIn(set, lane) ? total : result[lane];
    }
  });
  writeLanes(warp, step.operand[0], result, mask);
  return Outcome::Next;
}

template <typename Storage>
static Outcome match(Warp &warp, const Step &step, LaneMask mask) {
  const Instruction &instruction = *step.instruction;
  const std::uint32_t *sources = step.operands + instruction.numDst;
  const auto *value = warp.lanes<const Storage>(sources[0]);
  const auto *members = warp.lanes<const std::uint32_t>(sources[1]);
  const Outcome ready = requireMembers(warp, step, mask, members);
  if (ready != Outcome::Next) {
    return ready;
  }
  std::uint32_t result[kLanes] = {};
  LaneMask agrees = 0;
  forEachSet(mask, members, [&](LaneMask set) {
    for (LaneMask rest = set; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      for (unsigned other = 0; other < kLanes; ++other) {
        result[lane] |= LaneMask{isIn(set, other) && value[other] == value[lane]} << other;
      }
    }
    agrees |= result[std::countr_zero(set)] == set ? set : 0;
  });
  if (instruction.op == Op::MatchAll) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      result[lane] = isIn(agrees, lane) ? result[lane] : 0;
    }
    if (instruction.numDst > 1) {
      writePredicate(warp, step.operands[1], agrees, mask);
    }
  }
  writeLanes(warp, step.operands[0], result, mask);
  return Outcome::Next;
}

static Outcome warpSync(Warp &warp, const Step &step, LaneMask mask) {
  return requireMembers(warp, step, mask, warp.lanes<const std::uint32_t>(step.operand[0]));
}

Handler selectCollective(const Instruction &instruction) {
  switch (instruction.op) {
  case Op::Shfl:
    return selectShuffle(instruction.mods.shuffle);
  case Op::VoteAll:
  case Op::VoteAny:
  case Op::VoteUni:
  case Op::VoteBallot:
    return &vote;
  case Op::Redux:
    return &reduceSync;
  case Op::MatchAny:
  case Op::MatchAll:
    return instruction.srcBits == 64 ? &match<std::uint64_t> : &match<std::uint32_t>;
  case Op::BarWarpSync:
    return &warpSync;
  default: // the other groups
    return nullptr;
  }
}

} // namespace fp8jit::emulator
