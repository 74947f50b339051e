// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor and the prefetch: operands and checks at the
// issue, then an AsyncOperation (async_operation.h).
#include "emulator/exec/tensor_copy.h"

#include "emulator/exec/async_operation.h"
#include "emulator/exec/cluster.h"
#include "emulator/exec/handlers.h"
#include "emulator/exec/mbarrier.h"
#include "emulator/exec/race_checker.h"
#include "emulator/exec/tensor_access.h"

#include <algorithm>
#include <bit>

namespace fp8jit::emulator {
namespace {

/// Where one block of a load receives its box and the news of it.
struct Destination {
  Block *block = nullptr;
  std::uint32_t offset = 0;  ///< in its shared memory
  std::uint32_t barrier = 0; ///< shared::cluster address
};

/// Global memory to the shared memory of one or more blocks.
class TensorLoad final : public AsyncOperation {
public:
  TensorLoad(const AsyncIssue &issue, const TensorAccess &access,
             std::vector<Destination> destinations)
      : AsyncOperation(issue), access_(access), destinations_(std::move(destinations)) {}

  void poisonDestinations() override {
    const std::size_t size = access_.sharedBytes();
    for (const Destination &to : destinations_) {
      SharedMemory &shared = to.block->shared;
      std::fill_n(shared.data.begin() + to.offset, size, SharedMemory::kPoison);
      std::fill_n(shared.written.begin() + to.offset, size, std::uint8_t{0});
    }
  }

  Outcome readSources() override {
    return loadBox({*issue().warp, *issue().step, issue().lane}, access_, bytes_);
  }

  Outcome writeDestinations() override {
    Cluster &cluster = *issue().warp->block->cluster;
    for (const Destination &to : destinations_) {
      placeBox(access_, *to.block, to.offset, bytes_);
      if (RaceChecker *race = to.block->race) {
        race->completeBarrierCopy(*to.block, to.barrier - to.block->shared.base);
      }
      const Outcome outcome =
          completeTx(cluster, to.barrier, static_cast<std::uint32_t>(bytes_.size()), issue());
      if (outcome == Outcome::Stop) {
        return outcome;
      }
    }
    return Outcome::Next;
  }

  bool needsBlock(const Block &block, bool) const override {
    return std::any_of(destinations_.begin(), destinations_.end(),
                       [&](const Destination &to) { return to.block == &block; });
  }

private:
  const TensorAccess access_;
  const std::vector<Destination> destinations_;
  std::vector<std::uint8_t> bytes_;
};

/// Shared memory of the own block to global memory, stored or reduced.
class TensorStore final : public AsyncOperation {
public:
  TensorStore(const AsyncIssue &issue, const TensorAccess &access, ReduceFunction reduce,
              std::uint32_t offset)
      : AsyncOperation(issue), access_(access), reduce_(reduce), offset_(offset) {}

  void poisonDestinations() override {
    // Global memory keeps its old contents until the copy completes: other kernels may read it.
  }

  Outcome readSources() override {
    return fetchBox({*issue().warp, *issue().step, issue().lane}, access_, *issue().warp->block,
                    offset_, bytes_);
  }

  Outcome writeDestinations() override {
    return storeBox({*issue().warp, *issue().step, issue().lane}, access_, reduce_, bytes_);
  }

  bool needsBlock(const Block &block, bool sourcesAreRead) const override {
    return !sourcesAreRead && issue().warp->block == &block;
  }

private:
  const TensorAccess access_;
  const ReduceFunction reduce_;
  const std::uint32_t offset_;
  std::vector<std::uint8_t> bytes_;
};

} // namespace

/// Runs `execute` for each lane of `mask` until one stops the launch.
template <typename Execute>
static Outcome forEachLane(Warp &warp, const Step &step, LaneMask mask, const Execute &execute) {
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
    const CopyIssuer issuer{warp, step, static_cast<unsigned>(std::countr_zero(rest))};
    if (execute(issuer) == Outcome::Stop) {
      return Outcome::Stop;
    }
  }
  return Outcome::Next;
}

