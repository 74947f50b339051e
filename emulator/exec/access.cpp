// Bounds and alignment checks of a warp's memory accesses.
#include "emulator/exec/access.h"

#include "emulator/exec/cluster.h"
#include "emulator/exec/grid_dependency.h"

#include <bit>
#include <cinttypes>
#include <cstdio>

namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET {

void readAddresses(const Warp &warp, std::uint32_t operand, bool is64, std::int64_t displacement,
                   AccessRequest &request) {
  const auto added = static_cast<std::uint64_t>(displacement);
  if (is64) {
    const std::uint64_t *base = warp.lanes<const std::uint64_t>(operand);
    for (unsigned i = 0; i < kLanes; ++i) {
      request.address[i] = base[i] + added;
    }
    return;
  }
  const std::uint32_t *base = warp.lanes<const std::uint32_t>(operand);
  const auto low = static_cast<std::uint32_t>(added);
  for (unsigned i = 0; i < kLanes; ++i) {
    request.address[i] = base[i] + low;
  }
}

static const char *verb(AccessKind kind) {
  switch (kind) {
  case AccessKind::Read:
    return "reads";
  case AccessKind::Write:
    return "writes";
  case AccessKind::Update:
    return "updates";
  }
  return "accesses";
}

const char *spaceWord(Space space) {
  return space == Space::Shared ? "shared offset " : space == Space::Local ? "local offset " : "";
}

static std::string accessText(const AccessRequest &request, Space space, std::uint64_t address) {
  char text[96];
  std::snprintf(text, sizeof(text), "%s %u bytes at %s0x%" PRIx64, verb(request.kind),
                request.sizeBytes, spaceWord(space), address);
  return text;
}

/// The region that an access of the first lane falls into.
struct Region {
  std::uint64_t begin = 0, sizeBytes = 0;
  std::uint8_t *data = nullptr, *written = nullptr;
  Space space = Space::Global;
  std::uint64_t window = 0; ///< subtracted from generic addresses in reports
  Block *owner = nullptr;   ///< of shared memory
};

/// Shared stands for the memory of any block of the cluster.
static Space spaceOf(const AccessRequest &request, std::uint64_t address) {
  if (request.space == Space::Const) {
    return Space::Global;
  }
  if (request.space != Space::Generic) {
    return request.space == Space::SharedCluster ? Space::Shared : request.space;
  }
  switch (address & kWindowMask) {
  case kSharedWindow:
    return Space::Shared;
  case kLocalWindow:
    return Space::Local;
  case kParamWindow:
    return Space::Param;
  default:
    return Space::Global;
  }
}

// Reads the table of allocations unless the latest region still serves.
bool findGlobal(Warp &warp, std::uint64_t address) {
  const GlobalMemory &memory = warp.block->launch->memory;
  const std::uint64_t generation = memory.generation();
  if (warp.regionGeneration == generation && address >= warp.region.begin &&
      address < warp.region.end) {
    return true;
  }
  const std::optional<MemoryRegion> region = memory.find(address);
  if (!region) {
    return false;
  }
  warp.region = *region;
  warp.regionGeneration = generation;
  return true;
}

/// Whether the address may name the memory of another block of the cluster than the thread's.
static bool mayBePeer(const Warp &warp, const AccessRequest &request) {
  return request.space != Space::Shared && warp.block->launch->plan.sharedOffset != 0;
}

static Outcome findShared(Warp &warp, const Step &step, const AccessRequest &request, unsigned lead,
                          Region &region) {
  Block *owner = warp.block;
  region.window = request.space == Space::Generic ? kSharedWindow : 0;
  if (mayBePeer(warp, request)) {
    const auto address = static_cast<std::uint32_t>(request.address[lead]);
    Cluster &cluster = *owner->cluster;
    if (cluster.blockAt(address) != owner) {
      const std::string problem = cluster.peerProblem(address);
      if (!problem.empty()) {
        return cluster.context.findings.add(
            warp, *step.instruction, LaneMask{1} << lead, Fault::IllegalAddress,
            Severity::HardwareFault, accessText(request, Space::Shared, address) + ", " + problem);
      }
      owner = cluster.blockAt(address);
    }
  }
  region.owner = owner;
  region.begin = region.window + owner->shared.base;
  region.sizeBytes = owner->shared.sizeBytes();
  region.data = owner->shared.data.data();
  region.written = owner->shared.written.data();
  return Outcome::Next;
}

static Outcome findRegion(Warp &warp, const Step &step, const AccessRequest &request, unsigned lead,
                          Region &region) {
  const std::uint64_t address = request.address[lead];
  Block &block = *warp.block;
  region.space = spaceOf(request, address);
  const bool isGeneric = request.space == Space::Generic;
  if (region.space == Space::Shared) {
    return findShared(warp, step, request, lead, region);
  }
  if (region.space == Space::Local) {
    region.window = isGeneric ? kLocalWindow : 0;
    region.begin = region.window;
    region.sizeBytes = block.launch->kernel.localBytes;
    region.data = warp.local.data();
    region.written = warp.localShadow.data();
    return Outcome::Next;
  }
  if (region.space == Space::Param) {
    std::vector<std::uint8_t> &parameters = block.launch->parameters;
    region.window = isGeneric ? kParamWindow : 0;
    region.begin = region.window;
    region.sizeBytes = parameters.size();
    region.data = parameters.data();
    return Outcome::Next;
  }
  if (!findGlobal(warp, address)) {
    std::string text = accessText(request, Space::Global, address) + ", ";
    text += block.launch->memory.describe(address);
    return block.launch->findings.add(warp, *step.instruction, LaneMask{1} << lead,
                                      Fault::IllegalAddress, Severity::HardwareFault, text);
  }
  region.begin = warp.region.begin;
  region.sizeBytes = warp.region.end - warp.region.begin;
  region.data = reinterpret_cast<std::uint8_t *>(warp.region.begin);
  region.written = warp.region.shadow;
  return Outcome::Next;
}

static Outcome reportOutside(Warp &warp, const Step &step, const AccessRequest &request,
                             const Region &region, unsigned lane) {
  LaunchContext &launch = *warp.block->launch;
  const std::uint64_t address = request.address[lane];
  std::string text = accessText(request, region.space, address - region.window) + ", ";
  if (region.space == Space::Global) {
    text += launch.memory.describe(address + request.sizeBytes - 1);
  } else {
    char begin[32] = " bytes there";
    if (region.begin != region.window) {
      std::snprintf(begin, sizeof(begin), " bytes from 0x%" PRIx64, region.begin - region.window);
    }
    text += "outside the " + std::to_string(region.sizeBytes) + begin;
  }
  return launch.findings.add(warp, *step.instruction, LaneMask{1} << lane, Fault::IllegalAddress,
                             Severity::HardwareFault, text);
}

static Outcome reportMisaligned(Warp &warp, const Step &step, const AccessRequest &request,
                                const Region &region, LaneMask lanes) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const bool isOff = (request.address[lane] & (request.sizeBytes - 1)) != 0;
    if (((lanes >> lane) & 1U) != 0 && isOff) {
      std::string text = accessText(request, region.space, request.address[lane] - region.window) +
                         ", which is not a multiple of " + std::to_string(request.sizeBytes);
      return warp.block->launch->findings.add(warp, *step.instruction, LaneMask{1} << lane,
                                              Fault::MisalignedAddress, Severity::HardwareFault,
                                              text);
    }
  }
  return Outcome::Next;
}

