// Codes with one scale for all of X.
// X: [m, kN] row major; q: [m, kN]; s, amax: [1]; workspace: 4 bytes. Three entries on one stream,
// reset, amax, cast: nothing waits on the host. The blocks stride over X as over one long row.
#include "quant/codes.cuh"
#include "slot/quant_config.cuh"
#include "slot/reduce.cuh"
#include "slot/scale_source.cuh"

namespace fp8jit {

constexpr long long kPass = kConfig.threads; // vectors of a pass of one block

extern "C" __global__ void fp8jit_quantize_reset(const __grid_constant__ QuantParams params) {
  *params.workspace = 0; // one thread
}

extern "C" __global__ void __launch_bounds__(kConfig.threads)
    fp8jit_quantize_amax(const __grid_constant__ QuantParams params) {
  const long long total = static_cast<long long>(params.m) * kRowVectors;
  unsigned packed = 0;
#pragma unroll 1
  for (long long i = blockIdx.x * kPass + threadIdx.x; i < total; i += gridDim.x * kPass) {
    packed = largest(packed, static_cast<const Vector *>(params.x)[i]);
  }
  const float amax = unitMax(magnitudeOf(packed));
  if (threadIdx.x == 0) { // magnitudes order as their bits do
    atomicMax(params.workspace, __float_as_uint(amax));
  }
}

extern "C" __global__ void __launch_bounds__(kConfig.threads)
    fp8jit_quantize_cast(const __grid_constant__ QuantParams params) {
  const long long total = static_cast<long long>(params.m) * kRowVectors;
  const float amax = __uint_as_float(*params.workspace);
  const float s = unitMultiplier(params, 0, amax);
  for (long long i = blockIdx.x * kPass + threadIdx.x; i < total; i += gridDim.x * kPass) {
    reinterpret_cast<Codes *>(params.q)[i] = codesOf(static_cast<const Vector *>(params.x)[i], s);
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    publish(params, 0, amax, s);
  }
}

} // namespace fp8jit
