// sc=given: the dequantization scale is an input, amax an output.
#pragma once

#include "shared/quant_config.h"

namespace fp8jit {

/// S = fl(1 / D) of the given scale.
__device__ inline float unitMultiplier(const QuantParams &params, long long unit, float) {
  return __fdiv_rn(1.0F, params.s[unit]);
}

/// Stores a unit's amax if it is asked for; called by one thread.
__device__ inline void publish(const QuantParams &params, long long unit, float amax, float) {
  if (params.amax != nullptr) {
    params.amax[unit] = amax;
  }
}

} // namespace fp8jit
