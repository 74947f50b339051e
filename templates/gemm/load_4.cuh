// Rows of A and B start at multiples of 4 bytes: 4-byte asynchronous copies.
#pragma once

namespace fp8jit {

constexpr int kCopyUnroll = 64; // all copies of a tile in a row

/// Copies `valid` (0 or 4) bytes to shared memory and clears the rest of 4. Both addresses are
/// multiples of 4; nothing is read if valid is 0. PTX ISA 9.7.9.25.3.1 (cp.async).
__device__ inline void copyWord(unsigned shared, const unsigned char *global, int valid) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared), "l"(global), "r"(valid)
               : "memory"); // writes shared memory that ldmatrix reads after the barrier
}

/// Copies `valid` (0, 4, 8, 12 or 16) bytes to shared memory and clears the rest of 16.
__device__ inline void copyChunk(unsigned shared, const unsigned char *global, int valid) {
#pragma unroll
  for (int byte = 0; byte < 16; byte += 4) {
    copyWord(shared + byte, global + byte, byte < valid ? 4 : 0);
  }
}

} // namespace fp8jit
