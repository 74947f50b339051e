// cp.async and its groups (PTX ISA, "cp.async"). Bounds and alignment are checked at issue, the
// source is read and the destination written at the wait (async_queue.h).
#include "emulator/exec/access.h"
#include "emulator/exec/lane_ops.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET {

/// Source bytes of each lane: the cp-size, the src-size operand, or 0 with a true ignore-src.
static void readSourceBytes(const Warp &warp, const Step &step, std::uint32_t *bytes) {
  const Instruction &instruction = *step.instruction;
  const std::uint32_t copyBytes = instruction.mods.cpSize;
  const std::uint32_t size = instruction.numSrc > 2 ? step.operands[2] : kNoSlot;
  const std::uint32_t ignore = instruction.numSrc > 3 ? step.operands[3] : kNoSlot;
  for (unsigned i = 0; i < kLanes; ++i) {
    bytes[i] = size != kNoSlot ? warp.lanes<const std::uint32_t>(size)[i] : copyBytes;
    if (ignore != kNoSlot) {
      const LaneMask ignored =
          warp.predicates[ignore] ^ (instruction.mods.negateSource ? kAllLanes : 0U);
      bytes[i] = ((ignored >> i) & 1U) != 0 ? 0 : bytes[i];
    }
  }
}

/// Lanes that read less than the whole copy: the bytes they do read have to exist.
static Outcome checkPartial(Warp &warp, const Step &step, const AccessRequest &source,
                            const std::uint32_t *bytes, LaneMask lanes) {
  LaunchContext &launch = *warp.block->launch;
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t address = source.address[lane];
    char text[128];
    if (bytes[lane] > source.sizeBytes) {
      std::snprintf(text, sizeof(text), "has a source size of %u bytes, at most %u expected",
                    bytes[lane], source.sizeBytes);
      return launch.findings.add(warp, *step.instruction, LaneMask{1} << lane,
                                 Fault::IllegalInstruction, Severity::HardwareFault, text);
    }
    if (bytes[lane] == 0) {
      continue;
    }
    std::snprintf(text, sizeof(text), "reads %u bytes at 0x%" PRIx64 ", ", bytes[lane], address);
    if (address % source.sizeBytes != 0) {
      return launch.findings.add(warp, *step.instruction, LaneMask{1} << lane,
                                 Fault::MisalignedAddress, Severity::HardwareFault,
                                 std::string(text) + "which is not a multiple of " +
                                     std::to_string(source.sizeBytes));
    }
    const std::optional<MemoryRegion> region = launch.memory.find(address);
    if (!region || !region->contains(address, bytes[lane])) {
      return launch.findings.add(
          warp, *step.instruction, LaneMask{1} << lane, Fault::IllegalAddress,
          Severity::HardwareFault,
          text + launch.memory.describe(region ? address + bytes[lane] - 1 : address));
    }
    ++launch.counters.loadSectors;
  }
  return Outcome::Next;
}

/// Calls act.operator()<Size>() with the cp-size as a constant, so that copies become plain moves.
template <typename Act>
static void withSize(std::uint32_t sizeBytes, Act act) {
  switch (sizeBytes) {
  case 4:
    act.template operator()<4>();
    break;
  case 8:
    act.template operator()<8>();
    break;
  default:
    act.template operator()<16>();
    break;
  }
}

/// Checks the destinations of a copy against earlier accesses.
static Outcome checkCopyRaces(const Warp &warp, const PendingCopy &copy) {
  RaceChecker *race = warp.block->race;
  if (race == nullptr) {
    return Outcome::Next;
  }
  std::uint32_t offsets[kLanes];
  std::uint32_t count = 0;
  for (LaneMask rest = copy.lanes; rest != 0; rest &= rest - 1) {
    offsets[count++] = copy.destination[std::countr_zero(rest)];
  }
  return race->accessAsync(warp, *copy.step, race->stampCopy(warp, copy.group), *warp.block,
                           RaceAccess::Write, offsets, count, copy.sizeBytes);
}