/// The block of rank `rank` as a destination; reports one that does not exist or is gone.
static Outcome addDestination(const CopyIssuer &issuer, const TensorAccess &access,
                              std::uint32_t address, std::uint32_t barrier,
                              std::vector<Destination> &destinations) {
  Cluster &cluster = *issuer.warp.block->cluster;
  for (const std::uint32_t place : {address, barrier}) {
    const std::string problem = cluster.peerProblem(place);
    if (!problem.empty()) {
      return issuer.report(Fault::IllegalAddress, Severity::HardwareFault, problem);
    }
  }
  Block *block = cluster.blockAt(address);
  if (block != cluster.blockAt(barrier)) {
    return issuer.report(Fault::IllegalInstruction, Severity::HardwareFault,
                         "has its mbarrier in another block than its destination");
  }
  const Outcome outcome = checkSharedBox(issuer, access, *block, address);
  if (outcome != Outcome::Stop) {
    destinations.push_back({block, address - block->shared.base, barrier});
  }
  return outcome;
}

/// The destinations of a load: one block, or those of the multicast mask at the same offsets.
static Outcome findDestinations(const CopyIssuer &issuer, const TensorAccess &access,
                                std::vector<Destination> &destinations) {
  constexpr std::uint32_t kOffsetMask = (1U << SharedMemory::kRankShift) - 1;
  const Instruction &instruction = *issuer.step.instruction;
  const std::uint32_t address = issuer.sharedAddress(0, 0, instruction.immediate);
  const std::uint32_t barrier = issuer.sharedAddress(2, 1, 0);
  if (!instruction.mods.multicast) {
    return addDestination(issuer, access, address, barrier, destinations);
  }
  const std::uint32_t mask = issuer.source32(3 + access.map.rank) & 0xffffU;
  if (mask == 0) {
    return issuer.report(Fault::IllegalInstruction, Severity::Finding,
                         "has an empty multicast mask: no barrier will ever be signalled");
  }
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const std::uint32_t rank = static_cast<std::uint32_t>(std::countr_zero(rest))
                               << SharedMemory::kRankShift;
    if (addDestination(issuer, access, rank | (address & kOffsetMask),
                       rank | (barrier & kOffsetMask), destinations) == Outcome::Stop) {
      return Outcome::Stop;
    }
  }
  return Outcome::Next;
}

/// Tells the race checks of a load.
static Outcome checkRaces(const CopyIssuer &issuer, const TensorAccess &access,
                          const std::vector<Destination> &destinations) {
  RaceChecker *race = issuer.warp.block->race;
  for (const Destination &to : destinations) {
    RaceStamp stamp;
    if (race == nullptr) {
      continue;
    }
    if (race->stampBarrierCopy(issuer.warp, issuer.step, *to.block,
                               to.barrier - to.block->shared.base, stamp) == Outcome::Stop ||
        race->accessAsync(issuer.warp, issuer.step, stamp, *to.block, RaceAccess::Write, to.offset,
                          static_cast<std::uint32_t>(access.sharedBytes())) == Outcome::Stop) {
      return Outcome::Stop;
    }
  }
  return Outcome::Next;
}

static Outcome issueLoad(const CopyIssuer &issuer) {
  TensorAccess access;
  std::vector<Destination> destinations;
  if (readAccess(issuer, 1, 3, access) == Outcome::Stop ||
      findDestinations(issuer, access, destinations) == Outcome::Stop ||
      checkRows(issuer, access, "reads") == Outcome::Stop ||
      checkRaces(issuer, access, destinations) == Outcome::Stop) {
    return Outcome::Stop;
  }
  if (destinations.empty()) { // a finding that Report mode goes on from
    return Outcome::Next;
  }
  const AsyncIssue issue{.warp = &issuer.warp,
                         .lane = issuer.lane,
                         .step = &issuer.step,
                         .completion = CompletionKind::Mbarrier,
                         .barrier = destinations.front().barrier};
  issuer.warp.block->launch->counters.bulkLoadBytes += access.box().sizeBytes();
  return issuer.warp.block->cluster->issue(
      std::make_unique<TensorLoad>(issue, access, std::move(destinations)));
}

