// The instructions of an sm_89 FP8 GEMM pipeline: cp.async, ldmatrix, mma.sync, packed conversions.
typedef unsigned int u32;
typedef unsigned short u16;

__device__ __forceinline__ u32 sharedAddress(const void *p) {
  return static_cast<u32>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void copy16(u32 dst, const void *src, int bytes) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(dst), "l"(src),
               "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void loadMatrix4(u32 (&r)[4], u32 address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}

__device__ __forceinline__ void mmaE4m3(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
               "{%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

template <int N>
__device__ __forceinline__ void waitGroups() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

extern "C" __global__ void __launch_bounds__(128)
    tensorTile(const unsigned char *a, const unsigned char *b, const float *scales, u32 *out, int k,
               float alpha) {
  __shared__ __align__(128) unsigned char tileA[2][64 * 64];
  __shared__ __align__(128) unsigned char tileB[2][64 * 64];
  const int t = threadIdx.x, lane = t & 31, warp = t >> 5;
  float acc[8][4] = {};
  float sum[8][4] = {};
  auto fetch = [&](int stage, int k0) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int chunk = t + i * 128, row = chunk >> 2, column = (chunk & 3) * 16;
      const int valid = k0 + column < k ? 16 : 0;
      copy16(sharedAddress(&tileA[stage][row * 64 + column]),
             a + static_cast<long long>(row) * k + k0 + column, valid);
      copy16(sharedAddress(&tileB[stage][row * 64 + column]),
             b + static_cast<long long>(row) * k + k0 + column, valid);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  fetch(0, 0);
  for (int k0 = 0; k0 < k; k0 += 64) {
    const int stage = (k0 >> 6) & 1;
    if (k0 + 64 < k) {
      fetch(stage ^ 1, k0 + 64);
      waitGroups<1>();
    } else {
      waitGroups<0>();
    }
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < 64; kk += 32) {
      u32 fragmentA[4];
      loadMatrix4(
          fragmentA,
          sharedAddress(&tileA[stage][(warp * 16 + (lane & 15)) * 64 + kk + (lane >> 4) * 16]));
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        u32 fragmentB[4];
        loadMatrix4(fragmentB,
                    sharedAddress(&tileB[stage][(j * 16 + (lane & 7) + ((lane >> 4) << 3)) * 64 +
                                                kk + ((lane >> 3) & 1) * 16]));
        mmaE4m3(acc[2 * j], fragmentA, fragmentB[0], fragmentB[1]);
        mmaE4m3(acc[2 * j + 1], fragmentA, fragmentB[2], fragmentB[3]);
      }
    }
    const float scale = scales[k0 >> 6] * alpha;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        sum[j][i] = fmaf(acc[j][i], scale, sum[j][i]);
        acc[j][i] = 0.0f;
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    u32 packed, half;
    u16 codes, codes5;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(sum[j][1]), "f"(sum[j][0]));
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(half) : "f"(sum[j][3]), "f"(sum[j][2]));
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(sum[j][1]), "f"(sum[j][0]));
    asm("cvt.rn.satfinite.relu.e5m2x2.f16x2 %0, %1;" : "=h"(codes5) : "r"(half));
    u32 back;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(back) : "h"(codes));
    out[(warp * 8 + j) * 64 + lane] = packed;
    out[(warp * 8 + j) * 64 + 32 + lane] = half + back + (static_cast<u32>(codes) << 16 | codes5);
  }
}

extern "C" __global__ void mmaVariants(u32 *out) {
  u32 r[8];
  for (int i = 0; i < 8; ++i) {
    r[i] = out[i * 32 + threadIdx.x];
  }
  float d[4] = {1.0f, 2.0f, 3.0f, 4.0f};
  asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
               "{%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(r[4]), "r"(r[5]));
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
               "{%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(r[4]), "r"(r[5]));
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
      : "+r"(r[6]), "+r"(r[7])
      : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(r[4]), "r"(r[5]));
  asm volatile("mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e5m2.f16 {%0,%1}, {%2,%3,%4,%5}, "
               "{%6,%7}, {%0,%1};"
               : "+r"(r[6]), "+r"(r[7])
               : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(r[4]), "r"(r[5]));
  for (int i = 0; i < 4; ++i) {
    out[i * 32 + threadIdx.x] = __float_as_uint(d[i]) + r[4 + i];
  }
}
