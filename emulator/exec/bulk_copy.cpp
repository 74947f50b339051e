// Bulk copies and reductions without a tensor map (PTX ISA, "cp.async.bulk",
// "cp.reduce.async.bulk"). Each active lane issues for itself. Addresses are checked at issue; when
// data moves is the business of pending_operations.h. Their groups are in bulk_groups.cpp.
#include "emulator/exec/cluster.h"
#include "emulator/exec/handlers.h"
#include "emulator/exec/mbarrier.h"
#include "emulator/exec/memory_range.h"
#include "emulator/exec/race_checker.h"
#include "emulator/exec/reduce_elements.h"
#include "emulator/exec/shared_address.h"

#include <bit>
#include <utility>

namespace fp8jit::emulator {

static constexpr std::uint32_t kBulkAlignment = 16; // PTX ISA: of addresses and of the size

namespace {

/// A destination and the barrier that it signals (0: a bulk group tells).
struct BulkTarget {
  MemoryRange range;
  std::uint32_t barrier = 0;
};

/// One bulk copy or, with `reduce`, reduction.
class BulkOperation final : public AsyncOperation {
public:
  BulkOperation(const AsyncIssue &issue, const MemoryRange &source, std::vector<BulkTarget> targets,
                ReduceFunction reduce, std::uint32_t elementBytes)
      : AsyncOperation(issue), source_(source), targets_(std::move(targets)), reduce_(reduce),
        elementBytes_(elementBytes) {}

  void poisonDestinations() override {
    for (const BulkTarget &target : targets_) {
      if (reduce_ == nullptr) { // reductions of several threads may be under way
        markRange(target.range, false);
      }
    }
  }

  Outcome readSources() override {
    return readRange(*issue().warp, *issue().step, issue().lane, source_, bytes_);
  }

  Outcome writeDestinations() override {
    for (const BulkTarget &target : targets_) {
      if (reduce_ != nullptr) {
        std::vector<std::uint8_t> old;
        if (readRange(*issue().warp, *issue().step, issue().lane, target.range, old) ==
            Outcome::Stop) {
          return Outcome::Stop;
        }
        reduce_(target.range.data, bytes_.data(), bytes_.size() / elementBytes_);
      } else {
        writeRange(target.range, bytes_.data());
      }
      if (issue().completion == CompletionKind::Mbarrier && signal(target) == Outcome::Stop) {
        return Outcome::Stop;
      }
    }
    return Outcome::Next;
  }

  bool needsBlock(const Block &block, bool sourcesAreRead) const override {
    bool isNeeded = !sourcesAreRead && source_.owner == &block;
    for (const BulkTarget &target : targets_) {
      isNeeded |= target.range.owner == &block;
    }
    return isNeeded;
  }

private:
  Outcome signal(const BulkTarget &target) {
    Cluster &cluster = *issue().warp->block->cluster;
    if (RaceChecker *race = issue().warp->block->race) {
      const Block &block = *cluster.blockAt(target.barrier);
      race->completeBarrierCopy(block, target.barrier - block.shared.base);
    }
    return completeTx(cluster, target.barrier, target.range.bytes, issue());
  }

