// X in BF16: a word holds two elements, or one if a load takes 2 bytes.
#pragma once

namespace fp8jit {

constexpr int kElementBytes = 2;

/// Element `index` of a vector, widened exactly.
__device__ inline float elementOf(const unsigned *words, int index) {
  const unsigned word = words[index / 2];
  return __uint_as_float(index % 2 == 0 ? word << 16 : word & 0xffff0000U);
}

/// Element `index` of X alone, in the low half of a word.
__device__ inline unsigned loadElement(const void *x, long long index) {
  return __ldg(static_cast<const unsigned short *>(x) + index);
}

} // namespace fp8jit
