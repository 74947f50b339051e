// Bounds, initialisation and transfer of contiguous ranges. Global memory is accessed with relaxed
// atomics, eight bytes at a time: other threads may run kernels.
#include "emulator/exec/memory_range.h"

#include "emulator/exec/cluster.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace fp8jit::emulator {

std::uint32_t MemoryRange::offset() const {
  return static_cast<std::uint32_t>(address) - owner->shared.base;
}

static Outcome report(Warp &warp, const Step &step, unsigned lane, Fault fault, Severity severity,
                      std::string_view what) {
  return warp.block->launch->findings.add(warp, *step.instruction, LaneMask{1} << lane, fault,
                                          severity, what);
}

static std::string rangeText(const MemoryRange &range, RangeUse use, bool isShared) {
  char text[96];
  std::snprintf(text, sizeof(text), "%s %u bytes at %s0x%" PRIx64,
                use == RangeUse::Read ? "reads" : "writes", range.bytes,
                isShared ? "shared offset " : "", range.address);
  return text;
}

/// What is wrong with a range of shared memory; empty if nothing. Sets data, written and owner.
static std::string findShared(Warp &warp, Space space, RangeUse use, MemoryRange &range) {
  Cluster &cluster = *warp.block->cluster;
  const auto address = static_cast<std::uint32_t>(range.address);
  Block *owner = space == Space::Shared ? warp.block : cluster.blockAt(address);
  if (owner != warp.block) {
    const std::string problem = cluster.peerProblem(address);
    if (!problem.empty()) {
      return problem;
    }
  }
  const std::uint32_t offset = address - owner->shared.base;
  const std::uint32_t size = owner->shared.sizeBytes();
  if (range.bytes > size || offset > size - range.bytes) {
    char text[64];
    std::snprintf(text, sizeof(text), "outside the %u bytes from 0x%x", size, owner->shared.base);
    return text;
  }
  if (use == RangeUse::Write && owner->mbarriers.findOverlap(offset, range.bytes) != nullptr) {
    return "where a live mbarrier lies";
  }
  range.owner = owner;
  range.data = owner->shared.data.data() + offset;
  range.written = owner->shared.written.data() + offset;
  return {};
}

static std::string findGlobal(Warp &warp, MemoryRange &range) {
  const GlobalMemory &memory = warp.block->launch->memory;
  const std::optional<MemoryRegion> region = memory.find(range.address);
  if (!region || !region->contains(range.address, range.bytes)) {
    return memory.describe(region ? range.address + range.bytes - 1 : range.address);
  }
  range.data = reinterpret_cast<std::uint8_t *>(range.address);
  range.written =
      region->shadow == nullptr ? nullptr : region->shadow + (range.address - region->begin);
  return {};
}

Outcome resolveRange(Warp &warp, const Step &step, unsigned lane, Space space,
                     std::uint64_t address, std::uint32_t bytes, std::uint32_t alignment,
                     RangeUse use, MemoryRange &range) {
  const bool isWindow = space == Space::Generic && (address & kWindowMask) == kSharedWindow;
  const bool isShared = isWindow || space == Space::Shared || space == Space::SharedCluster;
  range = {.address = isWindow ? address - kSharedWindow : address, .bytes = bytes};
  if (range.address % alignment != 0) {
    return report(warp, step, lane, Fault::MisalignedAddress, Severity::HardwareFault,
                  rangeText(range, use, isShared) + ", which is not a multiple of " +
                      std::to_string(alignment));
  }
  const std::string problem =
      isShared ? findShared(warp, isWindow ? Space::SharedCluster : space, use, range)
               : findGlobal(warp, range);
  if (problem.empty()) {
    return Outcome::Next;
  }
  return report(warp, step, lane, Fault::IllegalAddress, Severity::HardwareFault,
                rangeText(range, use, isShared) + ", " + problem);
}

/// Copies with relaxed atomics, in words where both sides are aligned.
static void copyRelaxed(std::uint8_t *to, const std::uint8_t *from, std::uint32_t bytes) {
  constexpr std::uint32_t kWord = sizeof(std::uint64_t);
  const auto misalignment =
      (reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from)) % kWord;
  std::uint32_t i = 0;
  for (; misalignment == 0 && i + kWord <= bytes; i += kWord) {
    const auto word =
        __atomic_load_n(reinterpret_cast<const std::uint64_t *>(from + i), __ATOMIC_RELAXED);
    __atomic_store_n(reinterpret_cast<std::uint64_t *>(to + i), word, __ATOMIC_RELAXED);
  }
  for (; i < bytes; ++i) {
    __atomic_store_n(to + i, __atomic_load_n(from + i, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
  }
}

Outcome readRange(Warp &warp, const Step &step, unsigned lane, const MemoryRange &range,
                  std::vector<std::uint8_t> &bytes) {
  bytes.resize(range.bytes);
  if (range.owner != nullptr) {
    std::memcpy(bytes.data(), range.data, range.bytes);
  } else {
    copyRelaxed(bytes.data(), range.data, range.bytes);
  }
  if (range.written == nullptr) {
    return Outcome::Next;
  }
  for (std::uint32_t i = 0; i < range.bytes; ++i) {
    if (__atomic_load_n(range.written + i, __ATOMIC_RELAXED) == 0) {
      std::string text = rangeText(range, RangeUse::Read, range.owner != nullptr) +
                         ", of which byte " + std::to_string(i) + " was never written";
      if (range.owner != nullptr) {
        text +=
            describeUnwritten(*warp.block->cluster, static_cast<std::uint32_t>(range.address) + i);
      }
      return report(warp, step, lane, Fault::UninitializedRead, Severity::Finding, text);
    }
  }
  return Outcome::Next;
}

void writeRange(const MemoryRange &range, const std::uint8_t *bytes) {
  if (range.owner != nullptr) {
    std::memcpy(range.data, bytes, range.bytes);
  } else {
    copyRelaxed(range.data, bytes, range.bytes);
  }
  markRange(range, true);
}

void markRange(const MemoryRange &range, bool isWritten) {
  if (range.owner != nullptr) {
    std::memset(range.written, isWritten ? 1 : 0, range.bytes);
    return;
  }
  for (std::uint32_t i = 0; range.written != nullptr && i < range.bytes; ++i) {
    __atomic_store_n(range.written + i, std::uint8_t{isWritten}, __ATOMIC_RELAXED);
  }
}

} // namespace fp8jit::emulator
