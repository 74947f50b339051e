// q = E4M3 codes of fl(X·S), one scale per row and 128 columns.
//
// X: [m, kN] row major; q: [m, kN]; s, amax: [m, ceil(kN/128)]. threadsPerUnit lanes hold one unit
// in registers: one read of X, one write of q. The last unit of a row covers what is left of the
// row.
#include "quant/reduce.cuh"
#include "quant/vector.cuh"
#include "slot/quant_config.cuh"
#include "slot/scale_source.cuh"
#include "slot/x.cuh"

namespace fp8jit {

constexpr unsigned kUnitsPerRow = kN == 0 ? 1 : (kN - 1) / 128 + 1;
constexpr int kLanes = kConfig.threadsPerUnit();
constexpr int kVectors = 128 / kVector / kLanes; // of one lane

static_assert(kLanes <= 32 && (kLanes & (kLanes - 1)) == 0, "the lanes of a unit lie in one warp");
static_assert(kVectors >= 1, "a unit has at least one vector per lane");
static_assert(kN % kVector == 0, "a vector does not cross the end of a row");

extern "C" __global__ void __launch_bounds__(kConfig.threads)
    fp8jit_quantize(const __grid_constant__ QuantParams params) {
  // Units are counted in 32 bits: 2^32 of them are more than a terabyte of X.
  const unsigned unit = blockIdx.x * kConfig.unitsPerBlock + threadIdx.x / kLanes;
  const unsigned row = unit / kUnitsPerRow;
  const int column = unit % kUnitsPerRow * 128 + threadIdx.x % kLanes * kVector;
  const bool isUnit = row < static_cast<unsigned>(params.m);
  const long long first = static_cast<long long>(row) * kN + column;
  const int columnsLeft = isUnit ? kN - column : 0;

  Vector vectors[kVectors] = {};
  float amax = 0.0F;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const int offset = i * kLanes * kVector;
    if (offset < columnsLeft) {
      vectors[i] = loadVector(params.x, first + offset);
    }
    amax = largest(amax, vectors[i]);
  }
  amax = groupMax<kLanes>(amax);

  if (!isUnit) {
    return;
  }
  const float multiplier = unitMultiplier(params, unit, amax);
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const int offset = i * kLanes * kVector;
    if (offset < columnsLeft) {
      storeCodes(params.q, first + offset, vectors[i], multiplier);
    }
  }
  if (threadIdx.x % kLanes == 0) {
    publishUnit(params, unit, amax, multiplier);
  }
}

} // namespace fp8jit
