// When asynchronous operations complete, by mode.
#include "emulator/exec/pending_operations.h"

#include "emulator/exec/block.h"
#include "emulator/exec/cluster.h"

#include <algorithm>

namespace fp8jit::emulator {

void PendingOperations::reset(AsyncMode mode, RandomSource &random) {
  mode_ = mode;
  random_ = &random;
  round_ = 0;
  entries_.clear();
}

/// The open group that an operation joins.
static std::uint32_t openGroup(const AsyncIssue &issue) {
  return issue.completion == CompletionKind::WgmmaGroup ? issue.warp->wgmmaGroups
                                                        : issue.warp->bulkGroups[issue.lane];
}

Outcome PendingOperations::issue(std::unique_ptr<AsyncOperation> operation) {
  if (mode_ == AsyncMode::Eager) {
    const Outcome outcome = operation->readSources();
    return outcome == Outcome::Stop ? outcome : operation->writeDestinations();
  }
  operation->poisonDestinations();
  Entry entry;
  entry.group = openGroup(operation->issue());
  if (mode_ == AsyncMode::Random) {
    // Mostly a few rounds, now and then many.
    constexpr std::uint64_t kMaxShift = 7;
    const auto delay = [this] {
      return random_->below(std::uint64_t{1} << random_->below(kMaxShift));
    };
    entry.readAt = round_ + delay();
    entry.writeAt = entry.readAt + delay();
  }
  entry.operation = std::move(operation);
  entries_.push_back(std::move(entry));
  return Outcome::Next;
}

Outcome PendingOperations::read(Entry &entry) {
  if (entry.isRead) {
    return Outcome::Next;
  }
  entry.isRead = true;
  return entry.operation->readSources();
}

Outcome PendingOperations::completeFirst(std::size_t index) {
  // Taken out first: its signal may be looked at by what runs next.
  Entry entry = std::move(entries_[index]);
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(index));
  entry.operation->issue().warp->block->cluster->noteProgress();
  const Outcome outcome = read(entry);
  return outcome == Outcome::Stop ? outcome : entry.operation->writeDestinations();
}

/// Operations of wgmma chains complete in order.
bool PendingOperations::isBehindAnother(std::size_t index) const {
  const AsyncIssue &issue = entries_[index].operation->issue();
  if (issue.completion != CompletionKind::WgmmaGroup) {
    return false;
  }
  return std::any_of(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(index),
                     [&issue](const Entry &other) {
                       const AsyncIssue &earlier = other.operation->issue();
                       return earlier.completion == issue.completion && earlier.warp == issue.warp;
                     });
}

Outcome PendingOperations::waitGroups(Warp &warp, LaneMask lanes, CompletionKind kind,
                                      std::uint64_t keep, bool readOnly) {
  for (std::size_t i = 0; i < entries_.size();) {
    Entry &entry = entries_[i];
    const AsyncIssue &issue = entry.operation->issue();
    const bool isMine =
        issue.completion == kind && issue.warp == &warp && ((lanes >> issue.lane) & 1U) != 0;
    // Groups are numbered from 0; those below the number of committed groups are committed.
    if (!isMine || entry.group + keep >= openGroup(issue)) {
      ++i;
      continue;
    }
    const Outcome outcome = readOnly ? read(entry) : completeFirst(i);
    if (outcome == Outcome::Stop) {
      return outcome;
    }
    i += readOnly ? 1 : 0;
  }
  return Outcome::Next;
}

Outcome PendingOperations::advance() {
  ++round_;
  if (mode_ != AsyncMode::Random) {
    return Outcome::Next;
  }
  for (std::size_t i = 0; i < entries_.size();) {
    Entry &entry = entries_[i];
    if (entry.readAt > round_ || isBehindAnother(i)) {
      ++i;
      continue;
    }
    if (entry.writeAt > round_) {
      if (read(entry) == Outcome::Stop) {
        return Outcome::Stop;
      }
      ++i;
      continue;
    }
    if (completeFirst(i) == Outcome::Stop) {
      return Outcome::Stop;
    }
  }
  return Outcome::Next;
}

static Outcome reportUnfinished(const AsyncOperation &operation, const char *what) {
  const AsyncIssue &issue = operation.issue();
  return issue.warp->block->launch->findings.add(
      *issue.warp, *issue.step->instruction, LaneMask{1} << issue.lane, Fault::IllegalInstruction,
      Severity::Finding, what);
}

Outcome PendingOperations::leave(Block &block) {
  for (std::size_t i = 0; i < entries_.size();) {
    const Entry &entry = entries_[i];
    const AsyncOperation &operation = *entry.operation;
    const bool isNeeded = operation.needsBlock(block, entry.isRead);
    if (isNeeded &&
        reportUnfinished(operation,
                         "is pending while the block whose shared memory it uses ends: the kernel "
                         "has to wait for it") == Outcome::Stop) {
      return Outcome::Stop;
    }
    if (!isNeeded && operation.issue().warp->block != &block) {
      ++i;
      continue;
    }
    if (completeFirst(i) == Outcome::Stop) {
      return Outcome::Stop;
    }
  }
  return Outcome::Next;
}

Outcome PendingOperations::leave(Warp &warp) {
  for (std::size_t i = 0; i < entries_.size();) {
    const AsyncIssue &issue = entries_[i].operation->issue();
    if (issue.completion != CompletionKind::WgmmaGroup || issue.warp != &warp) {
      ++i;
      continue;
    }
    if (reportUnfinished(*entries_[i].operation,
                         "is never waited for: the warp exits while it is pending") ==
            Outcome::Stop ||
        completeFirst(i) == Outcome::Stop) {
      return Outcome::Stop;
    }
  }
  return Outcome::Next;
}

std::string PendingOperations::describe(std::size_t limit) const {
  std::string text;
  for (std::size_t i = 0; i < entries_.size() && i < limit; ++i) {
    const AsyncIssue &issue = entries_[i].operation->issue();
    text += "\n  pending: " + instructionName(*issue.step->instruction) + " of PTX line " +
            std::to_string(issue.step->instruction->line) + ", block " +
            coordinateText(issue.warp->block->index) + ", warp " +
            std::to_string(issue.warp->index);
  }
  if (entries_.size() > limit) {
    text += "\n  and " + std::to_string(entries_.size() - limit) + " more pending operations";
  }
  return text;
}

} // namespace fp8jit::emulator
