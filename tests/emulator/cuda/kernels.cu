// Plain CUDA C++ as programs have it: nothing here knows of the driver that runs it.
#include <cuda_fp16.h>

extern "C" {

/// out[block] = sum of the block's part of in, by shuffles and shared memory.
__global__ void sumFloats(const float *in, float *out, int n) {
  __shared__ float partial[32];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    sum += in[i];
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_down_sync(0xffffffffu, sum, offset);
  }
  if (threadIdx.x % 32 == 0) {
    partial[threadIdx.x / 32] = sum;
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0.0f;
    for (int offset = 16; offset > 0; offset /= 2) {
      sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    }
    if (threadIdx.x == 0) {
      out[blockIdx.x] = sum;
    }
  }
}

/// Sum and mean square of doubles; one block.
__global__ void sumDoubles(const double *in, double *out, int n) {
  __shared__ double partial[256];
  double sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    sum += sqrt(in[i]) / (1.0 + in[i]);
  }
  partial[threadIdx.x] = sum;
  for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride) {
      partial[threadIdx.x] += partial[threadIdx.x + stride];
    }
  }
  if (threadIdx.x == 0) {
    *out = partial[0];
  }
}

/// A transpose through a padded tile.
__global__ void transpose(const float *in, float *out, int rows, int columns) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x;
  for (int y = blockIdx.y * 32 + threadIdx.y, r = threadIdx.y; r < 32; y += 8, r += 8) {
    if (x < columns && y < rows) {
      tile[r][threadIdx.x] = in[y * columns + x];
    }
  }
  __syncthreads();
  const int outX = blockIdx.y * 32 + threadIdx.x;
  for (int y = blockIdx.x * 32 + threadIdx.y, r = threadIdx.y; r < 32; y += 8, r += 8) {
    if (outX < rows && y < columns) {
      out[y * rows + outX] = tile[threadIdx.x][r];
    }
  }
}

/// Steps of the Collatz sequence of i + 1.
__global__ void collatz(unsigned *steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  unsigned long long value = i + 1;
  unsigned count = 0;
  while (value != 1) {
    value = value % 2 == 0 ? value / 2 : 3 * value + 1;
    ++count;
  }
  steps[i] = count;
}

/// The first position of sorted[] that is not less than key[i].
__global__ void lowerBound(const int *sorted, int count, const int *keys, int *positions, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  int low = 0, high = count;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (sorted[middle] < keys[i]) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  positions[i] = low;
}

__device__ __noinline__ unsigned fibonacciOf(unsigned n) {
  return n < 2 ? n : fibonacciOf(n - 1) + fibonacciOf(n - 2);
}

__global__ void fibonacci(unsigned *out) {
  out[threadIdx.x] = fibonacciOf(threadIdx.x % 13);
}

__device__ __noinline__ void sortRange(int *values, int first, int last) {
  if (first >= last) {
    return;
  }
  const int pivot = values[(first + last) / 2];
  int i = first, j = last;
  while (i <= j) {
    while (values[i] < pivot) {
      ++i;
    }
    while (values[j] > pivot) {
      --j;
    }
    if (i <= j) {
      const int swapped = values[i];
      values[i++] = values[j];
      values[j--] = swapped;
    }
  }
  sortRange(values, first, j);
  sortRange(values, i, last);
}

/// Each thread sorts a row.
__global__ void quicksort(int *values, int rowLength) {
  sortRange(values + threadIdx.x * rowLength, 0, rowLength - 1);
}

/// out = a * b + a, clamped at zero, where a > b, else the larger of both.
__global__ void halfMath(const __half2 *a, const __half2 *b, __half2 *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const __half2 fused = __hfma2_relu(a[i], b[i], a[i]);
    const __half2 greater = __hgt2(a[i], b[i]); // 1.0 or 0.0
    const __half2 rest = __hsub2(__float2half2_rn(1.0f), greater);
    out[i] = __hadd2(__hmul2(fused, greater), __hmul2(__hmax2(a[i], b[i]), rest));
  }
}

__global__ void histogram(const unsigned char *in, unsigned *bins, int n) {
  __shared__ unsigned local[256];
  local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&local[in[i]], 1u);
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

/// Counts keys in an open-addressing table; key 0 marks an empty slot.
__global__ void hashInsert(const unsigned *keys, unsigned *slots, unsigned *counts, unsigned mask,
                           int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  for (unsigned slot = keys[i] * 2654435761u & mask;; slot = (slot + 1) & mask) {
    const unsigned found = atomicCAS(&slots[slot], 0u, keys[i]);
    if (found == 0 || found == keys[i]) {
      atomicAdd(&counts[slot], 1u);
      return;
    }
  }
}

/// Every lane of every warp takes one lock; *total is guarded by it.
__global__ void spinLock(int *lock, int *total) {
  bool isDone = false;
  while (!isDone) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *static_cast<volatile int *>(total) = *static_cast<volatile int *>(total) + 1;
      __threadfence();
      atomicExch(lock, 0);
      isDone = true;
    }
  }
}

__global__ void bitTricks(const unsigned *in, unsigned *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  const unsigned x = in[i];
  const unsigned long long wide = (static_cast<unsigned long long>(x) << 20) ^ x;
  unsigned mixed = __popc(x) + 100 * __clz(x) + 10000 * __ffs(x);
  mixed ^= __brev(x) ^ __byte_perm(x, ~x, 0x2715) ^ __funnelshift_l(x, ~x, x & 31);
  mixed += __popcll(wide) + __clzll(wide) + __ffsll(wide);
  mixed += static_cast<unsigned>(__brevll(wide) >> 13);
  mixed ^= __usad(x, 77u, 5u) + __umulhi(x, 0x9e3779b9u) + static_cast<unsigned>(__umul24(x, 3));
  out[i] = mixed + static_cast<unsigned>(__dp4a(static_cast<int>(x), 0x01ff027f, 3));
}

/// Quotients and remainders of 32 and 64 bits, signed and unsigned, folded into one value.
__global__ void divide(const long long *a, const long long *b, long long *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  const int x = static_cast<int>(a[i]), y = static_cast<int>(b[i]) | 1;
  const unsigned ux = static_cast<unsigned>(x), uy = static_cast<unsigned>(y);
  const unsigned long long ua = a[i], ub = b[i] | 1;
  long long result = a[i] / (b[i] | 1) + a[i] % (b[i] | 1) * 3;
  result ^= static_cast<long long>(ua / ub + ua % ub * 5);
  result += x / y + x % y * 7;
  result ^= static_cast<long long>(ux / uy + ux % uy * 11) << 8;
  result += a[i] / 10 + ua % 1000003;
  out[i] = result;
}

/// 64-bit and floating-point atomics.
__global__ void atomics(unsigned long long *sum, long long *smallest, double *total, float *floats,
                        unsigned *wrapped) {
  const long long i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(sum, static_cast<unsigned long long>(i) << 33);
  atomicMin(smallest, -i);
  atomicAdd(total, 0.5 * static_cast<double>(i));
  atomicAdd(floats, 0.25f);
  atomicInc(wrapped, 99u);
}

/// Never ends by itself but by its stack; two calls, so that no loop can take their place.
__device__ __noinline__ int deeper(int n, volatile int *sink) {
  *sink = n;
  const int below = deeper(n + 1, sink);
  return below ^ deeper(n + *sink, sink);
}
__global__ void overflow(int *sink) {
  *sink = deeper(0, sink);
}

} // extern "C"
