// The table of barriers of a block and the rules of their phases.
#include "emulator/exec/mbarrier.h"

#include "emulator/exec/cluster.h"
#include "emulator/exec/race_checker.h"

#include <algorithm>
#include <cassert>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace fp8jit::emulator {

void MbarrierTable::reset(std::uint32_t sharedBytes) {
  barriers_.clear();
  indexOf_.assign(sharedBytes / 8, 0);
  guardBegin_ = guardBytes_ = 0;
}

Mbarrier &MbarrierTable::insert(std::uint32_t offset, std::uint32_t count) {
  assert(find(offset) == nullptr && "the location holds a live barrier");
  auto entry = std::find_if(barriers_.begin(), barriers_.end(),
                            [](const Mbarrier &barrier) { return !barrier.isLive; });
  entry = entry == barriers_.end() ? barriers_.insert(entry, Mbarrier{}) : entry;
  *entry = Mbarrier{};
  entry->offset = offset;
  entry->isLive = true;
  entry->expected = entry->expectedLater = entry->pending = count;
  indexOf_[offset / 8] = static_cast<std::uint16_t>(entry - barriers_.begin() + 1);
  updateGuard();
  return *entry;
}

void MbarrierTable::erase(std::uint32_t offset) {
  Mbarrier *barrier = find(offset);
  assert(barrier != nullptr && "no barrier to end");
  barrier->isLive = false;
  indexOf_[offset / 8] = 0;
  updateGuard();
}

void MbarrierTable::updateGuard() {
  std::uint32_t begin = UINT32_MAX;
  std::uint32_t end = 0;
  for (const Mbarrier &barrier : barriers_) {
    if (barrier.isLive) {
      begin = std::min(begin, barrier.offset);
      end = std::max(end, barrier.offset + 8);
    }
  }
  guardBegin_ = end == 0 ? 0 : begin;
  guardBytes_ = end == 0 ? 0 : end - begin;
}

const Mbarrier *MbarrierTable::findOverlap(std::uint64_t offset, std::uint64_t bytes) const {
  for (const Mbarrier &barrier : barriers_) {
    if (barrier.isLive && barrier.offset < offset + bytes && offset < barrier.offset + 8U) {
      return &barrier;
    }
  }
  return nullptr;
}

Mbarrier *findMbarrier(Cluster &cluster, std::uint32_t address, std::string &problem) {
  char text[96];
  problem = cluster.peerProblem(address);
  if (!problem.empty()) {
    std::snprintf(text, sizeof(text), "uses the barrier at shared address 0x%08x, ", address);
    problem = text + problem;
    return nullptr;
  }
  Block &block = *cluster.blockAt(address);
  Mbarrier *barrier = block.mbarriers.find(address - block.shared.base);
  if (barrier == nullptr) {
    std::snprintf(text, sizeof(text), "uses shared address 0x%08x, where no barrier is initialised",
                  address);
    problem = text;
  }
  return barrier;
}

/// The eight bytes that a dump of shared memory shows: phase, counts, a sum of the bytes awaited.
static void writeImage(Block &block, const Mbarrier &barrier) {
  const std::uint64_t image = (barrier.phase << 63) |
                              ((static_cast<std::uint64_t>(barrier.tx) & 0x1fffffU) << 42) |
                              (std::uint64_t{barrier.pending & 0xfffffU} << 21) | barrier.expected;
  std::memcpy(block.shared.data.data() + barrier.offset, &image, sizeof(image));
}

void initialiseMbarrier(Block &block, std::uint32_t offset, std::uint32_t count) {
  writeImage(block, block.mbarriers.insert(offset, count));
  std::memset(block.shared.written.data() + offset, 0, 8);
}

static void record(Mbarrier &barrier, const MbarrierChange &change, const Warp &warp,
                   const Step &step) {
  barrier.events[barrier.eventCount++ % Mbarrier::kEventCount] = {.line = step.instruction->line,
                                                                  .blockRank = warp.block->rank,
                                                                  .warp = warp.index,
                                                                  .arrivals = change.arrivals,
                                                                  .tx = change.tx,
                                                                  .phase = barrier.phase};
}

