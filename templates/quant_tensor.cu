// q = E4M3 codes of fl(X·S), one scale for all of X.
//
// X: [m, kN] row major; q: [m, kN]; s, amax: [1]; workspace: 4 bytes. Three entries on one stream:
// reset, amax, cast. Nothing waits on the host.
#include "quant/flat.cuh"
#include "quant/reduce.cuh"
#include "quant/vector.cuh"
#include "slot/quant_config.cuh"
#include "slot/scale_source.cuh"
#include "slot/x.cuh"

namespace fp8jit {

extern "C" __global__ void __launch_bounds__(32)
    fp8jit_quantize_reset(const __grid_constant__ QuantParams params) {
  if (threadIdx.x == 0) {
    *params.workspace = 0;
  }
}

extern "C" __global__ void __launch_bounds__(kConfig.threads)
    fp8jit_quantize_amax(const __grid_constant__ QuantParams params) {
  float amax = 0.0F;
  forEachVector(params,
                [&](const Vector &vector, long long, int) { amax = largest(amax, vector); });
  joinAmax(params.workspace, amax);
}

extern "C" __global__ void __launch_bounds__(kConfig.threads)
    fp8jit_quantize_cast(const __grid_constant__ QuantParams params) {
  const float amax = __uint_as_float(*params.workspace);
  const float multiplier = unitMultiplier(params, 0, amax);
  forEachVector(params, [&](const Vector &vector, long long index, int count) {
    storeSome(params.q, index, vector, count, multiplier);
  });
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    publishUnit(params, 0, amax, multiplier);
  }
}

} // namespace fp8jit
