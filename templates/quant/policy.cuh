// The numeric policy of scales, one for every kernel.
#pragma once

namespace fp8jit {

/// S = fl(448 / amax); 1 if amax is 0 or infinite, the largest finite float if S overflows.
__device__ inline float multiplierOf(float amax) {
  const float infinity = __uint_as_float(0x7f800000U);
  if (amax == 0.0F || amax == infinity) {
    return 1.0F;
  }
  return fminf(__fdiv_rn(448.0F, amax), __uint_as_float(0x7f7fffffU));
}

/// fl(1 / value): the stored scale of a multiplier, or the multiplier of a given scale.
__device__ inline float reciprocal(float value) {
  return __fdiv_rn(1.0F, value);
}

} // namespace fp8jit
