// X in BF16: two elements in a word of 4 bytes, or one in a word of 2.
#pragma once

#include "slot/quant_config.cuh"

namespace fp8jit {

constexpr int kVector = kConfig.vectorBytes / 2; // elements of X per load

/// Element `i` of the words of a vector, widened exactly.
__device__ inline float elementOf(const Word *words, int i) {
  return __uint_as_float(i % 2 == 0 ? words[i / 2] << 16 : words[i / 2] & 0xffff0000U);
}

} // namespace fp8jit
