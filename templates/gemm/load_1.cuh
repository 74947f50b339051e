// Rows of A and B start anywhere: bytes through registers.
#pragma once

namespace fp8jit {

constexpr int kCopyUnroll =
    1; // the byte loads are long enough, and unrolled they cost compile time

/// Stores four words at a shared address that is a multiple of 16. PTX ISA 9.7.9.12 (st).
__device__ inline void storeShared(unsigned shared, const unsigned (&words)[4]) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(shared), "r"(words[0]),
               "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory"); // writes shared memory that ldmatrix reads after the barrier
}

/// Copies `valid` (0 to 16) bytes to shared memory and clears the rest of 16. The shared address is
/// a multiple of 16. Reads no byte beyond the valid ones.
__device__ inline void copyChunk(unsigned shared, const unsigned char *global, int valid) {
  unsigned words[4] = {};
#pragma unroll
  for (int byte = 0; byte < 16; ++byte) {
    const unsigned value = byte < valid ? __ldg(global + byte) : 0;
    words[byte / 4] |= value << (8 * (byte % 4));
  }
  storeShared(shared, words);
}

} // namespace fp8jit
