// The asynchronous operations of a cluster between issue and completion. Main type:
// PendingOperations.
//
// Eager: an operation completes when it is issued. Lazy: at the wait that covers its group, and an
// operation that signals an mbarrier when every warp of the cluster is blocked, those first that a
// warp waits for. Random: after random numbers of scheduler rounds, sources and destinations apart,
// in any order that PTX allows, or earlier as in Lazy.
#pragma once

#include "emulator/exec/async_operation.h"
#include "emulator/exec/launch.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace fp8jit::emulator {

class RandomSource;

/// The pending operations of one cluster, in issue order. One thread at a time.
class PendingOperations {
public:
  /// Forgets everything; a new cluster starts in `mode`.
  void reset(AsyncMode mode, RandomSource &random);

  /// Takes over an operation; it joins the open group of its thread or warp.
  Outcome issue(std::unique_ptr<AsyncOperation> operation);

  /// Completes the operations of `kind` of the threads `lanes` of `warp` (WgmmaGroup: of the warp)
  /// that belong to all but the latest `keep` committed groups; with `readOnly` it only reads their
  /// sources.
  Outcome waitGroups(Warp &warp, LaneMask lanes, CompletionKind kind, std::uint64_t keep,
                     bool readOnly);

  /// Random: completes what is due; called once per scheduler round.
  Outcome advance();
  /// Completes one operation because no warp can run; Next without effect if there is none.
  /// `wanted` says whether a warp waits for the barrier at a shared::cluster address.
  template <typename Wanted>
  Outcome completeOne(Wanted wanted) {
    std::size_t chosen = 0;
    for (std::size_t i = entries_.size(); i-- > 0;) {
      const AsyncIssue &issue = entries_[i].operation->issue();
      if (issue.completion == CompletionKind::Mbarrier && wanted(issue.barrier)) {
        chosen = i;
      }
    }
    return entries_.empty() ? Outcome::Next : completeFirst(chosen);
  }

  /// Reports what still needs the shared memory of `block`, which ends, and completes it.
  Outcome leave(Block &block);
  /// Reports the operations that only `warp`, which ends, could wait for (wgmma), and completes
  /// them.
  Outcome leave(Warp &warp);

  bool isEmpty() const { return entries_.empty(); }
  /// One line per operation for the report of a deadlock; at most `limit` of them.
  std::string describe(std::size_t limit) const;

private:
  struct Entry {
    std::unique_ptr<AsyncOperation> operation;
    std::uint32_t group = 0;               ///< of its thread or warp
    bool isRead = false;                   ///< readSources has happened
    std::uint64_t readAt = 0, writeAt = 0; ///< Random: rounds
  };

  bool isBehindAnother(std::size_t index) const;
  Outcome read(Entry &entry);
  Outcome completeFirst(std::size_t index);

  AsyncMode mode_ = AsyncMode::Lazy;
  RandomSource *random_ = nullptr;
  std::uint64_t round_ = 0;
  std::vector<Entry> entries_;
};

} // namespace fp8jit::emulator