/// Keeps the lanes that lie in the region. A lane outside is an error unless it may lie in another
/// global allocation or, with a generic address, in another window.
static Outcome keepInside(Warp &warp, const Step &step, const AccessRequest &request,
                          const Region &region, LaneMask lanes, Span &span) {
  const std::uint64_t limit = region.sizeBytes - request.sizeBytes;
  span.lanes = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    const std::uint64_t offset = request.address[i] - region.begin;
    if (((lanes >> i) & 1U) == 0) {
      continue;
    }
    if (request.sizeBytes <= region.sizeBytes && offset <= limit) {
      span.lanes |= LaneMask{1} << i;
      continue;
    }
    const bool isPeer = region.space == Space::Shared && mayBePeer(warp, request) &&
                        (request.address[i] ^ region.begin) >> SharedMemory::kRankShift != 0;
    const bool sharesSpace = spaceOf(request, request.address[i]) == region.space && !isPeer;
    const bool startsInside = offset < region.sizeBytes;
    if (startsInside || (sharesSpace && region.space != Space::Global)) {
      return reportOutside(warp, step, request, region, i);
    }
  }
  return Outcome::Next;
}

/// Offsets of all lanes; those outside span.lanes get the one of `lead`. Returns the offsets ORed.
/// Branch-free, so that compilers vectorise it.
static std::uint64_t fillOffsets(const AccessRequest &request, const Region &region, unsigned lead,
                                 Span &span) {
  const std::uint64_t first = request.address[lead] - region.begin;
  if (span.lanes == kAllLanes) {
    for (unsigned i = 0; i < kLanes; ++i) {
      span.offset[i] = request.address[i] - region.begin;
    }
  } else {
    for (unsigned i = 0; i < kLanes; ++i) {
      const std::uint64_t own = request.address[i] - region.begin;
      span.offset[i] = ((span.lanes >> i) & 1U) != 0 ? own : first;
    }
  }
  const auto sizeShift = static_cast<unsigned>(std::countr_zero(request.sizeBytes));
  std::uint64_t ored = 0;
  std::uint64_t fromFirst = 0;
  std::uint64_t fromStep = 0;
  for (std::uint64_t i = 0; i < kLanes; ++i) {
    ored |= span.offset[i];
    fromFirst |= span.offset[i] ^ first;
    fromStep |= span.offset[i] ^ (first + (i << sizeShift));
  }
  span.isUniform = fromFirst == 0;
  span.isContiguous = fromStep == 0 && span.lanes == kAllLanes;
  return ored;
}

