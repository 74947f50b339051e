// X as one row of m·kN elements: the vectors of a thread, the last of them perhaps short.
#pragma once

#include "quant/reduce.cuh"
#include "quant/vector.cuh"

namespace fp8jit {

/// Calls visit(vector, index, count) for each of the thread's vectors: `count` elements from
/// `index`.
template <typename Visit>
__device__ inline void forEachVector(const QuantParams &params, Visit visit) {
  const long long total = static_cast<long long>(params.m) * kN;
  const long long block = static_cast<long long>(blockIdx.x) * kConfig.unitsPerBlock;
#pragma unroll 4
  for (int i = 0; i < kConfig.unitsPerBlock; ++i) {
    const long long index = ((block + i) * kConfig.threads + threadIdx.x) * kVector;
    if (index + kVector <= total) {
      visit(loadVector(params.x, index), index, kVector);
    }
  }
  const long long rest = total - total % kVector + threadIdx.x; // less than a vector is left
  if (blockIdx.x == 0 && rest < total) {
    visit(Vector{loadElement(params.x, rest)}, rest, 1);
  }
}

/// Stores the codes of a vector of kVector elements, or of one.
__device__ inline void storeSome(unsigned char *q, long long index, const Vector &vector, int count,
                                 float multiplier) {
  if (count == kVector) {
    storeCodes(q, index, vector, multiplier);
  } else {
    q[index] = static_cast<unsigned char>(scaledPair(vector, 0, multiplier));
  }
}

/// The block's amax joins `target`; magnitudes order as their bits do.
__device__ inline void joinAmax(unsigned *target, float amax) {
  amax = groupMax<kConfig.threads>(amax);
  if (threadIdx.x == 0) {
    atomicMax(target, __float_as_uint(amax));
  }
}

} // namespace fp8jit
