// Codes with a given scale per row.
// X: [m, kN] row major; q: [m, kN]; s (input), amax (output, if asked for): [m]. The threads of a
// row walk it once.
#include "quant/codes.cuh"
#include "slot/quant_config.cuh"
#include "slot/reduce.cuh"
#include "slot/scale_source.cuh"

namespace fp8jit {

constexpr int kThreadsPerRow = kConfig.threadsPerUnit();

extern "C" __global__ void __launch_bounds__(kConfig.threads)
    fp8jit_quantize(const __grid_constant__ QuantParams params) {
  const unsigned row = blockIdx.x * kConfig.unitsPerBlock + threadIdx.x / kThreadsPerRow;
  const unsigned columns = row < static_cast<unsigned>(params.m) ? kRowVectors : 0; // vectors
  const unsigned firstColumn = threadIdx.x % kThreadsPerRow;
  const long long first = static_cast<long long>(row) * kRowVectors;
  const auto *x = static_cast<const Vector *>(params.x);
  const float s = columns > 0 ? unitMultiplier(params, row, 0.0F) : 0.0F;
  unsigned packed = 0;
#pragma unroll 1
  for (unsigned column = firstColumn; column < columns; column += kThreadsPerRow) {
    const Vector vector = x[first + column];
    packed = largest(packed, vector);
    reinterpret_cast<Codes *>(params.q)[first + column] = codesOf(vector, s);
  }
  const float amax = unitMax(magnitudeOf(packed));
  if (columns > 0 && firstColumn == 0) {
    publish(params, row, amax, s);
  }
}

} // namespace fp8jit
