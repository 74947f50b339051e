// The rules of race_shadow.h: which earlier accesses a new one conflicts with, and what is kept.
#include "emulator/exec/race_shadow.h"

#include <bit>

namespace fp8jit::emulator {

/// Whether `clock` knows the access of every component of `record`.
static bool covers(const RaceClock &clock, const RaceRecord &record) {
  const std::uint32_t first = record.firstComponent();
  for (std::uint32_t mask = record.mask(); mask != 0; mask &= mask - 1) {
    if (clock.at(first + static_cast<std::uint32_t>(std::countr_zero(mask))) < record.clock()) {
      return false;
    }
  }
  return true;
}

static bool isConflict(RaceAccess earlier, RaceAccess later) {
  if (earlier == RaceAccess::Write || later == RaceAccess::Write) {
    return true;
  }
  return (earlier == RaceAccess::Read && later == RaceAccess::Update) ||
         (earlier == RaceAccess::Update && later == RaceAccess::Read);
}

/// How `earlier`, which conflicts, is ordered before the access of `probe`. What a warp wrote has
/// to be visible to the async proxy before that accesses it; what it only read does not.
static RaceVerdict judge(const RaceRecord &earlier, const RaceProbe &probe) {
  const bool wrote = earlier.kind() == RaceAccess::Write || earlier.kind() == RaceAccess::Update;
  const bool needsProxy = probe.isAsync && wrote;
  if (covers(needsProxy ? probe.order->asyncVisible : probe.order->all, earlier)) {
    return RaceVerdict::Ordered;
  }
  return needsProxy && covers(probe.order->all, earlier) ? RaceVerdict::NoProxyFence
                                                         : RaceVerdict::Unordered;
}

static void checkOne(const RaceRecord &earlier, std::uint32_t offset, RaceProbe &probe) {
  if (!earlier || !isConflict(earlier.kind(), probe.record.kind())) {
    return;
  }
  const RaceVerdict verdict = judge(earlier, probe);
  if (verdict != RaceVerdict::Ordered && probe.verdict == RaceVerdict::Ordered) {
    probe.verdict = verdict;
    probe.earlier = earlier;
    probe.offset = offset;
  }
}

/// Invariant 2: whether `earlier` need not be kept beside the access of `probe`.
static bool isReplaced(const RaceRecord &earlier, const RaceProbe &probe) {
  const bool conflictsWithLess =
      earlier.kind() == probe.record.kind() || earlier.kind() == RaceAccess::StrongRead;
  return conflictsWithLess && covers(probe.order->all, earlier);
}

void RaceShadow::reset(std::uint32_t bytes) {
  cells_.assign((bytes + kChunkBytes - 1) / kChunkBytes, Cell());
  parts_.resize(1);
  freeParts_.clear();
  sets_.assign(1, {});
  freeSets_.clear();
}

void RaceShadow::accessParts(std::uint32_t offset, std::uint32_t bytes, RaceProbe &probe) {
  const std::uint32_t end = offset + bytes;
  for (std::uint32_t chunk = offset / kChunkBytes; chunk * kChunkBytes < end; ++chunk) {
    const std::uint32_t first = chunk * kChunkBytes;
    std::uint32_t mask = kWholeChunk;
    if (first < offset) {
      mask &= kWholeChunk << (offset - first);
    }
    if (end - first < kChunkBytes) {
      mask &= (1U << (end - first)) - 1;
    }
    access(chunk, mask, probe);
  }
}

void RaceShadow::accessChunk(std::uint32_t chunk, std::uint32_t mask, RaceProbe &probe) {
  Cell &cell = cells_[chunk];
  const Cell before = cell;
  touch(cell, {.first = chunk * kChunkBytes, .bytes = kChunkBytes}, mask, probe);
  const bool isSelfContained = (before.more | before.split | cell.more | cell.split) == 0;
  if (mask == kWholeChunk && isSelfContained) {
    probe.before = before;
    probe.after = cell;
  }
}

void RaceShadow::touch(Cell &cell, const Place &place, std::uint32_t mask, RaceProbe &probe) {
  if (cell.split == 0) {
    if (std::popcount(mask) == static_cast<int>(place.bytes)) {
      apply(cell, place, probe);
      return;
    }
    splitCell(cell);
  }
  touchParts(cell, place, mask, probe);
}

void RaceShadow::touchParts(Cell &cell, const Place &place, std::uint32_t mask, RaceProbe &probe) {
  Parts &parts = parts_[cell.split];
  const std::uint32_t bytes = place.bytes / 4;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t part = (mask >> (i * bytes)) & ((1U << bytes) - 1);
    if (part != 0) {
      touch(parts[i], {.first = place.first + i * bytes, .bytes = bytes}, part, probe);
    }
  }
  const Cell &first = parts[0];
  if (std::popcount(mask) == static_cast<int>(place.bytes) && first.split == 0 && first.more == 0 &&
      first == parts[1] && first == parts[2] && first == parts[3]) {
    freeParts_.push_back(cell.split); // whole again
    cell = first;
  }
}

