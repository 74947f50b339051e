// Reading, checking and computing of one wgmma.
#include "emulator/exec/wgmma_operation.h"

#include "emulator/exec/block.h"
#include "emulator/exec/cluster.h"
#include "emulator/exec/race_checker.h"
#include "emulator/exec/wgmma_rules.h"

#include <cstring>

namespace fp8jit::emulator {

static constexpr std::uint32_t kSharedWindowBits = (1U << SharedMemory::kRankShift) - 1;

WgmmaOperation::WgmmaOperation(const AsyncIssue &issue, const OperandTile &a, const OperandTile &b,
                               bool accumulate)
    : AsyncOperation(issue), a_(a), b_(b), accumulate_(accumulate) {
  const std::uint32_t windowOffset = issue.warp->block->shared.base & kSharedWindowBits;
  findPieces(a_, windowOffset, piecesA_.data());
  findPieces(b_, windowOffset, piecesB_.data());
}

Outcome WgmmaOperation::checkInside(const OperandTile &tile, const std::uint32_t *offsets,
                                    const char *name) const {
  const SharedMemory &shared = issue().warp->block->shared;
  const std::uint32_t index = findOutside(offsets, 2 * tile.rows, shared.sizeBytes());
  if (index == 2 * tile.rows) {
    return Outcome::Next;
  }
  const std::uint32_t window = shared.base & kSharedWindowBits;
  const std::string what = std::string("reads matrix ") + name + " at shared address " +
                           std::to_string(offsets[index] + window) +
                           ", the block's shared memory has the addresses " +
                           std::to_string(window) + " to " +
                           std::to_string(window + shared.sizeBytes()) + " (exclusive)";
  return issue().warp->block->launch->findings.add(*issue().warp, instruction(), kAllLanes,
                                                   Fault::IllegalAddress, Severity::HardwareFault,
                                                   what);
}

Outcome WgmmaOperation::checkBounds() const {
  const Outcome outcome = checkInside(a_, piecesA_.data(), "A");
  return outcome == Outcome::Stop ? outcome : checkInside(b_, piecesB_.data(), "B");
}

/// Tells `race` of the pieces of one tile; halves of a row that make up 32 bytes go as one.
static Outcome noteTile(RaceChecker &race, const AsyncIssue &issue, const RaceStamp &stamp,
                        const OperandTile &tile, const std::uint32_t *offsets) {
  const Block &block = *issue.warp->block;
  std::array<std::uint32_t, WgmmaOperation::kMaxColumns> rows;
  bool areWhole = true;
  for (std::uint32_t row = 0; row < tile.rows; ++row) {
    areWhole &= (offsets[2 * row] ^ offsets[2 * row + 1]) == kPieceBytes;
    rows[row] = offsets[2 * row] & ~kPieceBytes;
  }
  return areWhole ? race.accessAsync(*issue.warp, *issue.step, stamp, block, RaceAccess::Read,
                                     rows.data(), tile.rows, 2 * kPieceBytes)
                  : race.accessAsync(*issue.warp, *issue.step, stamp, block, RaceAccess::Read,
                                     offsets, 2 * tile.rows, kPieceBytes);
}

Outcome WgmmaOperation::noteReads() const {
  RaceChecker *race = issue().warp->block->race;
  if (race == nullptr) {
    return Outcome::Next;
  }
  const RaceStamp stamp = race->stampWgmma(*issue().warp);
  const Outcome outcome = noteTile(*race, issue(), stamp, a_, piecesA_.data());
  return outcome == Outcome::Stop ? outcome : noteTile(*race, issue(), stamp, b_, piecesB_.data());
}

Outcome WgmmaOperation::checkWritten(const OperandTile &tile, const std::uint32_t *offsets,
                                     const char *name) const {
  Block &block = *issue().warp->block;
  const std::uint32_t offset = findUnwritten(offsets, 2 * tile.rows, block.shared);
  if (offset == UINT32_MAX) {
    return Outcome::Next;
  }
  const std::uint32_t address = block.shared.base + offset;
  return block.launch->findings.add(
      *issue().warp, instruction(), kAllLanes, Fault::UninitializedRead, Severity::Finding,
      std::string("reads matrix ") + name + " where shared memory was never written, at address " +
          std::to_string(address) + describeUnwritten(*block.cluster, address));
}

/// Flips the signs of `count` words of elements of `elementBytes`.
static void negateWords(std::uint32_t *words, std::uint32_t count, std::uint32_t elementBytes) {
  const std::uint32_t signs = elementBytes == 1   ? 0x80808080U
                              : elementBytes == 2 ? 0x80008000U
                                                  : 0x80000000U;
  for (std::uint32_t i = 0; i < count; ++i) {
    words[i] ^= signs;
  }
}

Outcome WgmmaOperation::readSources() {
  const Step &step = *issue().step;
  const SharedMemory &shared = issue().warp->block->shared;
  if (checkWritten(a_, piecesA_.data(), "A") == Outcome::Stop ||
      checkWritten(b_, piecesB_.data(), "B") == Outcome::Stop) {
    return Outcome::Stop;
  }
  copyPieces(b_, piecesB_.data(), shared, kFragmentsOfB, wordsB_.data());
  if (hasTileA()) {
    copyPieces(a_, piecesA_.data(), shared, kFragmentsOfA, wordsA_.data());
  } else {
    for (std::uint32_t r = 0; r < kWgmmaRegistersA; ++r) {
      const std::uint32_t operand = step.operands[instruction().numDst + r];
      std::memcpy(wordsA_.data() + r * kLanes, issue().warp->lanes<std::uint32_t>(operand),
                  kSlotBytes);
    }
  }
  if (instruction().mods.negateA) {
    negateWords(wordsA_.data(), static_cast<std::uint32_t>(wordsA_.size()), b_.elementBytes);
  }
  if (instruction().mods.negateB) {
    negateWords(wordsB_.data(), b_.rows * kOperandRowBytes / 4, b_.elementBytes);
  }
  return Outcome::Next;
}

Outcome WgmmaOperation::writeDestinations() {
  const Step &step = *issue().step;
  constexpr std::uint32_t kMaxAccumulators = kMaxColumns / 2;
  std::uint32_t *accumulators[kMaxAccumulators];
  for (std::uint32_t r = 0; r < instruction().numDst; ++r) {
    accumulators[r] = issue().warp->lanes<std::uint32_t>(step.operands[r]);
  }
  WgmmaOperands operands{.a = {},
                         .b = wordsB_.data(),
                         .d = accumulators,
                         .n = static_cast<int>(b_.rows),
                         .accumulate = accumulate_};
  for (std::uint32_t r = 0; r < kWgmmaRegistersA; ++r) {
    operands.a[r] = wordsA_.data() + r * kLanes;
  }
  reinterpret_cast<WgmmaFunction>(step.tensorFunction)(operands);
  return Outcome::Next;
}

bool WgmmaOperation::needsBlock(const Block &block, bool sourcesAreRead) const {
  return !sourcesAreRead && issue().warp->block == &block;
}

} // namespace fp8jit::emulator
