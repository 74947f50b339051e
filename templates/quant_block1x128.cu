// Codes with one scale per row and 128 columns.
// X: [m, kN] row major; q: [m, kN]; s, amax: [m, ceil(kN/128)]. The threads of a unit hold it in
// registers: one read of X, one write of q. The last unit of a row may be short.
#include "quant/vector.cuh"
#include "slot/quant_config.cuh"
#include "slot/reduce.cuh"
#include "slot/scale_source.cuh"

namespace fp8jit {

constexpr unsigned kUnitsPerRow = kN == 0 ? 1 : (kN - 1) / 128 + 1; // 2^32 units exceed a terabyte
constexpr int kLanes = kConfig.threadsPerUnit();
constexpr int kStep = kLanes * kVector; // columns between the 128 / kStep vectors of a thread
static_assert(kLanes <= 32 && 128 % kStep == 0, "whole vectors of lanes of one warp");

extern "C" __global__ void __launch_bounds__(kConfig.threads)
    fp8jit_quantize(const __grid_constant__ QuantParams params) {
  const unsigned unit = blockIdx.x * kConfig.unitsPerBlock + threadIdx.x / kLanes;
  const unsigned row = unit / kUnitsPerRow;
  const int column = unit % kUnitsPerRow * 128 + threadIdx.x % kLanes * kVector;
  const long long first = static_cast<long long>(row) * kN + column;
  const int columnsLeft = row < static_cast<unsigned>(params.m) ? kN - column : 0;
  Vector vectors[128 / kStep] = {};
  float amax = 0.0F;
#pragma unroll
  for (int i = 0; i < 128 / kStep; ++i) {
    if (i * kStep < columnsLeft) {
      vectors[i] = loadVector(params.x, first + i * kStep);
    }
    amax = largest(amax, vectors[i]);
  }
  amax = unitMax(amax);
  if (row >= static_cast<unsigned>(params.m)) {
    return;
  }
  const float s = unitMultiplier(params, unit, amax);
#pragma unroll
  for (int i = 0; i < 128 / kStep; ++i) {
    if (i * kStep < columnsLeft) {
      storeCodes(params.q, first + i * kStep, vectors[i], s);
    }
  }
  if (threadIdx.x % kLanes == 0) {
    publish(params, unit, amax, s);
  }
}

} // namespace fp8jit