/// Whether every lane lies in the region. An offset beyond `limit` has its top bit set itself or
/// makes that of limit - offset set, since regions are smaller than 2^63 bytes.
static bool allInside(const AccessRequest &request, const Region &region, LaneMask lanes) {
  if (request.sizeBytes > region.sizeBytes) {
    return false;
  }
  const std::uint64_t limit = region.sizeBytes - request.sizeBytes;
  std::uint64_t outside = 0;
  if (lanes == kAllLanes) {
    for (unsigned i = 0; i < kLanes; ++i) {
      const std::uint64_t offset = request.address[i] - region.begin;
      outside |= offset | (limit - offset);
    }
  } else {
    for (unsigned i = 0; i < kLanes; ++i) {
      const std::uint64_t offset = request.address[i] - region.begin;
      outside |= ((lanes >> i) & 1U) != 0 ? offset | (limit - offset) : 0;
    }
  }
  return outside >> 63 == 0;
}

static void countAccess(Warp &warp, const AccessRequest &request, const Span &span,
                        std::uint64_t begin) {
  MemoryCounters &counters = warp.block->launch->counters;
  if (span.space == Space::Shared) {
    if (span.isContiguous || (span.isUniform && request.sizeBytes <= 4)) { // one per 128 bytes
      counters.sharedWavefronts += request.sizeBytes <= 4 ? 1 : request.sizeBytes / 4;
    } else {
      countWavefronts(counters, span.offset, span.lanes, request.sizeBytes);
    }
    return;
  }
  if (span.space != Space::Global) {
    return;
  }
  std::uint64_t sectors = 1;
  if (span.isContiguous) {
    const std::uint64_t first = begin + span.offset[0];
    sectors = ((first + kLanes * request.sizeBytes - 1) >> 5) - (first >> 5) + 1;
  } else if (!span.isUniform) {
    sectors = countSectors(request.address, span.lanes, request.sizeBytes);
  }
  (request.kind == AccessKind::Read ? counters.loadSectors : counters.storeSectors) += sectors;
}

/// Ordinary stores and atomics may not touch a live mbarrier.
static Outcome checkBarriers(Warp &warp, const Step &step, const AccessRequest &request,
                             const Region &region, const Span &span) {
  const MbarrierTable &table = region.owner->mbarriers;
  if (request.kind == AccessKind::Read || table.guardBytes() == 0) {
    return Outcome::Next;
  }
  for (LaneMask rest = span.lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    if (table.findOverlap(span.offset[lane], request.sizeBytes) != nullptr) {
      return warp.block->launch->findings.add(
          warp, *step.instruction, LaneMask{1} << lane, Fault::IllegalInstruction,
          Severity::Finding,
          accessText(request, Space::Shared, request.address[lane] - region.window) +
              ", where a live mbarrier lies");
    }
  }
  return Outcome::Next;
}

/// Accesses of a launch that overlaps with others (grid_dependency.h).
static Outcome watchLanes(Warp &warp, const Step &step, const AccessRequest &request,
                          const Span &span) {
  for (LaneMask rest = span.lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    if (watchGlobal(warp, step, lane, request.address[lane], request.sizeBytes,
                    request.kind != AccessKind::Read) == Outcome::Stop) {
      return Outcome::Stop;
    }
  }
  return Outcome::Next;
}

Outcome resolve(Warp &warp, const Step &step, const AccessRequest &request, LaneMask lanes,
                Span &span) {
  const auto lead = static_cast<unsigned>(std::countr_zero(lanes));
  Region region;
  if (findRegion(warp, step, request, lead, region) == Outcome::Stop) {
    return Outcome::Stop;
  }
  span.lanes = lanes;
  span.space = region.space;
  if (!allInside(request, region, lanes) &&
      keepInside(warp, step, request, region, lanes, span) == Outcome::Stop) {
    return Outcome::Stop;
  }
  span.owner = region.owner;
  span.data = region.data;
  span.written = region.written;
  const std::uint64_t ored = fillOffsets(request, region, lead, span) | region.begin;
  if ((ored & (request.sizeBytes - 1)) != 0 &&
      reportMisaligned(warp, step, request, region, span.lanes) == Outcome::Stop) {
    return Outcome::Stop;
  }
  span.shownBegin = region.begin - region.window;
  countAccess(warp, request, span, region.begin);
  if (region.space == Space::Shared) {
    return checkBarriers(warp, step, request, region, span);
  }
  if (region.space == Space::Global && warp.block->launch->watchesGlobal) {
    return watchLanes(warp, step, request, span);
  }
  if (region.space == Space::Local) { // each lane has its own piece
    for (unsigned i = 0; i < kLanes; ++i) {
      span.offset[i] += std::uint64_t{i} * warp.block->launch->localStride;
    }
    span.isUniform = false;
    span.isContiguous = false;
  }
  return Outcome::Next;
}

} // namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET
