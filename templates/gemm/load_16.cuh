// Rows of A and B start at multiples of 16 bytes: 16-byte asynchronous copies.
#pragma once

namespace fp8jit {

constexpr int kCopyUnroll = 64; // all copies of a tile in a row

/// Copies `valid` (0 or 16) bytes to shared memory and clears the rest of 16. Both addresses are
/// multiples of 16; nothing is read if valid is 0. PTX ISA 9.7.9.25.3.1 (cp.async).
__device__ inline void copyChunk(unsigned shared, const unsigned char *global, int valid) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(shared), "l"(global),
               "r"(valid)
               : "memory"); // writes shared memory that ldmatrix reads after the barrier
}

} // namespace fp8jit
