// Accesses and what they have to wait for: components, stamps, checks against the shadow.
#include "emulator/exec/race_checker.h"

#include "emulator/exec/block.h"

#include <algorithm>
#include <bit>

namespace fp8jit::emulator {

/// Components of so many warps share records (race_shadow.h).
static constexpr std::uint32_t kGroupWarps = 4;
/// Parts that exist once per warp.
static constexpr std::uint32_t kWarpParts = 4;

RaceChecker::RaceChecker(const LaunchRequest &request, const std::vector<Step> &steps,
                         Findings &findings, std::uint32_t blocks, std::uint32_t sharedBytes)
    : request_(request), steps_(steps), findings_(findings), sharedBytes_(sharedBytes),
      blocks_(blocks) {}

bool RaceChecker::isWanted(const LaunchRequest &request) {
  switch (request.raceChecks) {
  case RaceChecks::Default:
    return request.strictness == EmulatorStrictness::Strict;
  case RaceChecks::On:
    return true;
  case RaceChecks::Off:
    break;
  }
  return false;
}

void RaceChecker::start() {
  const Dim3 &shape = request_.block;
  const std::uint32_t warps = (shape.x * shape.y * shape.z + kLanes - 1) / kLanes;
  components_.clear();
  clusterPending_.clear();
  clusterDone_.clear();
  words_.clear();
  reported_.clear();
  for (std::uint32_t rank = 0; rank < blocks_.size(); ++rank) {
    Home &home = blocks_[rank];
    home.warps.assign(warps, WarpState());
    home.shadow.reset(sharedBytes_);
    home.barriers = {};
    home.exited.clear();
    home.mbarriers.clear();
    home.groups.assign(std::size_t{kWarpParts} * ((warps + kGroupWarps - 1) / kGroupWarps), kNone);
    for (std::uint32_t w = 0; w < warps; ++w) {
      WarpState &state = home.warps[w];
      state.self = {.component = warpComponent(Part::Warp, rank, w), .clock = 1};
      state.now.all.raise(state.self);
    }
  }
}

RaceChecker::Home &RaceChecker::homeOf(const Block &block) {
  return blocks_[block.rank];
}

std::uint32_t RaceChecker::newComponent(const Component &component) {
  components_.push_back(component);
  return static_cast<std::uint32_t>(components_.size() - 1);
}

std::uint32_t RaceChecker::warpComponent(Part part, std::uint32_t block, std::uint32_t warp) {
  std::vector<std::uint32_t> &groups = blocks_[block].groups;
  const std::size_t entry =
      static_cast<std::size_t>(part) * (groups.size() / kWarpParts) + warp / kGroupWarps;
  if (groups[entry] == kNone) {
    components_.resize((components_.size() + kGroupWarps - 1) / kGroupWarps * kGroupWarps);
    groups[entry] = static_cast<std::uint32_t>(components_.size());
    for (std::uint32_t i = 0; i < kGroupWarps; ++i) {
      newComponent({.part = part, .block = block, .index = warp / kGroupWarps * kGroupWarps + i});
    }
  }
  return groups[entry] + warp % kGroupWarps;
}

std::uint32_t RaceChecker::pcOf(const Step &step) const {
  return static_cast<std::uint32_t>(&step - steps_.data());
}

/// Checks `sizeBytes` at the offset of each lane.
template <typename Offset>
static void accessEach(RaceShadow &shadow, const Offset *offset, LaneMask lanes,
                       std::uint32_t sizeBytes, RaceProbe &probe) {
  constexpr std::uint32_t kChunk = RaceShadow::kChunkBytes;
  if (sizeBytes >= kChunk) { // vectors, rows of matrices
    for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
      shadow.accessRange(static_cast<std::uint32_t>(offset[std::countr_zero(rest)]), sizeBytes,
                         probe);
    }
    return;
  }
  std::uint32_t chunk = UINT32_MAX;
  std::uint32_t mask = 0; // of the chunk: neighbouring lanes mostly share one
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
    const auto first = static_cast<std::uint32_t>(offset[std::countr_zero(rest)]);
    if (first / kChunk != chunk) {
      if (mask != 0) {
        shadow.access(chunk, mask, probe);
      }
      chunk = first / kChunk;
      mask = 0;
    }
    mask |= ((1U << sizeBytes) - 1) << (first % kChunk);
  }
  shadow.access(chunk, mask, probe);
}

