// Codes with one scale per row and 128 columns.
// X: [m, kN] row major; q: [m, kN]; s, amax: [m, ceil(kN/128)]. The threads of a unit hold it in
// registers: one read of X, one write of q. The last unit of a row may be short.
#include "quant/codes.cuh"
#include "slot/quant_config.cuh"
#include "slot/reduce.cuh"
#include "slot/scale_source.cuh"

namespace fp8jit {

constexpr unsigned kUnitsPerRow = kN == 0 ? 1 : (kN - 1) / 128 + 1; // 2^32 units exceed a terabyte
constexpr int kUnitVectors = 128 / kVector;
constexpr int kLanes = kConfig.threadsPerUnit();
static_assert(kLanes <= 32 && kUnitVectors % kLanes == 0, "whole vectors of lanes of one warp");

extern "C" __global__ void __launch_bounds__(kConfig.threads)
    fp8jit_quantize(const __grid_constant__ QuantParams params) {
  const unsigned unit = blockIdx.x * kConfig.unitsPerBlock + threadIdx.x / kLanes;
  const unsigned row = unit / kUnitsPerRow;
  const int column = unit % kUnitsPerRow * kUnitVectors + threadIdx.x % kLanes;
  const int vectorsLeft = row < static_cast<unsigned>(params.m) ? kRowVectors - column : 0;
  const long long first = static_cast<long long>(row) * kRowVectors + column;
  Vector vectors[kUnitVectors / kLanes] = {};
  unsigned packed = 0;
#pragma unroll
  for (int i = 0; i < kUnitVectors; i += kLanes) {
    if (i < vectorsLeft) {
      vectors[i / kLanes] = static_cast<const Vector *>(params.x)[first + i];
    }
    packed = largest(packed, vectors[i / kLanes]);
  }
  const float amax = unitMax(magnitudeOf(packed));
  if (row >= static_cast<unsigned>(params.m)) {
    return;
  }
  const float s = unitMultiplier(params, unit, amax);
#pragma unroll
  for (int i = 0; i < kUnitVectors; i += kLanes) {
    if (i < vectorsLeft) {
      reinterpret_cast<Codes *>(params.q)[first + i] = codesOf(vectors[i / kLanes], s);
    }
  }
  if (threadIdx.x % kLanes == 0) {
    publish(params, unit, amax, s);
  }
}

} // namespace fp8jit
