// Codes with one scale per row.
// X: [m, kN] row major; q: [m, kN]; s, amax: [m]. The threads of a row walk it for its amax, then
// for the codes; the second read comes from the caches.
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
  unsigned packed = 0;
#pragma unroll 1
  for (unsigned column = firstColumn; column < columns; column += kThreadsPerRow) {
    packed = largest(packed, x[first + column]);
  }
  const float amax = unitMax(magnitudeOf(packed));
  if (columns == 0) {
    return;
  }
  const float s = unitMultiplier(params, row, amax);
#pragma unroll 1
  for (unsigned column = firstColumn; column < columns; column += kThreadsPerRow) {
    reinterpret_cast<Codes *>(params.q)[first + column] = codesOf(x[first + column], s);
  }
  if (firstColumn == 0) {
    publish(params, row, amax, s);
  }
}

} // namespace fp8jit
