// Emulated global memory: the allocations of one device and which of their bytes were ever written.
// Main type: GlobalMemory. A device address is the host address of the mapping (identity), so a
// kernel's accesses need one table look-up per region and no translation.
//
// Invariants
//  1. Between two allocations lie at least kRedZoneBytes that belong to none.
//  2. A freed range stays mapped and known for the next kQuarantineCount frees, so that a late
//     access is reported as use after free and never crashes the host.
//  3. generation() changes whenever a range leaves the table or is freed; a cached MemoryRegion is
//     valid only while it is unchanged.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <shared_mutex>
#include <string>

namespace fp8jit::emulator {

/// Who may write an allocation without telling the emulator.
enum class AllocationKind : std::uint8_t {
  Device,         ///< only copies, fills and kernels write it: initialisation is tracked
  HostVisible,    ///< the host writes it directly (pinned, managed): always counts as initialised
  RegisteredHost, ///< memory of the caller, not owned: as HostVisible
};

/// A live allocation as the checks see it: bytes [begin, end), and one shadow byte per byte (1
/// written, 0 never written), or null where everything counts as written.
struct MemoryRegion {
  std::uint64_t begin = 0, end = 0;
  std::uint8_t *shadow = nullptr;
  AllocationKind kind = AllocationKind::Device;

  /// Whether `bytes` bytes from `address` lie inside.
  bool contains(std::uint64_t address, std::uint64_t bytes) const {
    return address >= begin && bytes <= end - begin && address - begin <= end - begin - bytes;
  }
};

/// The memory of one device. Every function is thread safe. The contents are accessed with relaxed
/// atomics; two writers of one byte give either value, as on hardware.
class GlobalMemory {
public:
  static constexpr std::uint64_t kRedZoneBytes = 4096;
  static constexpr std::size_t kQuarantineCount = 1024;
  static constexpr std::uint64_t kAlignment = 256; ///< of cuMemAlloc, CUDA programming guide

  /// At most `capacityBytes` are handed out at a time.
  explicit GlobalMemory(std::uint64_t capacityBytes);
  ~GlobalMemory();
  GlobalMemory(const GlobalMemory &) = delete;
  GlobalMemory &operator=(const GlobalMemory &) = delete;

  /// Address of `sizeBytes` (> 0) new bytes, aligned to at least kAlignment; 0 when the capacity or
  /// the host's memory is exhausted. Contents count as never written (kind Device) and are zero.
  std::uint64_t allocate(std::uint64_t sizeBytes, AllocationKind kind = AllocationKind::Device);

  /// Makes `sizeBytes` bytes of the caller at `pointer` accessible; false if they overlap a known
  /// range. The caller keeps them alive until unregisterHost.
  bool registerHost(void *pointer, std::uint64_t sizeBytes);

  /// Frees the allocation that begins at `address`; false if there is none (double free included).
  bool release(std::uint64_t address);
  /// Ends registerHost; false if `pointer` was not registered.
  bool unregisterHost(void *pointer);

  /// The live allocation that holds `address`, if any.
  std::optional<MemoryRegion> find(std::uint64_t address) const;

  /// Copies host bytes in and marks them written. False, without effect, if the range does not lie
  /// inside one live allocation. The same holds for the other transfers.
  bool copyIn(std::uint64_t destination, const void *source, std::uint64_t sizeBytes);
  /// Copies bytes out; never-written bytes read as zero and are no error here.
  bool copyOut(void *destination, std::uint64_t source, std::uint64_t sizeBytes) const;
  /// Copies between two device ranges, written marks included. The ranges may overlap.
  bool copyWithin(std::uint64_t destination, std::uint64_t source, std::uint64_t sizeBytes);
  /// Repeats the low `elementBytes` (1, 2 or 4) of `value` `count` times.
  bool fill(std::uint64_t destination, std::uint32_t value, unsigned elementBytes,
            std::uint64_t count);
  /// Declares bytes as written.
  bool markInitialized(std::uint64_t address, std::uint64_t sizeBytes);

  std::uint64_t capacityBytes() const { return capacityBytes_; }
  /// Bytes in live allocations of kind Device.
  std::uint64_t usedBytes() const { return usedBytes_.load(std::memory_order_relaxed); }
  /// Invariant 3.
  std::uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  /// Where `address` lies relative to the nearest allocation, for reports: "4 bytes past the end of
  /// the 1024-byte allocation at 0x7f…", "inside a freed 64-byte allocation at 0x7f…".
  std::string describe(std::uint64_t address) const;

private:
  struct Allocation {
    std::uint64_t end = 0;
    AllocationKind kind = AllocationKind::Device;
    bool isLive = true;
    std::uint64_t mappingBytes = 0; ///< data mapping with its red zones; 0 if not ours
    std::uint8_t *shadow = nullptr; ///< end - begin bytes, or null
  };
  using Table = std::map<std::uint64_t, Allocation>; ///< key: first byte

  Table::const_iterator lookup(std::uint64_t address) const;
  std::optional<MemoryRegion> findRange(std::uint64_t address, std::uint64_t sizeBytes) const;
  void retire(Table::iterator entry);
  static void unmap(std::uint64_t begin, const Allocation &allocation);

  const std::uint64_t capacityBytes_;
  std::atomic<std::uint64_t> usedBytes_{0};
  std::atomic<std::uint64_t> generation_{1};
  mutable std::shared_mutex mutex_; ///< guards the two below
  Table table_;
  std::deque<std::uint64_t> quarantine_; ///< freed ranges still in the table, oldest first
};

} // namespace fp8jit::emulator
