// Codes with a given scale for all of X.
// X: [m, kN] row major; q: [m, kN]; s (input), amax (output, if asked for): [1]. Two entries on one
// stream: reset, cast. The blocks stride over X as over one long row.
#include "quant/codes.cuh"
#include "slot/quant_config.cuh"
#include "slot/reduce.cuh"
#include "slot/scale_source.cuh"

namespace fp8jit {

constexpr long long kPass = kConfig.threads; // vectors of a pass of one block

extern "C" __global__ void fp8jit_quantize_reset(const __grid_constant__ QuantParams params) {
  publish(params, 0, 0.0F, 0.0F); // one thread
}

extern "C" __global__ void __launch_bounds__(kConfig.threads)
    fp8jit_quantize_cast(const __grid_constant__ QuantParams params) {
  const long long total = static_cast<long long>(params.m) * kRowVectors;
  const auto *x = static_cast<const Vector *>(params.x);
  const float s = unitMultiplier(params, 0, 0.0F);
  unsigned packed = 0;
#pragma unroll 1
  for (long long i = blockIdx.x * kPass + threadIdx.x; i < total; i += gridDim.x * kPass) {
    const Vector vector = x[i];
    packed = largest(packed, vector);
    reinterpret_cast<Codes *>(params.q)[i] = codesOf(vector, s);
  }
  const float amax = unitMax(magnitudeOf(packed));
  if (threadIdx.x == 0 && params.amax != nullptr) { // magnitudes order as their bits do
    atomicMax(reinterpret_cast<unsigned *>(params.amax), __float_as_uint(amax));
  }
}

} // namespace fp8jit