template <typename Offset>
Outcome RaceChecker::accessLanes(const Warp &warp, const Step &step, const Block &target,
                                 RaceAccess kind, const Offset *offset, LaneMask lanes,
                                 std::uint32_t sizeBytes) {
  const WarpState &state = stateOf(warp);
  RaceProbe probe{.record = RaceRecord(state.self, kind, pcOf(step)), .order = &state.now};
  accessEach(homeOf(target).shadow, offset, lanes, sizeBytes, probe);
  if (probe.verdict == RaceVerdict::Ordered) [[likely]] {
    return Outcome::Next;
  }
  LaneMask concerned = 0;
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    concerned |= LaneMask{probe.offset - offset[lane] < sizeBytes} << lane;
  }
  return report(warp, step, target, concerned, probe);
}

Outcome RaceChecker::access(const Warp &warp, const Step &step, const Block &target,
                            RaceAccess kind, const std::uint32_t *offset, LaneMask lanes,
                            std::uint32_t sizeBytes) {
  return accessLanes(warp, step, target, kind, offset, lanes, sizeBytes);
}

Outcome RaceChecker::access(const Warp &warp, const Step &step, const Block &target,
                            RaceAccess kind, const std::uint64_t *offset, LaneMask lanes,
                            std::uint32_t sizeBytes) {
  return accessLanes(warp, step, target, kind, offset, lanes, sizeBytes);
}

Outcome RaceChecker::accessRow(const Warp &warp, const Step &step, const Block &target,
                               RaceAccess kind, std::uint32_t offset, std::uint32_t sizeBytes) {
  const WarpState &state = stateOf(warp);
  RaceProbe probe{.record = RaceRecord(state.self, kind, pcOf(step)), .order = &state.now};
  homeOf(target).shadow.accessRange(offset, kLanes * sizeBytes, probe);
  if (probe.verdict == RaceVerdict::Ordered) [[likely]] {
    return Outcome::Next;
  }
  return report(warp, step, target, LaneMask{1} << (probe.offset - offset) / sizeBytes, probe);
}

Outcome RaceChecker::accessAsync(const Warp &warp, const Step &step, const RaceStamp &stamp,
                                 const Block &target, RaceAccess kind, std::uint32_t offset,
                                 std::uint32_t bytes) {
  return accessAsync(warp, step, stamp, target, kind, &offset, 1, bytes);
}

Outcome RaceChecker::accessAsync(const Warp &warp, const Step &step, const RaceStamp &stamp,
                                 const Block &target, RaceAccess kind, const std::uint32_t *offsets,
                                 std::uint32_t count, std::uint32_t bytes) {
  if (stamp.component >= RaceRecord::kMaxComponents) {
    return Outcome::Next; // more than records can name: not checked
  }
  RaceShadow &shadow = homeOf(target).shadow;
  RaceProbe probe{.record = RaceRecord(stamp, kind, pcOf(step)),
                  .order = &stateOf(warp).now,
                  .isAsync = components_[stamp.component].part != Part::Copies};
  for (std::uint32_t i = 0; i < count; ++i) {
    shadow.accessRange(offsets[i], bytes, probe);
  }
  if (probe.verdict == RaceVerdict::Ordered) [[likely]] {
    return Outcome::Next;
  }
  return report(warp, step, target, warp.active, probe);
}

