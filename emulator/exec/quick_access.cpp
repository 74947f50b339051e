// Checks of the common accesses: one pass over the addresses finds their pattern, then bounds,
// alignment and initialisation are checked for the warp as a whole.
#include "emulator/exec/quick_access.h"

#include <bit>
#include <cstring>
#include <emmintrin.h>

namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET {

static constexpr std::uint64_t kAllWritten = 0x0101010101010101ULL;

/// Sets isUniform and isContiguous from the addresses, which count from the first one.
template <typename Address>
static void findPattern(const Address *base, unsigned sizeShift, QuickAccess &access) {
  const Address first = base[0];
  Address fromFirst = 0;
  Address fromStep = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    const Address difference = base[i] - first;
    fromFirst |= difference;
    fromStep |= difference ^ (Address{i} << sizeShift);
  }
  access.isUniform = fromFirst == 0;
  access.isContiguous = fromStep == 0;
}

/// Sets data and written for the accesses from `first` on, `totalBytes` long; false if they are not
/// inside one region, or not reads and where mbarriers may lie.
static bool findPlace(Warp &warp, Space space, std::uint64_t first, std::uint64_t totalBytes,
                      AccessKind kind, QuickAccess &access) {
  if (space == Space::Shared) {
    Block &block = *warp.block;
    SharedMemory &shared = block.shared;
    const std::uint64_t offset = first - shared.base;
    if (totalBytes > shared.sizeBytes() || offset > shared.sizeBytes() - totalBytes) {
      return false;
    }
    const std::uint64_t guard = block.mbarriers.guardBegin();
    if (kind != AccessKind::Read && offset < guard + block.mbarriers.guardBytes() &&
        guard < offset + totalBytes) {
      return false;
    }
    access.isShared = true;
    access.data = shared.data.data() + offset;
    access.written = shared.written.data() + offset;
    return true;
  }
  if (space != Space::Global && space != Space::Generic) {
    return false;
  }
  if (warp.block->launch->watchesGlobal || !findGlobal(warp, first) ||
      !warp.region.contains(first, totalBytes)) {
    return false;
  }
  access.isShared = false;
  access.data = reinterpret_cast<std::uint8_t *>(first);
  access.written =
      warp.region.shadow == nullptr ? nullptr : warp.region.shadow + (first - warp.region.begin);
  return true;
}

/// Whether `bytes` marks are set. Other threads may write marks of global memory: those are read as
/// whole words, and false is returned where they do not fill such words.
static bool areSet(const QuickAccess &access, std::uint32_t bytes) {
  const std::uint8_t *marks = access.written;
  if (access.isShared && bytes % 16 == 0) {
    __m128i all = _mm_set1_epi8(1);
    for (std::uint32_t i = 0; i < bytes; i += 16) {
      all = _mm_and_si128(all, _mm_loadu_si128(reinterpret_cast<const __m128i *>(marks + i)));
    }
    return _mm_movemask_epi8(_mm_cmpeq_epi8(all, _mm_set1_epi8(1))) == 0xffff;
  }
  if (bytes == 4) {
    return loadRelaxed<std::uint32_t>(marks) == static_cast<std::uint32_t>(kAllWritten);
  }
  if (bytes % 8 != 0 || (reinterpret_cast<std::uintptr_t>(marks) & 7U) != 0) {
    return false;
  }
  std::uint64_t all = kAllWritten;
  for (std::uint32_t i = 0; i < bytes; i += 8) {
    all &= loadRelaxed<std::uint64_t>(marks + i);
  }
  return all == kAllWritten;
}

/// Whether the marks of all lanes, `sizeof(Word)` each, are set.
template <typename Word>
static bool areLanesSet(const QuickAccess &access) {
  Word all = static_cast<Word>(kAllWritten);
  for (unsigned i = 0; i < kLanes; ++i) {
    all &= loadRelaxed<Word>(access.written + access.offset[i]);
  }
  return all == static_cast<Word>(kAllWritten);
}

static bool areScatteredSet(const QuickAccess &access, std::uint32_t sizeBytes) {
  switch (sizeBytes) {
  case 1:
    return areLanesSet<std::uint8_t>(access);
  case 2:
    return areLanesSet<std::uint16_t>(access);
  case 4:
    return areLanesSet<std::uint32_t>(access);
  case 8:
    return areLanesSet<std::uint64_t>(access);
  default:
    break;
  }
  __m128i all = _mm_set1_epi8(1);
  for (unsigned i = 0; i < kLanes; ++i) {
    const auto *marks = reinterpret_cast<const __m128i *>(access.written + access.offset[i]);
    all = _mm_and_si128(all, _mm_loadu_si128(marks));
  }
  return _mm_movemask_epi8(_mm_cmpeq_epi8(all, _mm_set1_epi8(1))) == 0xffff;
}

/// Lanes next to each other, or all at the address `first`.
static bool resolvePattern(Warp &warp, const Step &step, std::uint64_t first, AccessKind kind,
                           std::uint32_t sizeBytes, QuickAccess &access) {
  const std::uint32_t total = access.isContiguous ? kLanes * sizeBytes : sizeBytes;
  if ((first & (sizeBytes - 1)) != 0 ||
      !findPlace(warp, step.instruction->space, first, total, kind, access)) {
    return false;
  }
  if (kind == AccessKind::Read && access.written != nullptr && !areSet(access, total)) {
    return false;
  }
  const std::uint32_t stride = access.isContiguous ? sizeBytes : 0;
  for (std::uint32_t i = 0; i < kLanes; ++i) {
    access.offset[i] = i * stride;
  }
  MemoryCounters &counters = warp.block->launch->counters;
  if (access.isShared) { // one wavefront per 128 bytes, or per quarter-warp of 16-byte broadcasts
    counters.sharedWavefronts += sizeBytes <= 4 ? 1 : sizeBytes / 4;
  } else {
    (kind == AccessKind::Read ? counters.loadSectors : counters.storeSectors) +=
        ((first + total - 1) >> 5) - (first >> 5) + 1;
  }
  return true;
}

