// Integer and floating-point scalar code, loops, local arrays, tables and parameters of every
// width.
__constant__ float kWeights[4] = {1.0f, -0.5f, 0.25f, 3.5f};
__device__ int counter = 7;
__device__ unsigned short table[5] = {1, 2, 3, 40000, 5};
__device__ int *pointerToCounter = &counter;

struct Pair {
  char tag;
  double value;
};

extern "C" __global__ void __launch_bounds__(128, 2)
    scalarInteger(const int *a, unsigned *b, long long *c, int n, Pair pair, short small) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  int x = a[i];
  unsigned u = b[i];
  int sum = 0;
  for (int j = 0; j < n; j += 3) {
    sum += (x >> (j & 31)) * j + a[j] / (small + 1) - a[j] % 7;
  }
  u = (u << 3) ^ (u >> 5) ^ __brev(u) ^ __popc(u) ^ __clz(x) ^ __ffs(x);
  u += __umulhi(u, 0x12345u) + __byte_perm(u, x, 0x3715) + __funnelshift_l(u, x, 7);
  u = min(u, 17u) + max(x, -9) + abs(x) + (u / 10u) * (u % 10u);
  long long wide = static_cast<long long>(x) * u + c[i] / (n + 1) + (c[i] >> 3);
  c[i] = wide * 5 + sum + pair.tag + static_cast<long long>(pair.value);
  b[i] = u + table[x & 3] + static_cast<unsigned>(small) + *pointerToCounter;
  atomicAdd(&counter, sum);
}

extern "C" __global__ void scalarFloat(const float *a, float *b, double *d, int n) {
  const int i = threadIdx.x;
  float v = a[i];
  float local[16];
  for (int j = 0; j < 16; ++j) {
    local[j] = v * static_cast<float>(j);
  }
  float s = 0.0f;
  for (int j = 0; j < n; ++j) {
    s = fmaf(local[(j * n) & 15], kWeights[j & 3], s);
  }
  s += sqrtf(v) + __frcp_rn(v) + rsqrtf(v) + exp2f(v) + log2f(v) + v / (s + 1.0f) + tanhf(v);
  s = fminf(s, 3.0f) + fmaxf(v, -2.0f) + fabsf(s) + floorf(v) + rintf(s) + __fdividef(s, v);
  s += expf(v) + sinf(s) + copysignf(v, s) + (isnan(s) ? 1.0f : 2.0f);
  if (v == 0.0f || !(s < 4.0f)) {
    s = __int_as_float(0x7fc00000);
  }
  double e = d[i] * 2.0 + static_cast<double>(s);
  e = e / (d[i] + 1.0) + sqrt(e) + fma(e, e, 1.0) + fmin(e, 2.0);
  d[i] = e < 0.0 ? -e : e;
  b[i] = s + static_cast<float>(e) + static_cast<float>(static_cast<int>(v)) + __uint2float_rn(n);
}

extern "C" __global__ void switches(int *a, unsigned char *bytes, unsigned long long *w, int n) {
  const int i = threadIdx.x;
  int r = 0;
  switch (a[i]) {
  case 0:
    r = n * 3;
    break;
  case 1:
    r = a[n];
    break;
  case 2:
    r = n ^ 0x55;
    a[i + 1] = 5;
    break;
  case 3:
    r = n / 3;
    break;
  case 4:
    r = -n;
    a[i + 2] = 6;
    break;
  case 5:
    r = n << 2;
    break;
  case 6:
    r = ~n;
    break;
  case 7:
    r = n & a[2 * i];
    break;
  default:
    r = 99;
  }
  bytes[i] = static_cast<unsigned char>(bytes[i] + r);
  w[i] = w[i] * static_cast<unsigned long long>(r) + (w[i] << (r & 63)) + __clzll(w[i]) +
         __popcll(w[i]) + (w[i] / 1000u) + (w[i] % 1001u) + __umul64hi(w[i], 12345);
  a[i] = r;
}
