// Device functions that are not inlined: parameters and results through the .param space.
struct Big {
  int values[5];
};

__device__ __noinline__ int addThree(int a, int b, short c) {
  if (a > 5) {
    return a * b;
  }
  return a + b + c;
}

__device__ __noinline__ Big spread(int seed, const int *source) {
  Big big;
  for (int i = 0; i < 5; ++i) {
    big.values[i] = source[i] * seed + addThree(i, seed, 3);
  }
  return big;
}

extern "C" __global__ void calls(int *data, int n) {
  const Big big = spread(n, data);
  int sum = 0;
  for (int i = 0; i < 5; ++i) {
    sum += big.values[i] + addThree(i, n, static_cast<short>(data[i]));
  }
  data[threadIdx.x] = sum;
}
