// Pieces of operand tiles.
#include "emulator/exec/wgmma_operands.h"

#include <cstring>

namespace fp8jit::emulator {

static constexpr std::uint32_t kGroupRows = 8;

void findPieces(const OperandTile &tile, std::uint32_t windowOffset, std::uint32_t *offsets) {
  const std::uint32_t perPiece = kPieceBytes / tile.elementBytes;
  const std::uint32_t perRow = kOperandRowBytes / tile.elementBytes;
  const auto addressOf = [&](std::uint32_t row, std::uint32_t k) {
    return elementAddress(tile.descriptor, tile.major, tile.firstRow + row, k, tile.elementBytes) -
           windowOffset;
  };
  if (tile.major == Major::K) {
    for (std::uint32_t row = 0; row < tile.rows; ++row) {
      *offsets++ = addressOf(row, 0);
      *offsets++ = addressOf(row, perPiece);
    }
    return;
  }
  for (std::uint32_t row = 0; row < tile.rows; row += perPiece) {
    for (std::uint32_t k = 0; k < perRow; ++k) {
      *offsets++ = addressOf(row, k);
    }
  }
}

std::uint32_t findOutside(const std::uint32_t *offsets, std::uint32_t count,
                          std::uint32_t sizeBytes) {
  for (std::uint32_t i = 0; i < count; ++i) {
    if (sizeBytes < kPieceBytes || offsets[i] > sizeBytes - kPieceBytes) {
      return i;
    }
  }
  return count;
}

std::uint32_t findUnwritten(const std::uint32_t *offsets, std::uint32_t count,
                            const SharedMemory &shared) {
  constexpr std::uint64_t kAllWritten = 0x0101010101010101;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint8_t *marks = shared.written.data() + offsets[i];
    std::uint64_t halves[2];
    std::memcpy(halves, marks, sizeof(halves));
    if ((halves[0] & halves[1]) == kAllWritten) {
      continue;
    }
    for (std::uint32_t byte = 0; byte < kPieceBytes; ++byte) {
      if (marks[byte] == 0) {
        return offsets[i] + byte;
      }
    }
  }
  return UINT32_MAX;
}

/// MN-major: a piece has one k of eight rows of 16-bit elements.
static void spreadPiece(const std::uint8_t *piece, std::uint32_t k, const FragmentLayout &layout,
                        std::uint32_t *group) {
  std::uint16_t elements[kGroupRows];
  std::memcpy(elements, piece, sizeof(elements));
  auto *halves = reinterpret_cast<std::uint8_t *>(group + k / kGroupRows * layout.halfWords);
  for (std::uint32_t row = 0; row < kGroupRows; ++row) {
    std::memcpy(halves + row * kPieceBytes + k % kGroupRows * 2, elements + row, 2);
  }
}

void copyPieces(const OperandTile &tile, const std::uint32_t *offsets, const SharedMemory &shared,
                const FragmentLayout &layout, std::uint32_t *words) {
  const std::uint8_t *data = shared.data.data();
  for (std::uint32_t first = 0; first < tile.rows; first += kGroupRows) {
    std::uint32_t *group = words + first / kGroupRows * layout.groupWords;
    if (tile.major == Major::K) {
      for (std::uint32_t row = 0; row < kGroupRows; ++row) {
        std::memcpy(group + 4 * row, data + *offsets++, kPieceBytes);
        std::memcpy(group + layout.halfWords + 4 * row, data + *offsets++, kPieceBytes);
      }
      continue;
    }
    for (std::uint32_t k = 0; k < kOperandRowBytes / 2; ++k) {
      spreadPiece(data + *offsets++, k, layout, group);
    }
  }
}

} // namespace fp8jit::emulator