void RaceShadow::check(const Cell &cell, const Place &place, RaceProbe &probe) const {
  checkOne(cell.writer, place.first, probe);
  for (const RaceRecord &record : cell.since) {
    checkOne(record, place.first, probe);
  }
  for (const RaceRecord &record : sets_[cell.more]) {
    checkOne(record, place.first, probe);
  }
}

void RaceShadow::apply(Cell &cell, const Place &place, RaceProbe &probe) {
  check(cell, place, probe);
  if (probe.record.kind() == RaceAccess::Write) {
    releaseSet(cell);
    cell.since = {};
    cell.writer = probe.record;
    return;
  }
  enter(cell, probe);
}

void RaceShadow::enter(Cell &cell, const RaceProbe &probe) {
  if (cell.more != 0) {
    enterMany(cell, probe);
    return;
  }
  for (RaceRecord &record : cell.since) {
    if (record && record.isSameMoment(probe.record)) {
      record.addComponents(probe.record);
      return;
    }
  }
  for (RaceRecord &record : cell.since) {
    if (!record || isReplaced(record, probe)) {
      record = probe.record;
      return;
    }
  }
  enterMany(cell, probe);
}

void RaceShadow::enterMany(Cell &cell, const RaceProbe &probe) {
  if (cell.more == 0) {
    cell.more = newSet();
  }
  std::vector<RaceRecord> &set = sets_[cell.more];
  for (const RaceRecord &record : cell.since) {
    if (record) {
      set.push_back(record);
    }
  }
  bool isEntered = false;
  std::size_t kept = 0;
  for (RaceRecord record : set) {
    if (!isEntered && record.isSameMoment(probe.record)) {
      record.addComponents(probe.record);
      isEntered = true;
    } else if (isReplaced(record, probe)) {
      continue;
    }
    set[kept++] = record;
  }
  set.resize(kept);
  if (!isEntered) {
    set.push_back(probe.record);
  }
  cell.since = {};
  for (RaceRecord &record : cell.since) {
    if (!set.empty()) {
      record = set.back();
      set.pop_back();
    }
  }
  if (set.empty()) {
    releaseSet(cell);
  }
}

void RaceShadow::splitCell(Cell &cell) {
  std::uint32_t index = static_cast<std::uint32_t>(parts_.size());
  if (freeParts_.empty()) {
    parts_.emplace_back();
  } else {
    index = freeParts_.back();
    freeParts_.pop_back();
  }
  for (Cell &part : parts_[index]) {
    part = cell;
    if (cell.more != 0) {
      part.more = newSet();
      sets_[part.more] = sets_[cell.more];
    }
  }
  releaseSet(cell);
  cell.split = index;
}

std::uint32_t RaceShadow::newSet() {
  if (freeSets_.empty()) {
    sets_.emplace_back();
    return static_cast<std::uint32_t>(sets_.size() - 1);
  }
  const std::uint32_t index = freeSets_.back();
  freeSets_.pop_back();
  return index;
}

void RaceShadow::releaseSet(Cell &cell) {
  if (cell.more != 0) {
    sets_[cell.more].clear();
    freeSets_.push_back(cell.more);
    cell.more = 0;
  }
}

} // namespace fp8jit::emulator
