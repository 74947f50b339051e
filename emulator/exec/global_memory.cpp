// Allocation table, written marks and host transfers of emulated global memory.
#include "emulator/exec/global_memory.h"

#include <algorithm>
#include <cassert>
#include <cinttypes>
#include <cstdio>
#include <mutex>
#include <sys/mman.h>

namespace fp8jit::emulator {

static constexpr std::uint64_t kPageBytes = 4096;

static std::uint64_t roundUp(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Device addresses are host addresses, so the conversions between the two live here.
static std::uint8_t *bytesAt(std::uint64_t address) {
  return reinterpret_cast<std::uint8_t *>(static_cast<std::uintptr_t>(address));
}

static std::uint64_t addressOf(const void *pointer) {
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(pointer));
}

static void *mapBytes(std::uint64_t sizeBytes) {
  void *mapping = mmap(nullptr, sizeBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return mapping == MAP_FAILED ? nullptr : mapping;
}

// Copies with relaxed atomics, eight bytes at a time where both sides are aligned alike: kernels of
// other streams may run meanwhile.
static void copyRelaxed(std::uint8_t *destination, const std::uint8_t *source,
                        std::uint64_t sizeBytes) {
  constexpr std::uint64_t kWord = sizeof(std::uint64_t);
  std::uint64_t i = 0;
  const auto copyByte = [&] {
    __atomic_store_n(destination + i, __atomic_load_n(source + i, __ATOMIC_RELAXED),
                     __ATOMIC_RELAXED);
    ++i;
  };
  if ((addressOf(destination) - addressOf(source)) % kWord == 0) {
    while (i < sizeBytes && addressOf(destination + i) % kWord != 0) {
      copyByte();
    }
    for (; i + kWord <= sizeBytes; i += kWord) {
      const auto *from = reinterpret_cast<const std::uint64_t *>(source + i);
      __atomic_store_n(reinterpret_cast<std::uint64_t *>(destination + i),
                       __atomic_load_n(from, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    }
  }
  while (i < sizeBytes) {
    copyByte();
  }
}

static void setRelaxed(std::uint8_t *destination, std::uint8_t value, std::uint64_t sizeBytes) {
  constexpr std::uint64_t kWord = sizeof(std::uint64_t);
  std::uint64_t i = 0;
  for (; i < sizeBytes && addressOf(destination + i) % kWord != 0; ++i) {
    __atomic_store_n(destination + i, value, __ATOMIC_RELAXED);
  }
  const std::uint64_t word = value * 0x0101010101010101ULL;
  for (; i + kWord <= sizeBytes; i += kWord) {
    __atomic_store_n(reinterpret_cast<std::uint64_t *>(destination + i), word, __ATOMIC_RELAXED);
  }
  for (; i < sizeBytes; ++i) {
    __atomic_store_n(destination + i, value, __ATOMIC_RELAXED);
  }
}

GlobalMemory::GlobalMemory(std::uint64_t capacityBytes) : capacityBytes_(capacityBytes) {}

GlobalMemory::~GlobalMemory() {
  for (const auto &[begin, allocation] : table_) {
    unmap(begin, allocation);
  }
}

void GlobalMemory::unmap(std::uint64_t begin, const Allocation &allocation) {
  if (allocation.mappingBytes != 0) {
    munmap(bytesAt(begin - kRedZoneBytes), allocation.mappingBytes);
  }
  if (allocation.shadow != nullptr) {
    munmap(allocation.shadow, roundUp(allocation.end - begin, kPageBytes));
  }
}

std::uint64_t GlobalMemory::allocate(std::uint64_t sizeBytes, AllocationKind kind) {
  assert(kind != AllocationKind::RegisteredHost && "use registerHost");
  const bool isDevice = kind == AllocationKind::Device;
  if (sizeBytes == 0 || sizeBytes > capacityBytes_) {
    return 0;
  }
  const std::unique_lock lock(mutex_);
  if (isDevice && usedBytes_ + sizeBytes > capacityBytes_) {
    return 0;
  }
  Allocation allocation{.kind = kind};
  allocation.mappingBytes = roundUp(sizeBytes, kPageBytes) + 2 * kRedZoneBytes;
  void *mapping = mapBytes(allocation.mappingBytes);
  if (mapping == nullptr) {
    return 0;
  }
  const std::uint64_t begin = addressOf(mapping) + kRedZoneBytes;
  allocation.end = begin + sizeBytes;
  if (isDevice) {
    allocation.shadow = static_cast<std::uint8_t *>(mapBytes(roundUp(sizeBytes, kPageBytes)));
    if (allocation.shadow == nullptr) {
      munmap(mapping, allocation.mappingBytes);
      return 0;
    }
    usedBytes_ += sizeBytes;
  }
  table_.emplace(begin, allocation);
  return begin;
}

bool GlobalMemory::registerHost(void *pointer, std::uint64_t sizeBytes) {
  const std::uint64_t begin = addressOf(pointer);
  if (begin == 0 || sizeBytes == 0) {
    return false;
  }
  const std::unique_lock lock(mutex_);
  const auto next = table_.lower_bound(begin);
  const bool overlapsNext = next != table_.end() && next->first < begin + sizeBytes;
  const bool overlapsPrevious = next != table_.begin() && std::prev(next)->second.end > begin;
  if (overlapsNext || overlapsPrevious) {
    return false;
  }
  table_.emplace(begin,
                 Allocation{.end = begin + sizeBytes, .kind = AllocationKind::RegisteredHost});
  return true;
}

bool GlobalMemory::release(std::uint64_t address) {
  const std::unique_lock lock(mutex_);
  const auto entry = table_.find(address);
  if (entry == table_.end() || !entry->second.isLive ||
      entry->second.kind == AllocationKind::RegisteredHost) {
    return false;
  }
  retire(entry);
  return true;
}

void GlobalMemory::retire(Table::iterator entry) {
  auto &[begin, allocation] = *entry;
  const std::uint64_t sizeBytes = allocation.end - begin;
  allocation.isLive = false;
  if (allocation.kind == AllocationKind::Device) {
    usedBytes_ -= sizeBytes;
  }
  // The range keeps its address; the host gets its pages back.
  madvise(bytesAt(begin), roundUp(sizeBytes, kPageBytes), MADV_DONTNEED);
  if (allocation.shadow != nullptr) {
    madvise(allocation.shadow, roundUp(sizeBytes, kPageBytes), MADV_DONTNEED);
  }
  quarantine_.push_back(begin);
  if (quarantine_.size() > kQuarantineCount) {
    const auto oldest = table_.find(quarantine_.front());
    quarantine_.pop_front();
    unmap(oldest->first, oldest->second);
    table_.erase(oldest);
  }
  generation_.fetch_add(1, std::memory_order_release);
}

bool GlobalMemory::unregisterHost(void *pointer) {
  const std::unique_lock lock(mutex_);
  const auto entry = table_.find(addressOf(pointer));
  if (entry == table_.end() || entry->second.kind != AllocationKind::RegisteredHost) {
    return false;
  }
  table_.erase(entry);
  generation_.fetch_add(1, std::memory_order_release);
  return true;
}

GlobalMemory::Table::const_iterator GlobalMemory::lookup(std::uint64_t address) const {
  auto entry = table_.upper_bound(address);
  if (entry == table_.begin()) {
    return table_.end();
  }
  --entry;
  return address < entry->second.end ? entry : table_.end();
}

std::optional<MemoryRegion> GlobalMemory::find(std::uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const auto entry = lookup(address);
  if (entry == table_.end() || !entry->second.isLive) {
    return std::nullopt;
  }
  return MemoryRegion{.begin = entry->first,
                      .end = entry->second.end,
                      .shadow = entry->second.shadow,
                      .kind = entry->second.kind};
}

std::optional<MemoryRegion> GlobalMemory::findRange(std::uint64_t address,
                                                    std::uint64_t sizeBytes) const {
  const std::optional<MemoryRegion> region = find(address);
  return region && region->contains(address, sizeBytes) ? region : std::nullopt;
}

bool GlobalMemory::copyIn(std::uint64_t destination, const void *source, std::uint64_t sizeBytes) {
  const auto region = findRange(destination, sizeBytes);
  if (!region) {
    return false;
  }
  copyRelaxed(bytesAt(destination), static_cast<const std::uint8_t *>(source), sizeBytes);
  if (region->shadow != nullptr) {
    setRelaxed(region->shadow + (destination - region->begin), 1, sizeBytes);
  }
  return true;
}

bool GlobalMemory::copyOut(void *destination, std::uint64_t source, std::uint64_t sizeBytes) const {
  if (!findRange(source, sizeBytes)) {
    return false;
  }
  copyRelaxed(static_cast<std::uint8_t *>(destination), bytesAt(source), sizeBytes);
  return true;
}

bool GlobalMemory::copyWithin(std::uint64_t destination, std::uint64_t source,
                              std::uint64_t sizeBytes) {
  const auto to = findRange(destination, sizeBytes);
  const auto from = findRange(source, sizeBytes);
  if (!to || !from) {
    return false;
  }
  const auto copy = [](std::uint8_t *target, const std::uint8_t *origin, std::uint64_t bytes) {
    if (target > origin && target < origin + bytes) { // overlap: from the end
      for (std::uint64_t i = bytes; i-- > 0;) {
        __atomic_store_n(target + i, __atomic_load_n(origin + i, __ATOMIC_RELAXED),
                         __ATOMIC_RELAXED);
      }
      return;
    }
    copyRelaxed(target, origin, bytes);
  };
  copy(bytesAt(destination), bytesAt(source), sizeBytes);
  if (to->shadow == nullptr) {
    return true;
  }
  if (from->shadow == nullptr) {
    setRelaxed(to->shadow + (destination - to->begin), 1, sizeBytes);
    return true;
  }
  copy(to->shadow + (destination - to->begin), from->shadow + (source - from->begin), sizeBytes);
  return true;
}

bool GlobalMemory::fill(std::uint64_t destination, std::uint32_t value, unsigned elementBytes,
                        std::uint64_t count) {
  assert((elementBytes == 1 || elementBytes == 2 || elementBytes == 4) && "as cuMemsetD8, 16, 32");
  const std::uint64_t sizeBytes = count * elementBytes;
  if (count > capacityBytes_ || !findRange(destination, sizeBytes)) {
    return false;
  }
  for (std::uint64_t i = 0; i < sizeBytes; ++i) {
    const unsigned shift = 8 * static_cast<unsigned>(i % elementBytes);
    __atomic_store_n(bytesAt(destination + i), static_cast<std::uint8_t>(value >> shift),
                     __ATOMIC_RELAXED);
  }
  return markInitialized(destination, sizeBytes);
}

bool GlobalMemory::markInitialized(std::uint64_t address, std::uint64_t sizeBytes) {
  const auto region = findRange(address, sizeBytes);
  if (!region) {
    return false;
  }
  if (region->shadow != nullptr) {
    setRelaxed(region->shadow + (address - region->begin), 1, sizeBytes);
  }
  return true;
}

std::string GlobalMemory::describe(std::uint64_t address) const {
  const std::shared_lock lock(mutex_);
  char text[160];
  const auto next = table_.upper_bound(address);
  if (next == table_.begin() && next == table_.end()) {
    return "no memory is allocated";
  }
  // The nearest range: the one that begins at or before the address, unless the next is closer.
  auto nearest = next;
  if (next == table_.end() ||
      (next != table_.begin() && (address < std::prev(next)->second.end ||
                                  address - std::prev(next)->second.end < next->first - address))) {
    nearest = std::prev(next);
  }
  const std::uint64_t begin = nearest->first;
  const std::uint64_t end = nearest->second.end;
  const char *state = nearest->second.isLive ? "the" : "the freed";
  if (address < begin) {
    std::snprintf(text, sizeof(text),
                  "%" PRIu64 " bytes before %s %" PRIu64 "-byte allocation at 0x%" PRIx64,
                  begin - address, state, end - begin, begin);
  } else if (address < end) {
    std::snprintf(text, sizeof(text),
                  "byte %" PRIu64 " of %s %" PRIu64 "-byte allocation at 0x%" PRIx64,
                  address - begin, state, end - begin, begin);
  } else {
    std::snprintf(text, sizeof(text),
                  "%" PRIu64 " bytes past the end of %s %" PRIu64 "-byte allocation at 0x%" PRIx64,
                  address - end, state, end - begin, begin);
  }
  return text;
}

} // namespace fp8jit::emulator
