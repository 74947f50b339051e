// Set-up of a block's state.
#include "emulator/exec/block.h"

#include "emulator/exec/cluster.h"

#include <algorithm>
#include <cstdlib>

namespace fp8jit::emulator {

void AlignedDelete::operator()(std::byte *memory) const {
  std::free(memory);
}

bool Block::allocate(Cluster &owner, std::uint32_t blockRank) {
  const LaunchPlan &plan = owner.plan;
  LaunchContext &context = owner.context;
  cluster = &owner;
  launch = &context;
  rank = blockRank;
  shared.base = plan.sharedOffset | (rank << SharedMemory::kRankShift);
  const Kernel &kernel = context.kernel;
  const Dim3 &shape = context.request.block;
  threadCount = shape.x * shape.y * shape.z;
  const std::uint32_t warpCount = (threadCount + kLanes - 1) / kLanes;
  const std::size_t warpBytes = std::size_t{kernel.slotCount} * kSlotBytes;
  const std::size_t totalBytes = std::max<std::size_t>(warpBytes * warpCount, kSlotBytes);
  registerFile.reset(static_cast<std::byte *>(std::aligned_alloc(kSlotBytes, totalBytes)));
  if (registerFile == nullptr) {
    return false;
  }
  std::fill_n(registerFile.get(), totalBytes, std::byte{0});
  const std::size_t predicatesPerWarp = kernel.predicateCount;
  predicateFile.assign(predicatesPerWarp * warpCount, 0);
  warps.resize(warpCount);
  for (std::uint32_t w = 0; w < warpCount; ++w) {
    Warp &warp = warps[w];
    warp.block = this;
    warp.index = w;
    warp.registers = registerFile.get() + w * warpBytes;
    warp.predicates = predicateFile.data() + w * predicatesPerWarp;
    warp.local.assign(std::size_t{context.localStride} * kLanes, SharedMemory::kPoison);
    warp.localShadow.assign(warp.local.size(), 0);
    fillConstants(warp);
  }
  return true;
}

template <typename Storage>
static void fillSlot(Warp &warp, std::uint32_t slot, Storage value) {
  std::fill_n(warp.lanes<Storage>(slot * kSlotBytes), kLanes, value);
}

void Block::fillConstants(Warp &warp) {
  const Kernel &kernel = launch->kernel;
  for (const ConstantSlot &constant : kernel.constants) {
    if (constant.is64) {
      fillSlot<std::uint64_t>(warp, constant.slot, constant.bits);
    } else {
      fillSlot(warp, constant.slot, static_cast<std::uint32_t>(constant.bits));
    }
  }
  for (const SymbolSlot &symbol : kernel.symbols) {
    fillSlot<std::uint64_t>(warp, symbol.slot,
                            launch->request.globalAddresses[symbol.global] +
                                static_cast<std::uint64_t>(symbol.addend));
  }
  for (const SharedSlot &symbol : kernel.sharedSymbols) {
    if (symbol.is64) {
      fillSlot<std::uint64_t>(warp, symbol.slot, shared.base + symbol.offset);
    } else {
      fillSlot(warp, symbol.slot, shared.base + symbol.offset);
    }
  }
  for (const ConstantPredicate &predicate : kernel.constantPredicates) {
    warp.predicates[predicate.index] = predicate.value ? kAllLanes : 0;
  }
}

std::uint32_t Block::specialOf(const Warp &warp, Special special, unsigned lane) const {
  const LaunchRequest &request = launch->request;
  const Dim3 thread = threadIndex(request.block, warp.index, lane);
  const LaneMask bit = LaneMask{1} << lane;
  switch (special) {
  case Special::TidX:
    return thread.x;
  case Special::TidY:
    return thread.y;
  case Special::TidZ:
    return thread.z;
  case Special::NtidX:
    return request.block.x;
  case Special::NtidY:
    return request.block.y;
  case Special::NtidZ:
    return request.block.z;
  case Special::CtaidX:
    return index.x;
  case Special::CtaidY:
    return index.y;
  case Special::CtaidZ:
    return index.z;
  case Special::NctaidX:
    return request.grid.x;
  case Special::NctaidY:
    return request.grid.y;
  case Special::NctaidZ:
    return request.grid.z;
  case Special::LaneId:
    return lane;
  case Special::WarpId:
    return warp.index;
  case Special::NWarpId:
    return static_cast<std::uint32_t>(warps.size());
  case Special::SmId:
    return static_cast<std::uint32_t>(linearIndex % launch->plan.smCount);
  case Special::NSmId:
    return launch->plan.smCount;
  case Special::LaneMaskEq:
    return bit;
  case Special::LaneMaskLt:
    return bit - 1;
  case Special::LaneMaskLe:
    return bit | (bit - 1);
  case Special::LaneMaskGt:
    return ~(bit | (bit - 1));
  case Special::LaneMaskGe:
    return ~(bit - 1);
  case Special::DynamicSmemSize:
    return request.dynamicSharedBytes;
  case Special::TotalSmemSize:
    return shared.sizeBytes();
  case Special::ClusteridX:
    return cluster->index.x;
  case Special::ClusteridY:
    return cluster->index.y;
  case Special::ClusteridZ:
    return cluster->index.z;
  case Special::NClusteridX:
    return launch->plan.clusterGrid.x;
  case Special::NClusteridY:
    return launch->plan.clusterGrid.y;
  case Special::NClusteridZ:
    return launch->plan.clusterGrid.z;
  case Special::ClusterCtaidX:
    return index.x % request.cluster.x;
  case Special::ClusterCtaidY:
    return index.y % request.cluster.y;
  case Special::ClusterCtaidZ:
    return index.z % request.cluster.z;
  case Special::ClusterNctaidX:
    return request.cluster.x;
  case Special::ClusterNctaidY:
    return request.cluster.y;
  case Special::ClusterNctaidZ:
    return request.cluster.z;
  case Special::ClusterCtarank:
    return rank;
  case Special::ClusterNctarank:
    return launch->plan.clusterSize;
  case Special::IsExplicitCluster:
    return request.isExplicitCluster || launch->kernel.explicitCluster ? 1 : 0;
  case Special::AggrSmemSize:
    return shared.sizeBytes() * launch->plan.clusterSize;
  case Special::GridId:
  case Special::Clock:
  case Special::ClockHi:
  case Special::Clock64:
  case Special::GlobalTimer:
  case Special::GlobalTimerLo:
  case Special::GlobalTimerHi:
    break; // 0, or read by an instruction
  }
  return 0;
}

void Block::fillSpecials(Warp &warp) {
  for (const SpecialSlot &special : launch->kernel.specials) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const std::uint32_t value = specialOf(warp, special.special, lane);
      if (special.is64) {
        warp.lanes<std::uint64_t>(special.slot * kSlotBytes)[lane] = value;
      } else {
        warp.lanes<std::uint32_t>(special.slot * kSlotBytes)[lane] = value;
      }
    }
  }
}

