// Counting of 32-byte sectors and shared-memory wavefronts.
#include "emulator/exec/access.h"

#include <algorithm>
#include <array>

namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET {

std::uint64_t countSectors(const std::uint64_t *address, LaneMask lanes, std::uint32_t sizeBytes) {
  // Natural alignment keeps an access of up to 32 bytes in one sector. Neighbouring lanes mostly
  // ascend; only where they do not are sectors that come back looked for.
  std::array<std::uint64_t, kLanes> sectors;
  std::uint64_t count = 0;
  bool isAscending = true;
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
    const std::uint64_t sector = address[std::countr_zero(rest)] >> 5;
    if (count > 0 && sector <= sectors[count - 1]) {
      isAscending &= sector == sectors[count - 1];
      if (sector == sectors[count - 1]) {
        continue;
      }
    }
    sectors[count++] = sector;
  }
  if (!isAscending) {
    const auto end = sectors.begin() + static_cast<std::ptrdiff_t>(count);
    std::sort(sectors.begin(), end);
    count = static_cast<std::uint64_t>(std::unique(sectors.begin(), end) - sectors.begin());
  }
  return sizeBytes > 32 ? count * (sizeBytes / 32) : count;
}

/// Whether the lanes of one phase from `first` on, all active, fall on different bank groups.
template <unsigned UnitShift, typename Offset>
static bool areSpread(const Offset *offset, unsigned first) {
  constexpr unsigned kGroups = 128U >> UnitShift; // and as many lanes in a phase
  std::uint32_t seen = 0;
  for (unsigned i = 0; i < kGroups; ++i) {
    seen |= 1U << ((static_cast<std::uint32_t>(offset[first + i]) >> UnitShift) & (kGroups - 1));
  }
  return static_cast<std::uint32_t>(seen + 1) == (kGroups == 32 ? 0U : 1U << (kGroups % 32));
}

/// Wavefronts of one phase: the most distinct units that fall on one bank group. `unitShift` is
/// log2 of the unit, and 128 bytes of units make a row of banks.
template <typename Offset>
static unsigned countPhase(const Offset *offset, LaneMask lanes, unsigned unitShift) {
  const unsigned groups = 128U >> unitShift;
  std::uint32_t seen = 0;
  bool collides = false;
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
    const auto group =
        static_cast<unsigned>(offset[std::countr_zero(rest)] >> unitShift) & (groups - 1);
    collides |= ((seen >> group) & 1U) != 0;
    seen |= 1U << group;
  }
  if (!collides) {
    return 1;
  }
  std::array<Offset, kLanes> units;
  std::size_t count = 0;
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
    units[count++] = offset[std::countr_zero(rest)] >> unitShift;
  }
  const auto end = units.begin() + static_cast<std::ptrdiff_t>(count);
  std::sort(units.begin(), end);
  const auto last = std::unique(units.begin(), end);
  std::array<std::uint8_t, kLanes> perGroup{};
  unsigned most = 0;
  for (auto unit = units.begin(); unit != last; ++unit) {
    std::uint8_t &number = perGroup[*unit & (groups - 1)];
    ++number;
    most = std::max<unsigned>(most, number);
  }
  return most;
}

template <typename Offset>
static void countAny(MemoryCounters &counters, const Offset *offset, LaneMask lanes,
                     std::uint32_t sizeBytes) {
  const unsigned phases = sizeBytes <= 4 ? 1 : sizeBytes == 8 ? 2 : 4;
  const unsigned unitShift = sizeBytes <= 4 ? 2 : sizeBytes == 8 ? 3 : 4;
  const unsigned lanesPerPhase = kLanes / phases;
  for (unsigned phase = 0; phase < phases; ++phase) {
    const LaneMask inPhase =
        (phases == 1 ? kAllLanes : ((LaneMask{1} << lanesPerPhase) - 1) << (phase * lanesPerPhase));
    if ((lanes & inPhase) == 0) {
      continue;
    }
    const unsigned first = phase * lanesPerPhase;
    const bool isSpread =
        (lanes & inPhase) == inPhase && (unitShift == 2   ? areSpread<2>(offset, first)
                                         : unitShift == 3 ? areSpread<3>(offset, first)
                                                          : areSpread<4>(offset, first));
    const unsigned wavefronts = isSpread ? 1 : countPhase(offset, lanes & inPhase, unitShift);
    counters.sharedWavefronts += wavefronts;
    counters.sharedBankConflicts += wavefronts - 1;
  }
}

void countWavefronts(MemoryCounters &counters, const std::uint64_t *offset, LaneMask lanes,
                     std::uint32_t sizeBytes) {
  countAny(counters, offset, lanes, sizeBytes);
}

void countWavefronts(MemoryCounters &counters, const std::uint32_t *offset,
                     std::uint32_t sizeBytes) {
  countAny(counters, offset, kAllLanes, sizeBytes);
}

} // namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET
