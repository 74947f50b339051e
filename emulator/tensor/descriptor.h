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

/// What is wrong with `bits`, or null: reserved bits that are not zero; a base offset, which is not
/// emulated; or a swizzled tile that does not start in the first row of its pattern, which would
/// need one.
const char *descriptorError(std::uint64_t bits);

/// Offset from the tile's start in a K-major layout, before the swizzle: rows (or columns) eight by
/// eight, k in steps of 16 bytes. Without a swizzle eight rows of 16 bytes are contiguous, with one
/// they are a pattern row apart.
constexpr std::uint32_t offsetKMajor(const MatrixDescriptor &descriptor, std::uint32_t outer,
                                     std::uint32_t kByte) {
  const std::uint32_t group = outer / 8 * descriptor.strideBytes;
  if (descriptor.swizzle == Swizzle::None) {
    return group + outer % 8 * 16 + kByte / 16 * descriptor.leadingBytes + kByte % 16;
  }
  return group + outer % 8 * swizzleRowBytes(descriptor.swizzle) + kByte;
}

/// The same in an MN-major layout: k eight by eight, rows (or columns) in steps of a pattern row.
constexpr std::uint32_t offsetMnMajor(const MatrixDescriptor &descriptor, std::uint32_t outerByte,
                                      std::uint32_t k) {
  const std::uint32_t rowBytes = swizzleRowBytes(descriptor.swizzle);
  const bool isPlain = descriptor.swizzle == Swizzle::None;
  const std::uint32_t acrossRows = isPlain ? descriptor.strideBytes : descriptor.leadingBytes;
  const std::uint32_t acrossK = isPlain ? descriptor.leadingBytes : descriptor.strideBytes;
  return outerByte / rowBytes * acrossRows + outerByte % rowBytes + k % 8 * rowBytes +
         k / 8 * acrossK;
}

/// Shared address of the first byte of an element: `outer` is its row of A or column of B, `k` its
/// place along k, `elementBytes` 1, 2 or 4. Sixteen neighbouring bytes along the contiguous
/// dimension, from a multiple of 16 on, stay neighbours. Source: the canonical layouts of the PTX
/// ISA, "Strides" and "Shared Memory Matrix Layout" of wgmma.
constexpr std::uint32_t elementAddress(const MatrixDescriptor &descriptor, Major major,
                                       std::uint32_t outer, std::uint32_t k,
                                       std::uint32_t elementBytes) {
  const std::uint32_t offset = major == Major::K
                                   ? offsetKMajor(descriptor, outer, k * elementBytes)
                                   : offsetMnMajor(descriptor, outer * elementBytes, k);
  return swizzleAddress(descriptor.startAddress + offset, descriptor.swizzle);
}

} // namespace fp8jit::emulator
