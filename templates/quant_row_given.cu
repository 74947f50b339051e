// Codes with a given scale per row.
// X: [m, kN] row major; q: [m, kN]; s (input), amax (output, if asked for): [m]. The threads of a
// row walk it once.
#include "quant/vector.cuh"
#include "slot/quant_config.cuh"
#include "slot/reduce.cuh"
#include "slot/scale_source.cuh"

namespace fp8jit {

constexpr int kThreadsPerRow = kConfig.threadsPerUnit();
constexpr int kStep = kThreadsPerRow * kVector; // columns between a thread's vectors

extern "C" __global__ void __launch_bounds__(kConfig.threads)
    fp8jit_quantize(const __grid_constant__ QuantParams params) {
  const unsigned row = blockIdx.x * kConfig.unitsPerBlock + threadIdx.x / kThreadsPerRow;
  const int columns = row < static_cast<unsigned>(params.m) ? kN : 0;
  const int firstColumn = threadIdx.x % kThreadsPerRow * kVector;
  const long long first = static_cast<long long>(row) * kN;
  const float s = columns > 0 ? unitMultiplier(params, row, 0.0F) : 0.0F;
  float amax = 0.0F;
#pragma unroll 2
  for (long long column = firstColumn; column < columns; column += kStep) {
    const Vector vector = loadVector(params.x, first + column);
    amax = largest(amax, vector);
    storeCodes(params.q, first + column, vector, s);
  }
  amax = unitMax(amax);
  if (columns > 0 && firstColumn == 0) {
    publish(params, row, amax, s);
  }
}

} // namespace fp8jit