  const MemoryRange source_;
  const std::vector<BulkTarget> targets_;
  const ReduceFunction reduce_;
  const std::uint32_t elementBytes_;
  std::vector<std::uint8_t> bytes_;
};

} // namespace

static Outcome refuseBulk(Warp &warp, const Step &step, unsigned lane, std::string_view what) {
  return warp.block->launch->findings.add(warp, *step.instruction, LaneMask{1} << lane,
                                          Fault::IllegalInstruction, Severity::HardwareFault, what);
}

static std::uint32_t sourceSlot(const Step &step, unsigned source) {
  const Instruction &instruction = *step.instruction;
  return source < instruction.numSrc ? step.operands[instruction.numDst + source] : kNoSlot;
}

/// The 16-bit mask of blocks of a multicast; else 0.
static std::uint32_t multicastMask(const Warp &warp, const Step &step, unsigned lane) {
  const std::uint32_t slot = sourceSlot(step, 4);
  const bool hasMask = step.instruction->op == Op::BulkCopy && slot != kNoSlot;
  return hasMask ? warp.lanes<const std::uint32_t>(slot)[lane] & 0xffffU : 0;
}

/// `address` in block `rank`.
static std::uint32_t inBlock(std::uint64_t address, std::uint32_t rank) {
  constexpr std::uint32_t kOffsetBits = (1U << SharedMemory::kRankShift) - 1;
  return (static_cast<std::uint32_t>(address) & kOffsetBits) | (rank << SharedMemory::kRankShift);
}

/// Fills the destinations of `lane`, one per block of a multicast.
static Outcome findTargets(Warp &warp, const Step &step, unsigned lane, std::uint32_t bytes,
                           std::vector<BulkTarget> &targets) {
  const Instruction &instruction = *step.instruction;
  const std::uint64_t address =
      readAddress(warp, addressOperand(step, 0, 0, instruction.space), lane);
  std::uint32_t barrier = 0;
  if (sourceSlot(step, 3) != kNoSlot &&
      readSharedAddress(warp, step, addressOperand(step, 2, 3, instruction.space), lane, barrier) ==
          Outcome::Stop) {
    return Outcome::Stop;
  }
  const std::uint32_t mask = multicastMask(warp, step, lane);
  if (mask == 0 && instruction.mods.multicast) {
    return refuseBulk(warp, step, lane, "has an empty mask of blocks");
  }
  const unsigned count = mask == 0 ? 1 : static_cast<unsigned>(std::popcount(mask));
  std::uint32_t rest = mask;
  for (unsigned i = 0; i < count; ++i, rest &= rest - 1) {
    const auto rank = static_cast<std::uint32_t>(std::countr_zero(rest));
    BulkTarget &target = targets.emplace_back();
    target.barrier = mask == 0 ? barrier : inBlock(barrier, rank);
    if (resolveRange(warp, step, lane, instruction.space,
                     mask == 0 ? address : inBlock(address, rank), bytes, kBulkAlignment,
                     RangeUse::Write, target.range) == Outcome::Stop) {
      return Outcome::Stop;
    }
    const Cluster &cluster = *warp.block->cluster;
    const bool isElsewhere = barrier != 0 && target.range.owner != nullptr &&
                             cluster.blocks.size() > 1 &&
                             target.barrier >> SharedMemory::kRankShift != target.range.owner->rank;
    if (isElsewhere) {
      return refuseBulk(warp, step, lane,
                        "signals a barrier of another block than the one that it writes to");
    }
  }
  return Outcome::Next;
}

/// Tells the race checker of an operation at its issue.
static Outcome noteRaces(Warp &warp, const Step &step, unsigned lane, const MemoryRange &source,
                         const std::vector<BulkTarget> &targets, bool isReduction) {
  RaceChecker *race = warp.block->race;
  if (race == nullptr) {
    return Outcome::Next;
  }
  for (const BulkTarget &target : targets) {
    RaceStamp stamp;
    if (target.barrier == 0) {
      stamp = race->stampBulkGroup(warp, lane);
    } else {
      const Block &block = *warp.block->cluster->blockAt(target.barrier);
      if (race->stampBarrierCopy(warp, step, block, target.barrier - block.shared.base, stamp) ==
          Outcome::Stop) {
        return Outcome::Stop;
      }
    }
    const RaceAccess access = isReduction ? RaceAccess::Update : RaceAccess::Write;
    if ((source.owner != nullptr &&
         race->accessAsync(warp, step, stamp, *source.owner, RaceAccess::Read, source.offset(),
                           source.bytes) == Outcome::Stop) ||
        (target.range.owner != nullptr &&
         race->accessAsync(warp, step, stamp, *target.range.owner, access, target.range.offset(),
                           target.range.bytes) == Outcome::Stop)) {
      return Outcome::Stop;
    }
  }
  return Outcome::Next;
}

static std::uint32_t elementBytes(Type type) {
  switch (type) {
  case Type::F16:
  case Type::BF16:
    return 2;
  case Type::U64:
  case Type::S64:
  case Type::B64:
  case Type::F64:
    return 8;
  default: // the 32-bit types
    return 4;
  }
}

static Outcome issueLane(Warp &warp, const Step &step, unsigned lane) {
  const Instruction &instruction = *step.instruction;
  const std::uint32_t bytes = warp.lanes<const std::uint32_t>(sourceSlot(step, 2))[lane];
  if (bytes % kBulkAlignment != 0) {
    return refuseBulk(warp, step, lane,
                      "has a size of " + std::to_string(bytes) +
                          " bytes, a multiple of 16 expected");
  }
  if (bytes == 0) {
    return Outcome::Next;
  }
  MemoryRange source;
  std::vector<BulkTarget> targets;
  const std::uint64_t from =
      readAddress(warp, addressOperand(step, 1, 1, instruction.srcSpace), lane);
  if (resolveRange(warp, step, lane, instruction.srcSpace, from, bytes, kBulkAlignment,
                   RangeUse::Read, source) == Outcome::Stop ||
      findTargets(warp, step, lane, bytes, targets) == Outcome::Stop) {
    return Outcome::Stop;
  }
  const bool isReduction = instruction.op == Op::BulkReduce;
  if (noteRaces(warp, step, lane, source, targets, isReduction) == Outcome::Stop) {
    return Outcome::Stop;
  }
  constexpr std::uint64_t kSectorBytes = 32;
  MemoryCounters &counters = warp.block->launch->counters;
  counters.loadSectors += source.owner == nullptr ? bytes / kSectorBytes : 0;
  counters.storeSectors += targets.front().range.owner == nullptr ? bytes / kSectorBytes : 0;
  const std::uint32_t barrier = targets.front().barrier;
  const AsyncIssue issue{.warp = &warp,
                         .lane = lane,
                         .step = &step,
                         .completion =
                             barrier != 0 ? CompletionKind::Mbarrier : CompletionKind::BulkGroup,
                         .barrier = barrier};
  return warp.block->cluster->issue(std::make_unique<BulkOperation>(
      issue, source, std::move(targets),
      isReduction ? selectReduction(instruction.mods.atomic, instruction.type) : nullptr,
      elementBytes(instruction.type)));
}

static Outcome issueBulk(Warp &warp, const Step &step, LaneMask mask) {
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
    if (issueLane(warp, step, static_cast<unsigned>(std::countr_zero(rest))) == Outcome::Stop) {
      return Outcome::Stop;
    }
  }
  return Outcome::Next;
}