/// Whether a lane touches the range in which the block's mbarriers lie.
static bool mayMeetBarrier(const Block &block, const QuickAccess &access, std::uint32_t sizeBytes) {
  const std::uint32_t guardBytes = block.mbarriers.guardBytes();
  if (guardBytes == 0) {
    return false;
  }
  // Overlap of [offset, offset + size) and [begin, begin + guard), as one unsigned comparison.
  const std::uint32_t shift = sizeBytes - 1 - block.mbarriers.guardBegin();
  const std::uint32_t limit = guardBytes + sizeBytes - 1;
  bool meets = false;
  for (unsigned i = 0; i < kLanes; ++i) {
    meets |= access.offset[i] + shift < limit;
  }
  return meets;
}

/// Any 32-bit addresses of shared memory. An offset beyond `limit` has its top bit set itself or
/// makes that of limit - offset set, since shared memory is smaller than 2^31 bytes.
static bool resolveScattered(Warp &warp, const std::uint32_t *base, std::uint32_t displacement,
                             AccessKind kind, std::uint32_t sizeBytes, QuickAccess &access) {
  SharedMemory &shared = warp.block->shared;
  if (shared.sizeBytes() < sizeBytes) {
    return false;
  }
  const std::uint32_t limit = shared.sizeBytes() - sizeBytes;
  const std::uint32_t shift = displacement - shared.base;
  std::uint32_t outside = 0;
  std::uint32_t ored = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    const std::uint32_t offset = base[i] + shift;
    outside |= offset | (limit - offset);
    ored |= offset;
    access.offset[i] = offset;
  }
  if (outside >> 31 != 0 || (ored & (sizeBytes - 1)) != 0 ||
      (kind != AccessKind::Read && mayMeetBarrier(*warp.block, access, sizeBytes))) {
    return false;
  }
  access.isShared = true;
  access.data = shared.data.data();
  access.written = shared.written.data();
  if (kind == AccessKind::Read && !areScatteredSet(access, sizeBytes)) {
    return false;
  }
  countWavefronts(warp.block->launch->counters, access.offset, sizeBytes);
  return true;
}

bool resolveQuickly(Warp &warp, const Step &step, std::uint32_t operand, AccessKind kind,
                    std::uint32_t sizeBytes, QuickAccess &access) {
  const Instruction &instruction = *step.instruction;
  const auto sizeShift = static_cast<unsigned>(std::countr_zero(sizeBytes));
  const auto displacement = static_cast<std::uint64_t>(instruction.immediate);
  if ((instruction.addressBits & 1U) != 0) {
    const auto *base = warp.lanes<const std::uint64_t>(operand);
    findPattern(base, sizeShift, access);
    return (access.isUniform || access.isContiguous) &&
           resolvePattern(warp, step, base[0] + displacement, kind, sizeBytes, access);
  }
  const auto *base = warp.lanes<const std::uint32_t>(operand);
  const auto low = static_cast<std::uint32_t>(displacement);
  findPattern(base, sizeShift, access);
  if (access.isUniform || access.isContiguous) {
    return resolvePattern(warp, step, base[0] + low, kind, sizeBytes, access);
  }
  return instruction.space == Space::Shared &&
         resolveScattered(warp, base, low, kind, sizeBytes, access);
}

Outcome checkRaces(Warp &warp, const Step &step, AccessKind kind, const QuickAccess &access,
                   std::uint32_t sizeBytes) {
  const Block &block = *warp.block;
  if (block.race == nullptr || !access.isShared) {
    return Outcome::Next;
  }
  const RaceAccess raceKind = raceAccess(*step.instruction, kind);
  const auto first = static_cast<std::uint32_t>(access.data - block.shared.data.data());
  if (access.isContiguous) {
    return block.race->accessRow(warp, step, block, raceKind, first, sizeBytes);
  }
  const LaneMask lanes = access.isUniform ? 1 : kAllLanes;
  return block.race->access(warp, step, block, raceKind, access.isUniform ? &first : access.offset,
                            lanes, sizeBytes);
}

/// Sets `Word`-sized marks of each lane, one per `sizeBytes / sizeof(Word)`.
template <typename Word>
static void markLanes(const QuickAccess &access, std::uint32_t sizeBytes) {
  for (unsigned i = 0; i < kLanes; ++i) {
    for (std::uint32_t byte = 0; byte < sizeBytes; byte += sizeof(Word)) {
      storeRelaxed<Word>(access.written + access.offset[i] + byte, static_cast<Word>(kAllWritten));
    }
  }
}

void markWritten(const QuickAccess &access, std::uint32_t sizeBytes) {
  if (access.written == nullptr) {
    return;
  }
  if (access.isShared && access.isContiguous) {
    std::memset(access.written, 1, std::size_t{kLanes} * sizeBytes);
    return;
  }
  switch (sizeBytes) {
  case 1:
    markLanes<std::uint8_t>(access, 1);
    break;
  case 2:
    markLanes<std::uint16_t>(access, 2);
    break;
  case 4:
    markLanes<std::uint32_t>(access, 4);
    break;
  default:
    markLanes<std::uint64_t>(access, sizeBytes);
    break;
  }
}

} // namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET
