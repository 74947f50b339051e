// sc=amax: the scale follows from the unit's largest magnitude.
#pragma once

#include "quant/policy.cuh"
#include "shared/quant_config.h"

namespace fp8jit {

constexpr bool kScaleIsGiven = false;

/// The multiplier of a unit with this amax.
__device__ inline float unitMultiplier(const QuantParams &, long long, float amax) {
  return multiplierOf(amax);
}

/// Stores a unit's dequantization scale and, if asked for, its amax; called by one thread.
__device__ inline void publishUnit(const QuantParams &params, long long unit, float amax,
                                   float multiplier) {
  params.s[unit] = reciprocal(multiplier);
  if (params.amax != nullptr) {
    params.amax[unit] = amax;
  }
}

} // namespace fp8jit
