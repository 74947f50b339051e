// X in FP32: a word holds one element.
#pragma once

namespace fp8jit {

constexpr int kElementBytes = 4;

/// Element `index` of a vector.
__device__ inline float elementOf(const unsigned *words, int index) {
  return __uint_as_float(words[index]);
}

/// Element `index` of X alone.
__device__ inline unsigned loadElement(const void *x, long long index) {
  return __ldg(static_cast<const unsigned *>(x) + index);
}

} // namespace fp8jit