/// What the change would break; empty if nothing.
static std::string checkChange(const Mbarrier &barrier, const MbarrierChange &change) {
  char text[160];
  if (change.arrivals > barrier.pending) {
    std::snprintf(text, sizeof(text),
                  "arrives %u times at the barrier at shared address 0x%08x, whose phase %" PRIu64
                  " expects %u more",
                  change.arrivals, change.address, barrier.phase, barrier.pending);
    return text;
  }
  const std::int64_t tx = barrier.tx + change.tx;
  if (tx > Mbarrier::kMaxTx || tx < -Mbarrier::kMaxTx) {
    std::snprintf(text, sizeof(text),
                  "makes the transaction count of the barrier at shared address 0x%08x %" PRId64
                  ", at most %" PRId64 " either way expected",
                  change.address, tx, Mbarrier::kMaxTx);
    return text;
  }
  if (change.noComplete && change.arrivals == barrier.pending && tx == 0) {
    std::snprintf(text, sizeof(text),
                  "is .noComplete, but completes phase %" PRIu64
                  " of the barrier at shared address 0x%08x",
                  barrier.phase, change.address);
    return text;
  }
  return {};
}

std::string changeMbarrier(Cluster &cluster, const MbarrierChange &change, const Warp &warp,
                           const Step &step, std::uint64_t *oldState) {
  std::string problem;
  Mbarrier *barrier = findMbarrier(cluster, change.address, problem);
  if (barrier == nullptr || !(problem = checkChange(*barrier, change)).empty()) {
    return problem;
  }
  if (oldState != nullptr) {
    *oldState = barrier->state();
  }
  record(*barrier, change, warp, step);
  barrier->tx += change.tx;
  barrier->pending -= change.arrivals;
  barrier->expectedLater -= change.drop ? change.arrivals : 0;
  cluster.noteProgress();
  Block &block = *cluster.blockAt(change.address);
  if (barrier->pending == 0 && barrier->tx == 0) {
    if (block.race != nullptr) {
      block.race->mbarrierComplete(block, barrier->offset);
    }
    ++barrier->phase;
    barrier->expected = barrier->pending = barrier->expectedLater;
    cluster.wakeWaiters();
  }
  writeImage(block, *barrier);
  return {};
}

Outcome completeTx(Cluster &cluster, std::uint32_t address, std::uint32_t bytes,
                   const AsyncIssue &issue) {
  const MbarrierChange change{.address = address, .tx = -static_cast<std::int64_t>(bytes)};
  const std::string problem = changeMbarrier(cluster, change, *issue.warp, *issue.step);
  if (problem.empty()) {
    return Outcome::Next;
  }
  return cluster.context.findings.add(*issue.warp, *issue.step->instruction,
                                      LaneMask{1} << issue.lane, Fault::IllegalInstruction,
                                      Severity::HardwareFault, "completes and " + problem);
}

std::string describeMbarrier(const Mbarrier &barrier) {
  char text[160];
  std::snprintf(text, sizeof(text),
                "in phase %" PRIu64 ", %u of %u arrivals and %" PRId64 " bytes missing",
                barrier.phase, barrier.pending, barrier.expected, barrier.tx);
  std::string result = text;
  const std::uint64_t shown = std::min<std::uint64_t>(barrier.eventCount, Mbarrier::kEventCount);
  for (std::uint64_t i = barrier.eventCount - shown; i < barrier.eventCount; ++i) {
    const MbarrierEvent &event = barrier.events[i % Mbarrier::kEventCount];
    std::snprintf(text, sizeof(text),
                  "; PTX line %u by warp %u of block rank %u: %u arrivals, %+" PRId64
                  " bytes in phase %" PRIu64,
                  event.line, event.warp, event.blockRank, event.arrivals, event.tx, event.phase);
    result += text;
  }
  return result;
}

} // namespace fp8jit::emulator
