// Which tensor maps in global memory a cluster changed, and whether the change may be seen by
// tensor copies. Main type: TensormapProxy. Source: PTX ISA, "membar / fence" (.proxy.tensormap)
// and "tensormap.cp_fenceproxy".
//
// Tensor copies read maps through a proxy of their own, which may hold an old copy of the 128
// bytes. A change needs a release by its writer and an acquire, of that address, by the block that
// uses the map. States of a map:
//
//   changed --release fence of the writing block, or cp_fenceproxy--> released
//   released --acquire fence of the address in a block--> usable in that block
//
// Replacements and copies by tensormap instructions are seen as they happen; other stores show by
// bytes that differ from those of the latest use or acquire in the cluster.
#pragma once

#include "emulator/tensor_map/tensor_map.h"

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>

namespace fp8jit::emulator {

/// The maps of one cluster. One thread at a time.
class TensormapProxy {
public:
  using Bytes = std::array<std::byte, kTensorMapBytes>;

  /// Forgets everything; a new cluster starts.
  void reset() { maps_.clear(); }

  /// The block of rank `block` changed the map at `address` in line `line`; `isReleased`:
  /// cp_fenceproxy.
  void change(std::uint64_t address, std::uint32_t block, std::uint32_t line, bool isReleased);
  /// A release fence of a thread of `block`.
  void release(std::uint32_t block);
  /// An acquire fence of the map at `address`, which holds `bytes`, by a thread of `block`.
  void acquire(std::uint64_t address, std::uint32_t block, const Bytes &bytes);
  /// A use of the map at `address`, which holds `bytes`, by a thread of `block`. Empty if the use
  /// sees these bytes for certain; else which fence is missing. Counts as seen afterwards.
  std::string use(std::uint64_t address, std::uint32_t block, const Bytes &bytes);

private:
  struct Map {
    std::uint32_t changedInLine = 0; ///< 0: not by a tensormap instruction
    std::uint32_t changedBy = 0;     ///< rank of the block
    bool isReleased = true;
    std::uint32_t acquiredBy = ~0U; ///< bit per rank
    Bytes seen{};
    bool isSeen = false;
  };

  std::unordered_map<std::uint64_t, Map> maps_; ///< by address
};

} // namespace fp8jit::emulator
