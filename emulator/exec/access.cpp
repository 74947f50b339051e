// Bounds, alignment and initialisation checks of a warp's memory accesses.
#include "emulator/exec/access.h"

#include <bit>
#include <cinttypes>
#include <cstdio>

namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET {

static constexpr std::uint64_t kAllWritten = 0x0101010101010101ULL;

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

static const char *spaceWord(Space space) {
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
  const Block *owner = nullptr;
  Space space = Space::Global;
  std::uint64_t window = 0; ///< subtracted from generic addresses in reports
};

static Space spaceOf(const AccessRequest &request, std::uint64_t address) {
  if (request.space != Space::Generic) {
    return request.space == Space::Const ? Space::Global : request.space;
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

static Outcome findRegion(Warp &warp, const Step &step, const AccessRequest &request, unsigned lead,
                          Region &region) {
  const std::uint64_t address = request.address[lead];
  Block &block = *warp.block;
  region.space = spaceOf(request, address);
  const bool isGeneric = request.space == Space::Generic;
  if (region.space == Space::Shared) {
    region.window = isGeneric ? kSharedWindow : 0;
    region.begin = region.window;
    region.sizeBytes = block.shared.sizeBytes();
    region.owner = &block;
    region.data = block.shared.data.data();
    region.written = block.shared.written.data();
    return Outcome::Next;
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
  text += region.space == Space::Global
              ? launch.memory.describe(address + request.sizeBytes - 1)
              : "outside the " + std::to_string(region.sizeBytes) + " bytes there";
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
    const bool sharesSpace = spaceOf(request, request.address[i]) == region.space;
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
  countAccess(warp, request, span, region.begin);
  if (region.space == Space::Local) { // each lane has its own piece
    for (unsigned i = 0; i < kLanes; ++i) {
      span.offset[i] += std::uint64_t{i} * warp.block->launch->localStride;
    }
    span.isUniform = false;
    span.isContiguous = false;
  }
  return Outcome::Next;
}

/// Whether `sizeBytes` marks (a power of two, aligned) are all set.
static bool isWritten(const std::uint8_t *marks, std::uint32_t sizeBytes) {
  switch (sizeBytes) {
  case 1:
    return loadRelaxed<std::uint8_t>(marks) == 1;
  case 2:
    return loadRelaxed<std::uint16_t>(marks) == 0x0101;
  case 4:
    return loadRelaxed<std::uint32_t>(marks) == 0x01010101U;
  default:
    break;
  }
  std::uint64_t all = kAllWritten;
  for (std::uint32_t i = 0; i < sizeBytes; i += 8) {
    all &= loadRelaxed<std::uint64_t>(marks + i);
  }
  return all == kAllWritten;
}

static Outcome reportUnwritten(Warp &warp, const Step &step, const Span &span,
                               std::uint32_t sizeBytes) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const std::uint8_t *marks = span.written + span.offset[lane];
    if (((span.lanes >> lane) & 1U) == 0 || isWritten(marks, sizeBytes)) {
      continue;
    }
    std::uint32_t byte = 0;
    while (marks[byte] != 0) {
      ++byte;
    }
    std::uint64_t address = span.offset[lane];
    if (span.space == Space::Global) {
      address += warp.region.begin;
    } else if (span.space == Space::Local) {
      address -= std::uint64_t{lane} * warp.block->launch->localStride;
    }
    char text[160];
    std::snprintf(text, sizeof(text),
                  "reads %u bytes at %s0x%" PRIx64 ", of which byte %u was never written",
                  sizeBytes, spaceWord(span.space), address, byte);
    return warp.block->launch->findings.add(warp, *step.instruction, LaneMask{1} << lane,
                                            Fault::UninitializedRead, Severity::Finding, text);
  }
  return Outcome::Next;
}

/// Whether the marks of all lanes are set, `Word` bytes at a time.
template <typename Word>
static bool areLanesWritten(const Span &span, std::uint32_t sizeBytes) {
  constexpr Word kSet = static_cast<Word>(kAllWritten);
  Word all = kSet;
  for (std::uint32_t word = 0; word < sizeBytes; word += sizeof(Word)) {
    for (unsigned i = 0; i < kLanes; ++i) { // lanes outside span.lanes repeat the first one
      all &= loadRelaxed<Word>(span.written + span.offset[i] + word);
    }
  }
  return all == kSet;
}

static bool areMarksSet(const Span &span, std::uint32_t sizeBytes) {
  if (span.isUniform) {
    return isWritten(span.written + span.offset[0], sizeBytes);
  }
  const std::uint8_t *marks = span.written + span.offset[0];
  if (span.isContiguous && sizeBytes >= 4 && (span.offset[0] & 7U) == 0) {
    std::uint64_t all = kAllWritten;
    for (unsigned i = 0; i < kLanes * sizeBytes; i += 8) {
      all &= loadRelaxed<std::uint64_t>(marks + i);
    }
    return all == kAllWritten;
  }
  switch (sizeBytes) {
  case 1:
    return areLanesWritten<std::uint8_t>(span, sizeBytes);
  case 2:
    return areLanesWritten<std::uint16_t>(span, sizeBytes);
  case 4:
    return areLanesWritten<std::uint32_t>(span, sizeBytes);
  default:
    return areLanesWritten<std::uint64_t>(span, sizeBytes);
  }
}

Outcome checkWritten(Warp &warp, const Step &step, const Span &span, std::uint32_t sizeBytes) {
  if (span.written == nullptr || areMarksSet(span, sizeBytes)) {
    return Outcome::Next;
  }
  return reportUnwritten(warp, step, span, sizeBytes);
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

void markWritten(const Span &span, std::uint32_t sizeBytes) {
  if (span.written == nullptr) {
    return;
  }
  if (span.isContiguous && sizeBytes >= 4 && (span.offset[0] & 7U) == 0) {
    for (unsigned i = 0; i < kLanes * sizeBytes; i += 8) {
      storeRelaxed<std::uint64_t>(span.written + span.offset[0] + i, kAllWritten);
    }
    return;
  }
  for (LaneMask rest = span.lanes; rest != 0; rest &= rest - 1) {
    std::uint8_t *marks = span.written + span.offset[std::countr_zero(rest)];
    switch (sizeBytes) {
    case 1:
      storeRelaxed<std::uint8_t>(marks, 1);
      break;
    case 2:
      storeRelaxed<std::uint16_t>(marks, 0x0101);
      break;
    case 4:
      storeRelaxed<std::uint32_t>(marks, 0x01010101U);
      break;
    default:
      for (std::uint32_t i = 0; i < sizeBytes; i += 8) {
        storeRelaxed<std::uint64_t>(marks + i, kAllWritten);
      }
    }
  }
}

} // namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET
