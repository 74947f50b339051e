// X in FP32: one element in a word of 4 bytes.
#pragma once

#include "slot/quant_config.cuh"

namespace fp8jit {

constexpr int kVector = kConfig.vectorBytes / 4; // elements of X per load

/// Element `i` of the words of a vector.
__device__ inline float elementOf(const Word *words, int i) {
  return __uint_as_float(words[i]);
}

} // namespace fp8jit
