// sc=amax: the scale follows from the unit's largest magnitude.
#pragma once

#include "shared/quant_config.h"

namespace fp8jit {

/// S = fl(448 / amax); 1 if amax is 0 or infinite, the largest finite float if S overflows.
__device__ inline float unitMultiplier(const QuantParams &, long long, float amax) {
  const bool isUnscaled = amax == 0.0F || amax == __uint_as_float(0x7f800000U);
  return isUnscaled ? 1.0F : fminf(__fdiv_rn(448.0F, amax), __uint_as_float(0x7f7fffffU));
}

/// Stores a unit's scale D = fl(1 / S) and, if asked for, its amax; called by one thread.
__device__ inline void publish(const QuantParams &params, long long unit, float amax, float s) {
  params.s[unit] = __fdiv_rn(1.0F, s);
  if (params.amax != nullptr) {
    params.amax[unit] = amax;
  }
}

} // namespace fp8jit