static Outcome enqueue(Warp &warp, const Step &step, const Span &destination,
                       const AccessRequest &source, const std::uint32_t *bytes) {
  warp.async.issuers |= destination.lanes;
  for (LaneMask rest = destination.lanes; rest != 0;) {
    const std::uint32_t group = warp.async.committed[static_cast<unsigned>(std::countr_zero(rest))];
    PendingCopy &copy = warp.async.copies.emplace_back(group, source.sizeBytes, &step);
    for (unsigned i = 0; i < kLanes; ++i) {
      const bool belongs = ((rest >> i) & 1U) != 0 && warp.async.committed[i] == group;
      copy.lanes |= LaneMask{belongs} << i;
      copy.destination[i] = static_cast<std::uint32_t>(destination.offset[i]);
      copy.source[i] = source.address[i];
      copy.sourceBytes[i] = static_cast<std::uint8_t>(bytes[i]);
    }
    rest &= ~copy.lanes;
    if (checkCopyRaces(warp, copy) == Outcome::Stop) {
      return Outcome::Stop;
    }
  }
  return Outcome::Next;
}

static Outcome issue(Warp &warp, const Step &step, LaneMask mask) {
  const Instruction &instruction = *step.instruction;
  AccessRequest to;
  to.space = Space::Shared;
  to.kind = AccessKind::Write;
  to.sizeBytes = instruction.mods.cpSize;
  readAddresses(warp, step.operands[0], (instruction.addressBits & 1U) != 0, instruction.immediate,
                to);
  AccessRequest from;
  from.space = Space::Global;
  from.kind = AccessKind::Read;
  from.sizeBytes = instruction.mods.cpSize;
  readAddresses(warp, step.operands[1], (instruction.addressBits & 2U) != 0, instruction.immediate2,
                from);
  std::uint32_t bytes[kLanes];
  readSourceBytes(warp, step, bytes);
  LaneMask whole = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    whole |= LaneMask{bytes[i] == from.sizeBytes} << i;
  }
  Span span;
  for (LaneMask rest = mask & whole; rest != 0; rest &= ~span.lanes) {
    if (resolve(warp, step, from, rest, span) == Outcome::Stop) {
      return Outcome::Stop;
    }
  }
  if ((mask & ~whole) != 0 &&
      checkPartial(warp, step, from, bytes, mask & ~whole) == Outcome::Stop) {
    return Outcome::Stop;
  }
  if (resolve(warp, step, to, mask, span) == Outcome::Stop) {
    return Outcome::Stop;
  }
  withSize(to.sizeBytes, [&span]<std::size_t Size>() {
    for (LaneMask rest = span.lanes; rest != 0; rest &= rest - 1) {
      std::memset(span.written + span.offset[std::countr_zero(rest)], 0, Size);
    }
  });
  return enqueue(warp, step, span, from, bytes);
}

/// Makes warp.region the one of the source; Stop if it was freed since the copy was issued.
static Outcome findSource(Warp &warp, const PendingCopy &copy, unsigned lane) {
  LaunchContext &launch = *warp.block->launch;
  const std::uint64_t address = copy.source[lane];
  const std::uint64_t generation = launch.memory.generation();
  if (warp.regionGeneration == generation && warp.region.contains(address, copy.sourceBytes[lane]))
      [[likely]] {
    return Outcome::Next;
  }
  const std::optional<MemoryRegion> region = launch.memory.find(address);
  if (!region) {
    return launch.findings.add(warp, *copy.step->instruction, LaneMask{1} << lane,
                               Fault::IllegalAddress, Severity::HardwareFault,
                               "completes from memory that was freed meanwhile: " +
                                   launch.memory.describe(address));
  }
  warp.regionGeneration = generation;
  warp.region = *region;
  return Outcome::Next;
}

/// Reads `bytes` source bytes in units of Unit; returns whether all were written before.
template <typename Unit>
static bool readSource(const std::uint8_t *source, const std::uint8_t *marks, std::uint32_t bytes,
                       std::uint8_t *value) {
  constexpr auto kSet = static_cast<Unit>(0x0101010101010101ULL);
  bool isWritten = true;
  for (std::uint32_t i = 0; i < bytes; i += sizeof(Unit)) {
    const Unit unit = loadRelaxed<Unit>(source + i);
    std::memcpy(value + i, &unit, sizeof(unit));
    isWritten &= marks == nullptr || loadRelaxed<Unit>(marks + i) == kSet;
  }
  return isWritten;
}

static Outcome reportUnwritten(Warp &warp, const PendingCopy &copy, unsigned lane,
                               const std::uint8_t *marks) {
  const std::uint32_t bytes = copy.sourceBytes[lane];
  std::uint32_t first = 0;
  while (first < bytes && loadRelaxed<std::uint8_t>(marks + first) == 1) {
    ++first;
  }
  char text[128];
  std::snprintf(text, sizeof(text),
                "reads %u bytes at 0x%" PRIx64 ", of which byte %u was never written", bytes,
                copy.source[lane], first);
  return warp.block->launch->findings.add(warp, *copy.step->instruction, LaneMask{1} << lane,
                                          Fault::UninitializedRead, Severity::Finding, text);
}

