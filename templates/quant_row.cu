// q = E4M3 codes of fl(X·S), one scale per row.
//
// X: [m, kN] row major; q: [m, kN]; s, amax: [m]. threadsPerUnit threads walk one row, first for
// its amax, then for the codes; the second read comes from the caches. A given scale needs one
// walk.
#include "quant/reduce.cuh"
#include "quant/vector.cuh"
#include "slot/quant_config.cuh"
#include "slot/scale_source.cuh"
#include "slot/x.cuh"

namespace fp8jit {

constexpr int kThreadsPerRow = kConfig.threadsPerUnit();
constexpr int kStep = kThreadsPerRow * kVector; // columns between two vectors of a thread

static_assert(kThreadsPerRow == 32 || kConfig.unitsPerBlock == 1, "a warp or a block per row");
static_assert(kN % kVector == 0, "a vector does not cross the end of a row");

extern "C" __global__ void __launch_bounds__(kConfig.threads)
    fp8jit_quantize(const __grid_constant__ QuantParams params) {
  const unsigned row = blockIdx.x * kConfig.unitsPerBlock + threadIdx.x / kThreadsPerRow;
  const int thread = threadIdx.x % kThreadsPerRow;
  const int columns = row < static_cast<unsigned>(params.m) ? kN : 0;
  const long long first = static_cast<long long>(row) * kN;

  float amax = 0.0F;
  float multiplier = 0.0F;
  if constexpr (kScaleIsGiven) {
    multiplier = columns > 0 ? unitMultiplier(params, row, 0.0F) : 0.0F;
  }
#pragma unroll 2
  for (long long column = thread * kVector; column < columns; column += kStep) {
    const Vector vector = loadVector(params.x, first + column);
    amax = largest(amax, vector);
    if constexpr (kScaleIsGiven) {
      storeCodes(params.q, first + column, vector, multiplier);
    }
  }
  amax = groupMax<kThreadsPerRow>(amax);
  if (columns == 0) {
    return;
  }
  if constexpr (!kScaleIsGiven) {
    multiplier = unitMultiplier(params, row, amax);
#pragma unroll 2
    for (long long column = thread * kVector; column < columns; column += kStep) {
      storeCodes(params.q, first + column, loadVector(params.x, first + column), multiplier);
    }
  }
  if (thread == 0) {
    publishUnit(params, row, amax, multiplier);
  }
}

} // namespace fp8jit