void Block::start(const Dim3 &blockIndex, std::uint64_t linear) {
  index = blockIndex;
  linearIndex = linear;
  state = BlockState::NotStarted;
  hasWaitedForGrid = false;
  liveWarps = static_cast<std::uint32_t>(warps.size());
  const LaunchPlan &plan = launch->plan;
  shared.reset(plan.sharedBytes);
  mbarriers.reset(plan.sharedBytes);
  registerPool = {.available = 0, .total = plan.registersPerThread * kLanes * liveWarps};
  for (NamedBarrier &barrier : barriers) {
    barrier.reset();
  }
  for (Warp &warp : warps) {
    const std::uint32_t lanes = std::min(threadCount - warp.index * kLanes, kLanes);
    warp.live = lanes == kLanes ? kAllLanes : (LaneMask{1} << lanes) - 1;
    warp.active = warp.live;
    warp.pc = 0;
    const WarpTrace &trace = launch->request.trace;
    warp.isTraced = trace.sink != nullptr && trace.block == linear && trace.warp == warp.index;
    warp.stopPc = UINT32_MAX;
    warp.carry = 0;
    warp.isBlocked = warp.mustAnswer = false;
    warp.seenWakeCount = 0;
    warp.others.clear();
    warp.calls.fill({});
    warp.async.clear();
    std::fill_n(warp.bulkGroups, kLanes, 0U);
    warp.wgmmaGroups = 0;
    warp.warpgroup = {};
    warp.registerCount = plan.registersPerThread;
    warp.clusterArrived = warp.clusterReleased = 0;
    std::fill(warp.localShadow.begin(), warp.localShadow.end(), std::uint8_t{0});
    fillSpecials(warp);
  }
}

} // namespace fp8jit::emulator
