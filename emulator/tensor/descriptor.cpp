// The fields of a matrix descriptor and what must hold of them.
#include "emulator/tensor/descriptor.h"

namespace fp8jit::emulator {

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
  const MatrixDescriptor descriptor = decodeDescriptor(bits);
  if (descriptor.baseOffset != 0) {
    return "a base offset other than 0 is not supported";
  }
  if (descriptor.startAddress % swizzlePeriodBytes(descriptor.swizzle) >=
          swizzleRowBytes(descriptor.swizzle) &&
      descriptor.swizzle != Swizzle::None) {
    return "the tile does not start in the first row of its swizzle pattern";
  }
  return nullptr;
}

} // namespace fp8jit::emulator
