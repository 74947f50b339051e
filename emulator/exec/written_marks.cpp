// Which bytes were written before: the initialisation check and its marks.
#include "emulator/exec/access.h"
#include "emulator/exec/cluster.h"

#include <bit>
#include <cinttypes>
#include <cstdio>

namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET {

static constexpr std::uint64_t kAllWritten = 0x0101010101010101ULL;

/// Whether `sizeBytes` marks (a power of two, aligned) are all set.
static bool isWritten(const std::uint8_t *marks, std::uint32_t sizeBytes) {
  switch (sizeBytes) {
  case 1:
    return loadRelaxed<std::uint8_t>(marks) == 1;
  case 2:
    return loadRelaxed<std::uint16_t>(marks) == 0x0101;
  case 4:
    return loadRelaxed<std::uint32_t>(marks) == 0x01010101U;
  default:
    break;
  }
  std::uint64_t all = kAllWritten;
  for (std::uint32_t i = 0; i < sizeBytes; i += 8) {
    all &= loadRelaxed<std::uint64_t>(marks + i);
  }
  return all == kAllWritten;
}

static Outcome reportUnwritten(Warp &warp, const Step &step, const Span &span,
                               std::uint32_t sizeBytes) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const std::uint8_t *marks = span.written + span.offset[lane];
    if (((span.lanes >> lane) & 1U) == 0 || isWritten(marks, sizeBytes)) {
      continue;
    }
    std::uint32_t byte = 0;
    while (marks[byte] != 0) {
      ++byte;
    }
    std::uint64_t address = span.shownBegin + span.offset[lane];
    if (span.space == Space::Local) {
      address -= std::uint64_t{lane} * warp.block->launch->localStride;
    }
    char text[160];
    std::snprintf(text, sizeof(text),
                  "reads %u bytes at %s0x%" PRIx64 ", of which byte %u was never written",
                  sizeBytes, spaceWord(span.space), address, byte);
    std::string what = text;
    if (span.space == Space::Shared) {
      what += describeUnwritten(*warp.block->cluster, static_cast<std::uint32_t>(address + byte));
    }
    return warp.block->launch->findings.add(warp, *step.instruction, LaneMask{1} << lane,
                                            Fault::UninitializedRead, Severity::Finding, what);
  }
  return Outcome::Next;
}

/// Whether the marks of all lanes are set, `Word` bytes at a time.
template <typename Word>
static bool areLanesWritten(const Span &span, std::uint32_t sizeBytes) {
  constexpr Word kSet = static_cast<Word>(kAllWritten);
  Word all = kSet;
  for (std::uint32_t word = 0; word < sizeBytes; word += sizeof(Word)) {
    for (unsigned i = 0; i < kLanes; ++i) { // lanes outside span.lanes repeat the first one
      all &= loadRelaxed<Word>(span.written + span.offset[i] + word);
    }
  }
  return all == kSet;
}

static bool areMarksSet(const Span &span, std::uint32_t sizeBytes) {
  if (span.isUniform) {
    return isWritten(span.written + span.offset[0], sizeBytes);
  }
  const std::uint8_t *marks = span.written + span.offset[0];
  if (span.isContiguous && sizeBytes >= 4 && (span.offset[0] & 7U) == 0) {
    std::uint64_t all = kAllWritten;
    for (unsigned i = 0; i < kLanes * sizeBytes; i += 8) {
      all &= loadRelaxed<std::uint64_t>(marks + i);
    }
    return all == kAllWritten;
  }
  switch (sizeBytes) {
  case 1:
    return areLanesWritten<std::uint8_t>(span, sizeBytes);
  case 2:
    return areLanesWritten<std::uint16_t>(span, sizeBytes);
  case 4:
    return areLanesWritten<std::uint32_t>(span, sizeBytes);
  default:
    return areLanesWritten<std::uint64_t>(span, sizeBytes);
  }
}

Outcome checkWritten(Warp &warp, const Step &step, const Span &span, std::uint32_t sizeBytes) {
  if (span.written == nullptr || areMarksSet(span, sizeBytes)) {
    return Outcome::Next;
  }
  return reportUnwritten(warp, step, span, sizeBytes);
}

void markWritten(const Span &span, std::uint32_t sizeBytes) {
  if (span.written == nullptr) {
    return;
  }
  if (span.isContiguous && sizeBytes >= 4 && (span.offset[0] & 7U) == 0) {
    for (unsigned i = 0; i < kLanes * sizeBytes; i += 8) {
      storeRelaxed<std::uint64_t>(span.written + span.offset[0] + i, kAllWritten);
    }
    return;
  }
  for (LaneMask rest = span.lanes; rest != 0; rest &= rest - 1) {
    std::uint8_t *marks = span.written + span.offset[std::countr_zero(rest)];
    switch (sizeBytes) {
    case 1:
      storeRelaxed<std::uint8_t>(marks, 1);
      break;
    case 2:
      storeRelaxed<std::uint16_t>(marks, 0x0101);
      break;
    case 4:
      storeRelaxed<std::uint32_t>(marks, 0x01010101U);
      break;
    default:
      for (std::uint32_t i = 0; i < sizeBytes; i += 8) {
        storeRelaxed<std::uint64_t>(marks + i, kAllWritten);
      }
    }
  }
}

} // namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET
