// D in BF16, n even and D 4-byte aligned: two results per store.
#pragma once

namespace fp8jit {

/// Both values rounded to nearest even, `low` in the low half. PTX ISA 9.7.9.22 (cvt).
__device__ inline unsigned packBf16(float low, float high) {
  unsigned packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

/// Stores columns `offset` and `offset` + 1; `left` columns of the row follow `offset`.
__device__ inline void storePair(void *d, long long offset, float first, float second, int left) {
  if (left > 0) {
    *reinterpret_cast<unsigned *>(static_cast<unsigned short *>(d) + offset) =
        packBf16(first, second);
  }
}

} // namespace fp8jit