Outcome RaceChecker::stampBarrierCopy(const Warp &warp, const Step &step, const Block &barrierBlock,
                                      std::uint32_t barrierOffset, RaceStamp &stamp) {
  Mbarrier &barrier = mbarrierAt(barrierBlock, barrierOffset);
  if (barrier.copies.clock == 0) {
    barrier.copies.component = newComponent(
        {.part = Part::BarrierCopies, .block = barrierBlock.rank, .index = barrierOffset});
  }
  barrier.copies.clock = std::min(barrier.copies.clock + 1, RaceStamp::kMaxClock);
  stamp = barrier.copies;
  return checkInit(warp, step, barrierBlock, barrierOffset, true);
}

void RaceChecker::completeBarrierCopy(const Block &barrierBlock, std::uint32_t barrierOffset) {
  Mbarrier &barrier = mbarrierAt(barrierBlock, barrierOffset);
  barrier.completed = std::min(barrier.completed + 1, RaceStamp::kMaxClock);
  barrier.pending.raise({.component = barrier.copies.component, .clock = barrier.completed});
}

RaceStamp RaceChecker::stampBulkGroup(const Warp &warp, unsigned lane) {
  WarpState &state = stateOf(warp);
  for (const BulkLane &known : state.bulk) {
    if (known.lane == lane) {
      return known.open;
    }
  }
  const std::uint32_t component = newComponent(
      {.part = Part::Bulk, .block = warp.block->rank, .index = warp.index, .lane = lane});
  state.bulk.push_back({.lane = lane, .open = {.component = component, .clock = 1}});
  return state.bulk.back().open;
}

void RaceChecker::bulkCommit(const Warp &warp, LaneMask lanes) {
  for (BulkLane &known : stateOf(warp).bulk) {
    const bool commits = ((lanes >> known.lane) & 1U) != 0;
    known.open.clock = std::min(known.open.clock + (commits ? 1 : 0), RaceStamp::kMaxClock);
  }
}

// Whether global memory has been written, too, makes no difference to shared memory.
void RaceChecker::bulkWait(const Warp &warp, LaneMask lanes, std::uint64_t pending, bool) {
  WarpState &state = stateOf(warp);
  for (const BulkLane &known : state.bulk) {
    if (((lanes >> known.lane) & 1U) != 0 && known.open.clock > pending + 1) {
      const auto clock = static_cast<std::uint32_t>(known.open.clock - 1 - pending);
      state.now.raise({.component = known.open.component, .clock = clock});
    }
  }
}

RaceStamp RaceChecker::stampWgmma(const Warp &warp) {
  WarpState &state = stateOf(warp);
  if (state.wgmma.clock == 0) {
    state.wgmma = {.component = warpComponent(Part::Wgmma, warp.block->rank, warp.index),
                   .clock = 1};
  }
  return state.wgmma;
}

void RaceChecker::wgmmaCommit(const Warp &warp) {
  RaceStamp &open = stateOf(warp).wgmma;
  open.clock = std::min(open.clock + (open.clock == 0 ? 0 : 1), RaceStamp::kMaxClock);
}

void RaceChecker::wgmmaWait(const Warp &warp, std::uint64_t pending) {
  WarpState &state = stateOf(warp);
  if (state.wgmma.clock > pending + 1) {
    const auto clock = static_cast<std::uint32_t>(state.wgmma.clock - 1 - pending);
    state.now.raise({.component = state.wgmma.component, .clock = clock});
  }
}

RaceStamp RaceChecker::stampCopy(const Warp &warp, std::uint32_t group) {
  return {.component = warpComponent(Part::Copies, warp.block->rank, warp.index),
          .clock = std::min(group + 1, RaceStamp::kMaxClock)};
}

// The generic proxy: P learns of it at the next proxy fence.
void RaceChecker::copyWait(const Warp &warp, std::uint32_t group) {
  stateOf(warp).now.all.raise(
      {.component = warpComponent(Part::Copies, warp.block->rank, warp.index),
       .clock = std::min(group, RaceStamp::kMaxClock)});
}

} // namespace fp8jit::emulator
