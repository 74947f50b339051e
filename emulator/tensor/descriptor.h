// Matrix descriptors of wgmma: 64 bits that say where a tile lies in shared memory.
// Main entries: descriptorError, decodeDescriptor, elementAddress.
#pragma once

#include "emulator/tensor/swizzle.h"

#include <cstdint>

namespace fp8jit::emulator {

/// Which dimension of an operand is contiguous in memory: k, or the rows of A and columns of B.
enum class Major : std::uint8_t { K, MN };

/// The fields of a descriptor, in bytes.
struct MatrixDescriptor {
  std::uint32_t startAddress = 0; ///< shared address within the block's window, multiple of 16
  std::uint32_t leadingBytes = 0; ///< leading dimension byte offset
  std::uint32_t strideBytes = 0;  ///< stride dimension byte offset
  std::uint32_t baseOffset = 0;   ///< 0 to 7; other than 0 is refused by descriptorError
  Swizzle swizzle = Swizzle::None;

  bool operator==(const MatrixDescriptor &) const = default;
};

/// Reads the fields of `bits`. Source: PTX ISA, "Matrix Descriptor Format" of wgmma: bits 0-13
/// address, 16-29 leading and 32-45 stride offset (all in units of 16 bytes), 49-51 base offset,
/// 62-63 swizzle (0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes).
MatrixDescriptor decodeDescriptor(std::uint64_t bits);

/// What is wrong with `bits`, or null: reserved bits that are not zero, or a base offset, which is
/// not emulated. A base offset is meant for tiles whose pattern does not start at its own period.
const char *descriptorError(std::uint64_t bits);

/// Shared address of the first byte of an element: `outer` is its row of A or column of B, `k` its
/// place along k, `elementBytes` 1, 2 or 4. Sixteen neighbouring bytes along the contiguous
/// dimension, from a multiple of 16 on, stay neighbours. Source: the canonical layouts of the PTX
/// ISA ("Strides", "Shared Memory Matrix Layout"): see descriptor.cpp.
std::uint32_t elementAddress(const MatrixDescriptor &descriptor, Major major, std::uint32_t outer,
                             std::uint32_t k, std::uint32_t elementBytes);

} // namespace fp8jit::emulator
