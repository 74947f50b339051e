// Two grids in one stream, the second launched as a programmatic dependent of the first: it may
// start, and set itself up, before the first has ended.
#include "copies.cuh"

/// x[i] = i + 1. Lets the dependent grid start before it writes: what it wrote is visible only
/// behind the dependent's griddepcontrol.wait. Block (128).
extern "C" __global__ void __launch_bounds__(128) writeNumbers(float *x, int count) {
  SITE("dependents may start");
  gridLaunchDependents();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    x[i] = i + 1;
  }
}

/// y[i] = x[count - 1 - i] * factor[i % 4]; factor does not come from the first grid and is read
/// before the wait. Block (128), any grid.
extern "C" __global__ void __launch_bounds__(128)
    scaleReversed(const float *x, const float *factor, float *y, int count) {
  __shared__ float factors[4];
  if (threadIdx.x < 4) {
    factors[threadIdx.x] = factor[threadIdx.x];
  }
  SITE("factors are ready");
  blockSync();
  SITE("first grid has ended");
  gridWait();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    y[i] = x[count - 1 - i] * factors[i % 4];
  }
}
