// What the rules of wgmma have to remember about a warp. Main type: WarpgroupState.
#pragma once

#include <cstdint>
#include <vector>

namespace fp8jit::emulator {

/// The latest uses of one register, by wgmma (as accumulator or for A) and by other instructions.
/// Epochs count the warp's wgmma.fence from 1 on: what has the running epoch happened since then.
struct WarpgroupRegister {
  std::uint32_t group = 0; ///< 1 + number of the group that uses it last; 0: none
  std::uint32_t touchedEpoch = 0, touchedLine = 0; ///< by other instructions
  std::uint32_t usedEpoch = 0;                     ///< by wgmma
  std::uint32_t usedPc = 0;
  bool isAccumulator = false; ///< in that use
};

/// One wgmma as the first warp of the warp group issued it; the others have to issue the same.
struct WarpgroupIssue {
  std::uint32_t pc = 0;
  std::uint64_t descriptorA = 0, descriptorB = 0; ///< A: 0 where it comes from registers
  bool accumulate = false;

  bool operator==(const WarpgroupIssue &) const = default;
};

/// State of one warp; of its warp group where said so. Groups of wgmma are numbered from 0 by
/// Warp::wgmmaGroups.
struct WarpgroupState {
  std::vector<WarpgroupRegister> registers; ///< by slot; empty until the first use
  std::uint32_t epoch = 0;                  ///< wgmma.fence executed
  std::uint32_t waited = 0;                 ///< groups below this number were waited for
  bool isGroupOpen = false;                 ///< there are wgmma after the latest commit
  std::uint32_t latestPc = 0;               ///< of them
  std::uint32_t issued = 0;                 ///< wgmma so far
  /// Only of the first warp of a warp group: what some warps of the group issued and others have
  /// not yet; the first is number `firstIssue`.
  std::vector<WarpgroupIssue> issues;
  std::uint32_t firstIssue = 0;
};

} // namespace fp8jit::emulator
