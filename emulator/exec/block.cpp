// Set-up of a block's state and the cooperative scheduler over its warps.
#include "emulator/exec/block.h"

#include <algorithm>
#include <cstdlib>

namespace fp8jit::emulator {

/// Instructions that a warp runs before another one gets its turn, if it does not block earlier.
static constexpr std::uint64_t kWarpSlice = 1U << 14;

void AlignedDelete::operator()(std::byte *memory) const {
  std::free(memory);
}

bool Block::allocate(LaunchContext &context) {
  launch = &context;
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
      fillSlot<std::uint64_t>(warp, symbol.slot, symbol.offset);
    } else {
      fillSlot(warp, symbol.slot, symbol.offset);
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
    return static_cast<std::uint32_t>(linearIndex % launch->smCount);
  case Special::NSmId:
    return launch->smCount;
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
    return index.x;
  case Special::ClusteridY:
    return index.y;
  case Special::ClusteridZ:
    return index.z;
  case Special::NClusteridX:
    return request.grid.x;
  case Special::NClusteridY:
    return request.grid.y;
  case Special::NClusteridZ:
    return request.grid.z;
  case Special::ClusterNctaidX:
  case Special::ClusterNctaidY:
  case Special::ClusterNctaidZ:
  case Special::ClusterNctarank:
    return 1;
  case Special::AggrSmemSize:
    return shared.sizeBytes();
  case Special::ClusterCtaidX:
  case Special::ClusterCtaidY:
  case Special::ClusterCtaidZ:
  case Special::ClusterCtarank:
  case Special::IsExplicitCluster:
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
  const LaunchContext &context = *launch;
  shared.reset(context.sharedBytes);
  for (NamedBarrier &barrier : barriers) {
    barrier.reset();
  }
  for (Warp &warp : warps) {
    const std::uint32_t lanes = std::min(threadCount - warp.index * kLanes, kLanes);
    warp.live = lanes == kLanes ? kAllLanes : (LaneMask{1} << lanes) - 1;
    warp.active = warp.live;
    warp.pc = 0;
    warp.stopPc = UINT32_MAX;
    warp.carry = 0;
    warp.isBlocked = false;
    warp.others.clear();
    warp.calls.fill({});
    warp.async.clear();
    std::fill(warp.localShadow.begin(), warp.localShadow.end(), std::uint8_t{0});
    fillSpecials(warp);
  }
}

bool Block::run() {
  for (;;) {
    bool hasRun = false;
    bool isWaiting = false;
    for (Warp &warp : warps) {
      if (warp.live == 0) {
        continue;
      }
      if (warp.isBlocked) {
        isWaiting = true;
        continue;
      }
      hasRun = true;
      if (runWarp(warp, std::min(kWarpSlice, launch->budget)) == Outcome::Stop) {
        return false;
      }
      if (launch->budget == 0) {
        launch->findings.addFault(Fault::Budget,
                                  "block " + coordinateText(index) +
                                      " has used up its instruction budget at PTX line " +
                                      std::to_string(launch->steps[warp.pc].instruction->line) +
                                      " of warp " + std::to_string(warp.index));
        return false;
      }
    }
    if (!hasRun && isWaiting) {
      launch->findings.addFault(Fault::Deadlock, "block " + coordinateText(index) +
                                                     " is in a deadlock:" + describeWaits(*this));
      return false;
    }
    if (!hasRun) {
      return true;
    }
  }
}

} // namespace fp8jit::emulator
