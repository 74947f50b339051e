// What instructions and copies do to barriers in shared memory. Main entries: changeMbarrier,
// completeTx. The barriers themselves are in mbarrier_table.h.
#pragma once

#include "emulator/exec/async_operation.h"
#include "emulator/exec/mbarrier_table.h"

#include <cstdint>
#include <string>

namespace fp8jit::emulator {

class Cluster;

/// Makes a barrier for `count` arrivals at `offset` of the block's shared memory; see
/// MbarrierTable::insert. Its bytes count as unwritten from now on.
void initialiseMbarrier(Block &block, std::uint32_t offset, std::uint32_t count);

/// One change of a barrier.
struct MbarrierChange {
  std::uint32_t address = 0;  ///< of the barrier, shared::cluster
  std::uint32_t arrivals = 0; ///< taken off the pending count
  std::int64_t tx = 0;        ///< added to the transaction count first: expect > 0, complete < 0
  bool drop = false;          ///< the arrivals are missing from later phases as well
  bool noComplete = false;    ///< an error if it completes the phase
};

/// The live barrier at the shared::cluster address `address`; null, with the reason in `problem`,
/// if there is none or its block cannot be reached.
Mbarrier *findMbarrier(Cluster &cluster, std::uint32_t address, std::string &problem);

/// Applies a change made by `step` of a thread of `warp`; completes the phase where due and wakes
/// waiters. Returns what is wrong, without effect then; empty if nothing is. `oldState`, if not
/// null, receives the state before.
std::string changeMbarrier(Cluster &cluster, const MbarrierChange &change, const Warp &warp,
                           const Step &step, std::uint64_t *oldState = nullptr);

/// What an asynchronous copy of `bytes` does at its end: complete_tx on the barrier at the
/// shared::cluster address `address`. For AsyncOperation::writeDestinations; misuse is reported at
/// the thread that issued the copy. Stop ends the launch.
Outcome completeTx(Cluster &cluster, std::uint32_t address, std::uint32_t bytes,
                   const AsyncIssue &issue);

/// "phase 3, 1 of 2 arrivals and 4096 bytes missing" and the latest changes, for reports.
std::string describeMbarrier(const Mbarrier &barrier);

} // namespace fp8jit::emulator