/// Performs the copy of one lane.
static Outcome complete(Warp &warp, const PendingCopy &copy, unsigned lane) {
  const std::uint64_t address = copy.source[lane];
  const std::uint32_t bytes = copy.sourceBytes[lane];
  alignas(16) std::uint8_t value[16] = {};
  if (bytes > 0) {
    if (findSource(warp, copy, lane) == Outcome::Stop) {
      return Outcome::Stop;
    }
    const auto *source = reinterpret_cast<const std::uint8_t *>(address);
    const std::uint8_t *marks = warp.region.shadow == nullptr
                                    ? nullptr
                                    : warp.region.shadow + (address - warp.region.begin);
    const bool isWritten = bytes % 8 == 0   ? readSource<std::uint64_t>(source, marks, bytes, value)
                           : bytes % 4 == 0 ? readSource<std::uint32_t>(source, marks, bytes, value)
                                            : readSource<std::uint8_t>(source, marks, bytes, value);
    if (!isWritten && reportUnwritten(warp, copy, lane, marks) == Outcome::Stop) {
      return Outcome::Stop;
    }
  }
  SharedMemory &shared = warp.block->shared;
  const std::uint32_t destination = copy.destination[lane];
  withSize(copy.sizeBytes, [&shared, &value, destination]<std::size_t Size>() {
    std::memcpy(shared.data.data() + destination, value, Size);
    std::memset(shared.written.data() + destination, 1, Size);
  });
  return Outcome::Next;
}

/// Tells the race checks that all but the `pending` latest groups of each lane are complete.
static void noteWait(const Warp &warp, LaneMask lanes, std::uint64_t pending) {
  const LaneMask issuers = lanes & warp.async.issuers;
  if (warp.block->race == nullptr || issuers == 0) {
    return;
  }
  std::uint64_t group = UINT32_MAX;
  for (LaneMask rest = issuers; rest != 0; rest &= rest - 1) {
    group = std::min<std::uint64_t>(group, warp.async.committed[std::countr_zero(rest)]);
  }
  warp.block->race->copyWait(warp, static_cast<std::uint32_t>(group - std::min(group, pending)));
}

/// Completes the copies of `lanes` whose group is older than the `pending` latest committed ones.
static Outcome completeGroups(Warp &warp, LaneMask lanes, std::uint64_t pending) {
  noteWait(warp, lanes, pending);
  AsyncQueue &queue = warp.async;
  for (std::size_t i = queue.first; i < queue.copies.size(); ++i) {
    PendingCopy &copy = queue.copies[i];
    for (LaneMask rest = copy.lanes & lanes; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      if (copy.group + pending >= queue.committed[lane]) {
        continue;
      }
      copy.lanes &= ~(LaneMask{1} << lane);
      if (complete(warp, copy, lane) == Outcome::Stop) {
        return Outcome::Stop;
      }
    }
  }
  queue.trim();
  return Outcome::Next;
}

static Outcome commit(Warp &warp, const Step &, LaneMask mask) {
  for (unsigned i = 0; i < kLanes; ++i) {
    warp.async.committed[i] += (mask >> i) & 1U;
  }
  return Outcome::Next;
}

static Outcome waitGroup(Warp &warp, const Step &step, LaneMask mask) {
  return completeGroups(warp, mask, static_cast<std::uint64_t>(step.instruction->immediate));
}

static Outcome waitAll(Warp &warp, const Step &step, LaneMask mask) {
  commit(warp, step, mask);
  return completeGroups(warp, mask, 0);
}

Handler selectAsyncCopy(const Instruction &instruction) {
  const std::uint8_t bytes = instruction.mods.cpSize;
  switch (instruction.op) {
  case Op::CpAsync:
    return bytes == 4 || bytes == 8 || bytes == 16 ? &issue : nullptr;
  case Op::CpAsyncCommit:
    return &commit;
  case Op::CpAsyncWait:
    return instruction.immediate >= 0 ? &waitGroup : nullptr;
  case Op::CpAsyncWaitAll:
    return &waitAll;
  default: // the other groups
    return nullptr;
  }
}

} // namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET
