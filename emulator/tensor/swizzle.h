// Swizzles of shared memory: how tensor copies and matrix descriptors permute addresses.
// Main entry: swizzleAddress.
#pragma once

#include <cstdint>

namespace fp8jit::emulator {

/// Swizzle modes of tensor maps and matrix descriptors. The number is the width of a pattern row;
/// the atom is the piece that is moved as a whole, 16 bytes unless named.
enum class Swizzle : std::uint8_t {
  None,
  Bytes32,
  Bytes64,
  Bytes128,
  Bytes128Atom32,
  Bytes128Atom32Flip8, ///< as Bytes128Atom32, and 8-byte halves change places in odd rows
  Bytes128Atom64,
};

/// Bytes of a row of the pattern: the longest inner dimension of a box. 16 for None.
constexpr std::uint32_t swizzleRowBytes(Swizzle mode) {
  switch (mode) {
  case Swizzle::None:
    return 16;
  case Swizzle::Bytes32:
    return 32;
  case Swizzle::Bytes64:
    return 64;
  case Swizzle::Bytes128:
  case Swizzle::Bytes128Atom32:
  case Swizzle::Bytes128Atom32Flip8:
  case Swizzle::Bytes128Atom64:
    return 128;
  }
  return 16;
}

/// Bytes after which the pattern repeats, and to which tiles are aligned: eight rows.
constexpr std::uint32_t swizzlePeriodBytes(Swizzle mode) {
  return 8 * swizzleRowBytes(mode);
}

/// Where the byte that a plain layout would place at the shared address `address` lies. Works on
/// absolute addresses (only their low ten bits matter) and is its own inverse.
/// Source: PTX ISA, "Swizzling modes" of tensor copies and of the asynchronous warpgroup
/// instructions; the eight-byte flip of Bytes128Atom32Flip8 is inferred.
constexpr std::uint32_t swizzleAddress(std::uint32_t address, Swizzle mode) {
  switch (mode) {
  case Swizzle::None:
    return address;
  case Swizzle::Bytes32:
    return address ^ ((address >> 3) & 0x10);
  case Swizzle::Bytes64:
    return address ^ ((address >> 3) & 0x30);
  case Swizzle::Bytes128:
    return address ^ ((address >> 3) & 0x70);
  case Swizzle::Bytes128Atom32:
    return address ^ ((address >> 2) & 0x60);
  case Swizzle::Bytes128Atom32Flip8:
    return address ^ ((address >> 2) & 0x60) ^ ((address >> 4) & 0x08);
  case Swizzle::Bytes128Atom64:
    return address ^ ((address >> 1) & 0x40);
  }
  return address;
}

} // namespace fp8jit::emulator
