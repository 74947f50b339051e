// q = E4M3 codes of fl(X·fl(1/D)) with a given D for all of X.
//
// X: [m, kN] row major; q: [m, kN]; s (input), amax (output, if asked for): [1]. Two entries on one
// stream: reset, cast.
#include "quant/flat.cuh"
#include "quant/policy.cuh"
#include "quant/reduce.cuh"
#include "quant/vector.cuh"
#include "slot/quant_config.cuh"
#include "slot/x.cuh"

namespace fp8jit {

extern "C" __global__ void __launch_bounds__(32)
    fp8jit_quantize_reset(const __grid_constant__ QuantParams params) {
  if (threadIdx.x == 0 && params.amax != nullptr) {
    *params.amax = 0.0F;
  }
}

extern "C" __global__ void __launch_bounds__(kConfig.threads)
    fp8jit_quantize_cast(const __grid_constant__ QuantParams params) {
  const float multiplier = reciprocal(*params.s);
  float amax = 0.0F;
  forEachVector(params, [&](const Vector &vector, long long index, int count) {
    amax = largest(amax, vector);
    storeSome(params.q, index, vector, count, multiplier);
  });
  if (params.amax != nullptr) {
    joinAmax(reinterpret_cast<unsigned *>(params.amax), amax);
  }
}

} // namespace fp8jit
