// Finds races in shared memory and missing proxy fences while a cluster runs. Main type:
// RaceChecker.
//
// Happens-before is tracked with vector clocks. Their components are the warps (accesses of the
// generic proxy) and what runs beside them: wgmma groups of a warp, cp.async groups of a warp, bulk
// groups of a lane, copies that complete on one mbarrier. Only warps have clocks:
//  1. C: the accesses that happen before the warp's present, by component.
//  2. P: the part of C that is visible to the async proxy too; fence.proxy.async makes it all of C.
//  3. A release joins C and P into a synchronisation object and starts a new epoch of the warp; an
//     acquire joins them back. A wait for asynchronous work raises its component in C.
//  4. An access is checked when its instruction is executed, with the clocks of the warp that
//     executes it, against the latest accesses of the same bytes (race_shadow.h). What the schedule
//     did meanwhile does not matter, so that a missing edge is found in every mode.
//
// The granularity is the warp: lanes of one warp never race with each other. Atomics and accesses
// with a memory order (relaxed, acquire, release, volatile) do not race with each other.
// Source of the rules: PTX ISA, "Memory Consistency Model", "Async proxy".
#pragma once

#include "emulator/exec/race_clock.h"
#include "emulator/exec/race_shadow.h"
#include "emulator/exec/warp_state.h"

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace fp8jit::emulator {

class Findings;
struct Block;
struct LaunchRequest;

/// The checker of one cluster at a time; reused by start(). Everything runs on the thread that runs
/// the cluster. Functions that return an Outcome return Stop if a finding ended the launch, else
/// Next. `warp` is always the warp that executes the instruction `step`.
///
/// Callers test one pointer, which is null where the checks are off:
///     if (RaceChecker *race = warp.block->race) { ... }
class RaceChecker {
public:
  /// For clusters of `blocks` blocks with `sharedBytes` of shared memory each. `steps` is the
  /// program, so that an instruction's address there tells its place. All references outlive the
  /// checker.
  RaceChecker(const LaunchRequest &request, const std::vector<Step> &steps, Findings &findings,
              std::uint32_t blocks, std::uint32_t sharedBytes);

  /// Whether a launch asks for the checks.
  static bool isWanted(const LaunchRequest &request);

  /// Forgets everything; a cluster starts. Ranks and warp numbers begin at 0.
  void start();

  // Accesses of the generic proxy: ld, st, ldmatrix, stmatrix, atom, red.

  /// The lanes of `lanes` access `sizeBytes` (a power of two, aligned) at `offset[lane]` each, in
  /// the shared memory of `target`.
  Outcome access(const Warp &warp, const Step &step, const Block &target, RaceAccess kind,
                 const std::uint32_t *offset, LaneMask lanes, std::uint32_t sizeBytes);
  /// The same with 64-bit offsets.
  Outcome access(const Warp &warp, const Step &step, const Block &target, RaceAccess kind,
                 const std::uint64_t *offset, LaneMask lanes, std::uint32_t sizeBytes);

  /// All 32 lanes access `sizeBytes` each, one behind the other from `offset` on.
  Outcome accessRow(const Warp &warp, const Step &step, const Block &target, RaceAccess kind,
                    std::uint32_t offset, std::uint32_t sizeBytes);

  // Asynchronous accesses. A stamp says what has to be waited for; call accessAsync at the issue of
  // the instruction, once per contiguous range, with the stamp of that instruction.

  /// `bytes` bytes at `offset` of `target`'s shared memory. Update: red.async, cp.reduce.
  Outcome accessAsync(const Warp &warp, const Step &step, const RaceStamp &stamp,
                      const Block &target, RaceAccess kind, std::uint32_t offset,
                      std::uint32_t bytes);
  /// `count` ranges of `bytes` bytes each (operands of wgmma: rows of 16 or 32 bytes).
  Outcome accessAsync(const Warp &warp, const Step &step, const RaceStamp &stamp,
                      const Block &target, RaceAccess kind, const std::uint32_t *offsets,
                      std::uint32_t count, std::uint32_t bytes);

  /// A copy (cp.async.bulk, tensor copy, st.async, red.async) that completes on the mbarrier at
  /// `barrierOffset` of `barrierBlock`: one stamp per complete_tx to come, so one per block of a
  /// multicast. Checks that the barrier's initialisation is visible to the async proxy.
  Outcome stampBarrierCopy(const Warp &warp, const Step &step, const Block &barrierBlock,
                           std::uint32_t barrierOffset, RaceStamp &stamp);
  /// A copy that has such a stamp completes: call before its complete_tx changes the barrier.
  void completeBarrierCopy(const Block &barrierBlock, std::uint32_t barrierOffset);

  /// A bulk or tensor store or reduction of `lane` in its open bulk group.
  RaceStamp stampBulkGroup(const Warp &warp, unsigned lane);
  void bulkCommit(const Warp &warp, LaneMask lanes);
  /// cp.async.bulk.wait_group{.read}: all but the `pending` latest groups of these lanes.
  void bulkWait(const Warp &warp, LaneMask lanes, std::uint64_t pending, bool readOnly);

  /// A wgmma of `warp` in its open wgmma group (each of the four warps calls for itself).
  RaceStamp stampWgmma(const Warp &warp);
  void wgmmaCommit(const Warp &warp);
  void wgmmaWait(const Warp &warp, std::uint64_t pending);

  /// A cp.async of lanes whose open group has the number `group` (AsyncQueue::committed).
  RaceStamp stampCopy(const Warp &warp, std::uint32_t group);
  /// cp.async.wait_group, wait_all: every group below number `group` is complete.
  void copyWait(const Warp &warp, std::uint32_t group);

  // Synchronisation. Semantics None means the instruction's default (release, acquire).

  /// bar.sync, bar.red and bar.arrive: the warp arrives.
  void barrierArrive(const Warp &warp, std::uint32_t id);
  /// The phase of barrier `id` closes: `waiting` are the ranks of the warps that it lets go on.
  void barrierClose(const Block &block, std::uint32_t id,
                    const std::vector<std::uint32_t> &waiting);
  /// The last lane of the warp has exited.
  void warpExit(const Warp &warp);

  void clusterArrive(const Warp &warp, Semantics semantics);
  /// All warps of the cluster have arrived; before any of them leaves the wait.
  void clusterClose();
  void clusterLeave(const Warp &warp);

  void mbarrierInit(const Warp &warp, const Step &step, const Block &target, std::uint32_t offset);
  void mbarrierInval(const Block &target, std::uint32_t offset);
  /// Any other use of the barrier that releases nothing (expect_tx, complete_tx, pending_count):
  /// checks that its initialisation happens before.
  Outcome mbarrierUse(const Warp &warp, const Step &step, const Block &target,
                      std::uint32_t offset);
  /// arrive, arrive.expect_tx, arrive_drop: before the arrival counts.
  Outcome mbarrierArrive(const Warp &warp, const Step &step, const Block &target,
                         std::uint32_t offset, Semantics semantics);
  /// cp.async.mbarrier.arrive, when it triggers: the groups of `warp` up to number `group`.
  void mbarrierArriveCopies(const Warp &warp, const Block &target, std::uint32_t offset,
                            std::uint32_t group);
  /// The barrier's phase completes; before any waiter sees it.
  void mbarrierComplete(const Block &target, std::uint32_t offset);
  /// test_wait or try_wait found its phase complete.
  Outcome mbarrierLeave(const Warp &warp, const Step &step, std::uint32_t offset,
                        Semantics semantics);

  /// fence.proxy.async in any of its forms.
  void fenceAsync(const Warp &warp);
  /// fence.mbarrier_init.
  void fenceMbarrierInit(const Warp &warp);
  /// fence.{acq_rel, sc, acquire, release}, membar.
  void fence(const Warp &warp, Semantics semantics);

  /// The part of an atomic or ordered access that synchronises, for the word at `address` (a
  /// global address, or a shared one as sharedKey gives it). `isUpdate`: a read-modify-write.
  void atomicRead(const Warp &warp, std::uint64_t address, Semantics semantics);
  void atomicWrite(const Warp &warp, std::uint64_t address, Semantics semantics, bool isUpdate);
  /// The address under which atomicRead and atomicWrite know a word of shared memory.
  static std::uint64_t sharedKey(const Block &target, std::uint64_t offset);

private:
  /// The first four exist once per warp.
  enum class Part : std::uint8_t { Warp, Wgmma, Copies, Inits, Bulk, BarrierCopies };
  /// What a component stands for.
  struct Component {
    Part part = Part::Warp;
    std::uint32_t block = 0;
    std::uint32_t index = 0; ///< warp, or offset of the mbarrier
    std::uint32_t lane = 0;
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// The open bulk group of one lane.
  struct BulkLane {
    unsigned lane = 0;
    RaceStamp open;
  };
  struct WarpState {
    RaceOrder now;      ///< C and P
    RaceOrder released; ///< by fences: what a relaxed write publishes
    RaceOrder observed; ///< by relaxed reads: what a fence acquires
    RaceStamp self;     ///< the running epoch
    RaceStamp wgmma;    ///< its open group
    RaceStamp inits;    ///< its latest initialisation of an mbarrier
    std::vector<BulkLane> bulk;
  };
  struct Mbarrier {
    RaceOrder pending;           ///< arrivals of the running phase
    RaceOrder done;              ///< of all complete phases
    RaceStamp copies;            ///< the latest copy that completes here
    std::uint32_t completed = 0; ///< copies
    RaceStamp init;
    std::uint32_t initPc = 0;
  };
  struct Home {
    std::vector<WarpState> warps;
    RaceShadow shadow;
    std::array<RaceOrder, 16> barriers;
    RaceOrder exited;
    std::unordered_map<std::uint32_t, Mbarrier> mbarriers; ///< by offset
    std::vector<std::uint32_t> groups; ///< first components by part and warp group, or kNone
  };

  WarpState &stateOf(const Warp &warp) { return homeOf(*warp.block).warps[warp.index]; }
  Home &homeOf(const Block &block);
  std::uint32_t newComponent(const Component &component);
  std::uint32_t warpComponent(Part part, std::uint32_t block, std::uint32_t warp);
  std::uint32_t pcOf(const Step &step) const;
  static void advance(WarpState &state);
  static void release(WarpState &state, RaceOrder &object);
  Mbarrier &mbarrierAt(const Block &block, std::uint32_t offset);
  Outcome checkInit(const Warp &warp, const Step &step, const Block &target, std::uint32_t offset,
                    bool isAsync);
  template <typename Offset>
  Outcome accessLanes(const Warp &warp, const Step &step, const Block &target, RaceAccess kind,
                      const Offset *offset, LaneMask lanes, std::uint32_t sizeBytes);
  Outcome report(const Warp &warp, const Step &step, const Block &target, LaneMask lanes,
                 const RaceProbe &probe);
  bool isNewPair(std::uint32_t earlierPc, std::uint32_t pc, RaceVerdict verdict);
  std::string instructionText(std::uint32_t pc) const;
  const Component &culprit(const RaceProbe &probe) const;
  std::string earlierText(const RaceProbe &probe) const;
  std::string missingEdge(const RaceProbe &probe) const;

  const LaunchRequest &request_;
  const std::vector<Step> &steps_;
  Findings &findings_;
  const std::uint32_t sharedBytes_;
  std::vector<Home> blocks_;
  std::vector<Component> components_;
  RaceOrder clusterPending_, clusterDone_;
  std::unordered_map<std::uint64_t, RaceOrder> words_; ///< by address, of atomics and flags
  std::set<std::array<std::uint32_t, 3>> reported_;    ///< pairs of instructions, and the verdict
};

} // namespace fp8jit::emulator
