// An operation that goes on after its instruction: bulk and tensor copies, st.async, wgmma. Main
// type: AsyncOperation; Cluster::issue takes one over (cluster.h).
//
// Life of an operation (AsyncMode in launch.h decides when the steps happen)
//  1. The handler checks addresses and operands and issues it.
//  2. Unless the mode is Eager, poisonDestinations makes what it will write count as unwritten.
//  3. readSources takes the source data into the operation. From then on waits that ask only for
//     the sources (cp.async.bulk.wait_group.read) are satisfied.
//  4. writeDestinations writes, marks as written, and signals the mbarrier if there is one.
#pragma once

#include "emulator/exec/warp_state.h"

#include <cstdint>
#include <string>

namespace fp8jit::emulator {

class Cluster;

/// How the program learns that an operation is complete.
enum class CompletionKind : std::uint8_t {
  Mbarrier,   ///< complete_tx on a barrier in shared memory
  BulkGroup,  ///< cp.async.bulk.wait_group, per thread
  WgmmaGroup, ///< wgmma.wait_group, per warp; operations of a warp complete in issue order
};

/// Where an operation comes from and what it belongs to.
struct AsyncIssue {
  Warp *warp = nullptr;
  unsigned lane = 0; ///< that issued it; 0 for wgmma
  const Step *step = nullptr;
  CompletionKind completion = CompletionKind::Mbarrier;
  std::uint32_t barrier = 0; ///< Mbarrier: shared::cluster address of (one of) the barriers
};

/// Base class of asynchronous operations. Owned by the cluster from issue to completion.
class AsyncOperation {
public:
  explicit AsyncOperation(const AsyncIssue &issue) : issue_(issue) {}
  virtual ~AsyncOperation() = default;
  AsyncOperation(const AsyncOperation &) = delete;
  AsyncOperation &operator=(const AsyncOperation &) = delete;

  /// Marks what the operation will write as unwritten. Not called in Eager mode.
  virtual void poisonDestinations() = 0;
  /// Reads the source data, once, and reports unwritten bytes. Stop ends the launch.
  virtual Outcome readSources() = 0;
  /// Writes and signals, once, after readSources. Stop ends the launch.
  virtual Outcome writeDestinations() = 0;
  /// Whether it still has to read (`sourcesAreRead` false) or write shared memory of `block`: a
  /// block must not end before.
  virtual bool needsBlock(const Block &block, bool sourcesAreRead) const = 0;

  const AsyncIssue &issue() const { return issue_; }

private:
  const AsyncIssue issue_;
};

} // namespace fp8jit::emulator