/// The reduction of the instruction on elements of the map; null, with a report, if there is none.
static Outcome findReduction(const CopyIssuer &issuer, TensorElement element,
                             ReduceFunction &reduce) {
  reduce = selectReduction(issuer.step.instruction->mods.atomic, reductionType(element));
  return reduce != nullptr ? Outcome::Next
                           : issuer.report(Fault::IllegalInstruction, Severity::HardwareFault,
                                           "has no such reduction of " +
                                               std::string(elementName(element)) + " elements");
}

/// Starts of boxes that are written must not be negative.
static Outcome checkStart(const CopyIssuer &issuer, const TensorAccess &access) {
  const bool isNegative = std::any_of(access.start.begin(), access.start.end(),
                                      [](std::int32_t place) { return place < 0; });
  return isNegative ? issuer.report(Fault::IllegalInstruction, Severity::HardwareFault,
                                    "writes a " + access.text() +
                                        ", expected coordinates that are not negative")
                    : Outcome::Next;
}

static Outcome issueStore(const CopyIssuer &issuer) {
  const Instruction &instruction = *issuer.step.instruction;
  Block &block = *issuer.warp.block;
  TensorAccess access;
  if (readAccess(issuer, 0, 2, access) == Outcome::Stop) {
    return Outcome::Stop;
  }
  const std::uint32_t address = issuer.sharedAddress(1, 0, instruction.immediate);
  ReduceFunction reduce = nullptr;
  if (instruction.op == Op::TensorReduce &&
      findReduction(issuer, access.map.element, reduce) == Outcome::Stop) {
    return Outcome::Stop;
  }
  if (checkStart(issuer, access) == Outcome::Stop ||
      checkSharedBox(issuer, access, block, address) == Outcome::Stop ||
      checkRows(issuer, access, reduce == nullptr ? "writes" : "updates") == Outcome::Stop) {
    return Outcome::Stop;
  }
  const std::uint32_t offset = address - block.shared.base;
  if (RaceChecker *race = block.race) {
    if (race->accessAsync(issuer.warp, issuer.step, race->stampBulkGroup(issuer.warp, issuer.lane),
                          block, RaceAccess::Read, offset,
                          static_cast<std::uint32_t>(access.sharedBytes())) == Outcome::Stop) {
      return Outcome::Stop;
    }
  }
  const AsyncIssue issue{.warp = &issuer.warp,
                         .lane = issuer.lane,
                         .step = &issuer.step,
                         .completion = CompletionKind::BulkGroup};
  block.launch->counters.bulkStoreBytes += access.box().sizeBytes();
  return block.cluster->issue(std::make_unique<TensorStore>(issue, access, reduce, offset));
}

static Outcome tensorLoad(Warp &warp, const Step &step, LaneMask mask) {
  return forEachLane(warp, step, mask, issueLoad);
}

static Outcome tensorStore(Warp &warp, const Step &step, LaneMask mask) {
  return forEachLane(warp, step, mask, issueStore);
}

/// A hint: only the map has to be right.
static Outcome tensorPrefetch(Warp &warp, const Step &step, LaneMask mask) {
  return forEachLane(warp, step, mask, [](const CopyIssuer &issuer) {
    TensorAccess access;
    return readAccess(issuer, 0, 1, access);
  });
}

Handler selectTensorCopy(const Instruction &instruction) {
  switch (instruction.op) {
  case Op::TensorLoad:
    return tensorLoad;
  case Op::TensorStore:
  case Op::TensorReduce:
    return tensorStore;
  case Op::TensorPrefetch:
    return tensorPrefetch;
  case Op::BulkCommit:
  case Op::BulkWait:
    return selectBulkGroup(instruction);
  default:
    return selectTensormap(instruction);
  }
}

} // namespace fp8jit::emulator
