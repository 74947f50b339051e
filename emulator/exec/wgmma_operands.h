// Operands of wgmma in shared memory: which 16-byte pieces a descriptor names, and how they become
// the fragments that emulator/tensor computes with. Main entries: findPieces, copyPieces.
#pragma once

#include "emulator/exec/shared_memory.h"
#include "emulator/tensor/descriptor.h"

#include <cstdint>

namespace fp8jit::emulator {

/// Bytes of k in one row of A or column of B, for every format.
inline constexpr std::uint32_t kOperandRowBytes = 32;
/// Bytes that stay together in every layout.
inline constexpr std::uint32_t kPieceBytes = 16;

/// One operand of one warp: rows of A or columns of B.
struct OperandTile {
  MatrixDescriptor descriptor;
  Major major = Major::K;
  std::uint32_t firstRow = 0, rows = 0; ///< multiples of 8
  std::uint32_t elementBytes = 1;       ///< 2 in an MN-major layout
};

/// Fills `offsets` with where the tile's pieces lie in the block's shared memory, two per row:
/// K-major, the halves of each row; MN-major, for every eight rows their sixteen k. `windowOffset`
/// is the address of the first byte of shared memory, without the block's rank.
void findPieces(const OperandTile &tile, std::uint32_t windowOffset, std::uint32_t *offsets);

/// Index of the first piece that lies outside `sizeBytes` of shared memory, or `count`.
std::uint32_t findOutside(const std::uint32_t *offsets, std::uint32_t count,
                          std::uint32_t sizeBytes);

/// Offset of the first byte of the pieces that was never written, or UINT32_MAX.
std::uint32_t findUnwritten(const std::uint32_t *offsets, std::uint32_t count,
                            const SharedMemory &shared);

/// Fragments as MmaRegisters has them: the 16-byte halves of eight rows lie together.
struct FragmentLayout {
  std::uint32_t groupWords = 0; ///< from one group of eight rows to the next
  std::uint32_t halfWords = 0;  ///< from the first half of a row to the second
};
inline constexpr FragmentLayout kFragmentsOfA{.groupWords = 32, .halfWords = 64};
inline constexpr FragmentLayout kFragmentsOfB{.groupWords = 64, .halfWords = 32};

/// Copies a tile from `shared` to `words`, eight words per row.
void copyPieces(const OperandTile &tile, const std::uint32_t *offsets, const SharedMemory &shared,
                const FragmentLayout &layout, std::uint32_t *words);

} // namespace fp8jit::emulator