/// No data moves, but the range has to exist.
static Outcome prefetchBulk(Warp &warp, const Step &step, LaneMask mask) {
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint32_t bytes = warp.lanes<const std::uint32_t>(sourceSlot(step, 1))[lane];
    MemoryRange range;
    if (bytes % kBulkAlignment != 0) {
      return refuseBulk(warp, step, lane,
                        "has a size of " + std::to_string(bytes) +
                            " bytes, a multiple of 16 expected");
    }
    if (bytes != 0 &&
        resolveRange(warp, step, lane, step.instruction->space,
                     readAddress(warp, addressOperand(step, 0, 0, step.instruction->space), lane),
                     bytes, kBulkAlignment, RangeUse::Read, range) == Outcome::Stop) {
      return Outcome::Stop;
    }
  }
  return Outcome::Next;
}

Handler selectBulkCopy(const Instruction &instruction) {
  switch (instruction.op) {
  case Op::BulkReduce:
    return selectReduction(instruction.mods.atomic, instruction.type) != nullptr ? &issueBulk
                                                                                 : nullptr;
  case Op::BulkCopy:
    return &issueBulk;
  case Op::BulkPrefetch:
    return &prefetchBulk;
  default: // the other groups
    return nullptr;
  }
}

} // namespace fp8jit::emulator
