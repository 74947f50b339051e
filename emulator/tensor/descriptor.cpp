// The layouts behind a matrix descriptor. All of them consist of core matrices: eight rows of 16
// bytes. Without a swizzle the eight rows are contiguous; with one they are a pattern row apart.
#include "emulator/tensor/descriptor.h"

namespace fp8jit::emulator {

static constexpr std::uint32_t kCoreRows = 8;
static constexpr std::uint32_t kCoreRowBytes = 16;

// Bits outside the fields: 14-15, 30-31, 46-48 and 52-61.
static constexpr std::uint64_t kReservedBits = 0x3ff1'c000'c000'c000;

static std::uint32_t byteField(std::uint64_t bits, unsigned shift) {
  return static_cast<std::uint32_t>((bits >> shift) & 0x3fff) * 16;
}

MatrixDescriptor decodeDescriptor(std::uint64_t bits) {
  constexpr Swizzle kModes[] = {Swizzle::None, Swizzle::Bytes128, Swizzle::Bytes64,
                                Swizzle::Bytes32};
  return {.startAddress = byteField(bits, 0),
          .leadingBytes = byteField(bits, 16),
          .strideBytes = byteField(bits, 32),
          .baseOffset = static_cast<std::uint32_t>((bits >> 49) & 7),
          .swizzle = kModes[bits >> 62]};
}

const char *descriptorError(std::uint64_t bits) {
  if ((bits & kReservedBits) != 0) {
    return "reserved bits are not zero";
  }
  if (decodeDescriptor(bits).baseOffset != 0) {
    return "a base offset other than 0 is not supported";
  }
  return nullptr;
}

/// Rows (or columns) eight by eight; k in steps of 16 bytes.
static std::uint32_t offsetKMajor(const MatrixDescriptor &descriptor, std::uint32_t outer,
                                  std::uint32_t kByte) {
  const std::uint32_t group = outer / kCoreRows * descriptor.strideBytes;
  const std::uint32_t row = outer % kCoreRows;
  if (descriptor.swizzle == Swizzle::None) {
    return group + row * kCoreRowBytes + kByte / kCoreRowBytes * descriptor.leadingBytes +
           kByte % kCoreRowBytes;
  }
  return group + row * swizzleRowBytes(descriptor.swizzle) + kByte;
}

/// k eight by eight; rows (or columns) in steps of a pattern row.
static std::uint32_t offsetMnMajor(const MatrixDescriptor &descriptor, std::uint32_t outerByte,
                                   std::uint32_t k) {
  const std::uint32_t rowBytes = swizzleRowBytes(descriptor.swizzle);
  const bool isPlain = descriptor.swizzle == Swizzle::None;
  const std::uint32_t acrossRows = isPlain ? descriptor.strideBytes : descriptor.leadingBytes;
  const std::uint32_t acrossK = isPlain ? descriptor.leadingBytes : descriptor.strideBytes;
  return outerByte / rowBytes * acrossRows + outerByte % rowBytes + k % kCoreRows * rowBytes +
         k / kCoreRows * acrossK;
}

std::uint32_t elementAddress(const MatrixDescriptor &descriptor, Major major, std::uint32_t outer,
                             std::uint32_t k, std::uint32_t elementBytes) {
  const std::uint32_t offset = major == Major::K
                                   ? offsetKMajor(descriptor, outer, k * elementBytes)
                                   : offsetMnMajor(descriptor, outer * elementBytes, k);
  return swizzleAddress(descriptor.startAddress + offset, descriptor.swizzle);
}

} // namespace fp8jit::emulator
