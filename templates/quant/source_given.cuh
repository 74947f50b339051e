// sc=given: the dequantization scale is an input, amax an output.
#pragma once

#include "quant/policy.cuh"
#include "shared/quant_config.h"

namespace fp8jit {

constexpr bool kScaleIsGiven = true;

/// The multiplier of a unit.
__device__ inline float unitMultiplier(const QuantParams &params, long long unit, float) {
  return reciprocal(params.s[unit]);
}

/// Stores a unit's amax if it is asked for; called by one thread.
__device__ inline void publishUnit(const QuantParams &params, long long unit, float amax, float) {
  if (params.amax != nullptr) {
    params.amax[unit] = amax;
  }
}

} // namespace fp8jit
