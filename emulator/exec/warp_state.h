// State of one warp and the form in which its instructions are executed. Main types: Warp, Step.
//
// Divergence. A warp is a set of splits (lanes, pc). The running split is Warp::active and
// Warp::pc, the rest stand in Warp::others.
//  1. The masks of all splits are disjoint and their union is Warp::live.
//  2. The split with the lowest pc runs first; splits with equal pc are merged (scheduler.cpp).
//  3. A split whose instruction needs lanes of other splits parks until they arrive at its pc.
#pragma once

#include "emulator/exec/async_queue.h"
#include "emulator/exec/global_memory.h"
#include "emulator/exec/warpgroup_state.h"
#include "emulator/ptx/program.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fp8jit::emulator {

struct Block;
struct Warp;
struct Step;

inline constexpr unsigned kLanes = 32;
inline constexpr unsigned kSlotBytes = 128; ///< 32 lanes of 32 bits
using LaneMask = std::uint32_t;
inline constexpr LaneMask kAllLanes = 0xffffffffU;

/// What the scheduler has to do after an instruction.
enum class Outcome : std::uint8_t {
  Next,       ///< go on at the instruction that follows
  Jump,       ///< go on at Warp::pc, which the handler has set; Warp::active may have changed
  Reschedule, ///< the splits changed
  Park,       ///< lanes are missing: this split has to wait at this instruction
  Wait,       ///< this split waits for an event and then executes this instruction again
  Blocked,    ///< the warp waits at a named barrier
  Yield,      ///< let other warps run
  Stop,       ///< a fault was recorded: the launch ends
};

/// Executes one instruction for the lanes of `mask` (not empty).
using Handler = Outcome (*)(Warp &warp, const Step &step, LaneMask mask);

/// One instruction, resolved for execution. Operands are byte offsets of slots, or indices of
/// predicates where the operation takes a predicate (program.h); an absent one is kNoSlot.
struct alignas(64) Step { // a cache line
  static constexpr unsigned kInlineOperands = 6;

  Handler handler = nullptr;
  std::uint32_t guard = kNoSlot;               ///< predicate index, or none
  LaneMask guardFlip = 0;                      ///< all ones if the guard is negated
  std::uint32_t operand[kInlineOperands] = {}; ///< the first operands
  const Instruction *instruction = nullptr;
  const std::uint32_t *operands = nullptr; ///< all operands, as operand[]
  void (*tensorFunction)() = nullptr;      ///< Mma: an MmaFunction; Wgmma: a WgmmaFunction
};

/// What an instruction with Outcome::Wait waits for.
enum class WaitKind : std::uint8_t { None, Mbarrier, ClusterBarrier, Registers };

/// The same with what a report needs.
struct WaitInfo {
  WaitKind kind = WaitKind::None;
  bool isParity = false;     ///< Mbarrier: `value` is a parity, else a state
  std::uint32_t address = 0; ///< Mbarrier: its shared::cluster address
  std::uint64_t value = 0;   ///< Mbarrier: what the phase is compared with; Registers: wanted
};

/// Lanes of a warp at one instruction.
struct Split {
  LaneMask mask = 0;
  std::uint32_t pc = 0;
  bool isParked = false;   ///< waits for other lanes to arrive at pc
  bool isAligned = false;  ///< parked at an instruction that the whole warp has to execute
  bool isWaiting = false;  ///< waits for an event (Outcome::Wait)
  bool mustAnswer = false; ///< its next wait may not wait again (Warp::mustAnswer)
  WaitInfo wait = {};      ///< what for, if isWaiting
};

/// What the calls of one lane keep, innermost last: per call the saved values of the function's
/// slots and predicates, the pc behind the call and the function's index (control.cpp).
struct CallStack {
  std::vector<std::uint32_t> words;
  std::uint32_t bytes = 0; ///< of local memory that the active frames take
};

/// The registers and the control state of one warp.
struct Warp {
  std::byte *registers = nullptr;    ///< slotCount slots of kSlotBytes, aligned to kSlotBytes
  LaneMask *predicates = nullptr;    ///< predicateCount of them
  std::uint32_t pc = 0;              ///< next instruction of the running split; not kept up to
                                     ///< date while a straight run executes (scheduler.cpp)
  std::uint32_t stopPc = UINT32_MAX; ///< the nearest pc ahead at which another split stands
  LaneMask active = 0;               ///< lanes of the running split
  LaneMask live = 0;                 ///< lanes that have not exited
  LaneMask carry = 0;                ///< the condition code register's carry flag
  bool isBlocked = false;            ///< waits at a named barrier, or all splits wait for events
  bool mustAnswer = false;           ///< a wait of the running split that may time out and fails
                                     ///< now says so instead of waiting on
  WaitInfo wait = {};                ///< set by a handler that returns Outcome::Wait
  std::uint64_t seenWakeCount = 0;   ///< Cluster::wakeCount when splits began to wait
  std::uint32_t index = 0;           ///< rank in the block
  bool isTraced = false;             ///< executeTraced runs its instructions
  Block *block = nullptr;
  std::vector<Split> others;
  std::array<CallStack, kLanes> calls; ///< recursive functions that the lanes are in
  MemoryRegion region;                 ///< the region of the latest global access
  std::uint64_t regionGeneration = 0;  ///< of GlobalMemory when `region` was read; 0: none
  std::uint32_t barrierLine = 0;       ///< line of the barrier that the warp waits at
  std::uint32_t barrierId = 0;         ///< number of that barrier
  const Step *barrierStep = nullptr;   ///< bar.red: the instruction that waits for its result
  std::vector<std::uint8_t> local, localShadow; ///< local memory, one piece per lane
  AsyncQueue async;
  std::uint32_t bulkGroups[kLanes] = {}; ///< cp.async.bulk groups that each lane has committed
  std::uint32_t wgmmaGroups = 0;         ///< wgmma groups that the warp has committed
  WarpgroupState warpgroup;
  std::uint32_t registerCount = 0; ///< per thread; setmaxnreg changes it
  LaneMask clusterArrived = 0;  ///< lanes that arrived in the open phase of the cluster's barrier
  LaneMask clusterReleased = 0; ///< lanes that arrived in a phase that is complete, and may pass

  /// The lanes of a register as T (32 or 64 bits each).
  template <typename T>
  T *lanes(std::uint32_t offset) const {
    return reinterpret_cast<T *>(registers + offset);
  }
};

} // namespace fp8jit::emulator
