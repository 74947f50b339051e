// D in BF16, any n and alignment: one result per store.
#pragma once

namespace fp8jit {

/// The value rounded to nearest even. PTX ISA 9.7.9.22 (cvt).
__device__ inline unsigned short roundBf16(float value) {
  unsigned short rounded;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(rounded) : "f"(value));
  return rounded;
}

/// Stores columns `offset` and `offset` + 1; `left` columns of the row follow `offset`.
__device__ inline void storePair(void *d, long long offset, float first, float second, int left) {
  unsigned short *const target = static_cast<unsigned short *>(d) + offset;
  if (left > 0) {
    target[0] = roundBf16(first);
  }
  if (left > 1) {
    target[1] = roundBf16(second);
  }
}

} // namespace fp8jit
