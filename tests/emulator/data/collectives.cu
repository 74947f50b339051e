// Warp and block collectives, atomics, shared memory (static and dynamic), vector accesses.
extern __shared__ __align__(1024) unsigned char dynamicMemory[];

extern "C" __global__ void __launch_bounds__(256)
    collectives(const float4 *in, float *out, int *flags, int n) {
  __shared__ float partial[32];
  __shared__ int total;
  const int lane = threadIdx.x & 31;
  const int warp = threadIdx.x >> 5;
  const float4 v = in[blockIdx.x * blockDim.x + threadIdx.x];
  float amax = fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)));
  for (int offset = 16; offset > 0; offset >>= 1) {
    amax = fmaxf(amax, __shfl_xor_sync(0xffffffffu, amax, offset));
  }
  const float below = __shfl_up_sync(0xffffffffu, amax, 1);
  const float above = __shfl_down_sync(0xffffffffu, amax, 2, 16);
  const float first = __shfl_sync(0xffffffffu, amax, 0);
  if (threadIdx.x == 0) {
    total = 0;
  }
  if (lane == 0) {
    partial[warp] = amax;
  }
  __syncthreads();
  const unsigned ballot = __ballot_sync(0xffffffffu, v.x > 0.0f);
  const int any = __any_sync(0xffffffffu, v.y > 1.0f);
  const int all = __all_sync(0xffffffffu, v.z > 1.0f);
  const int reduced =
      __reduce_add_sync(0xffffffffu, n + lane) + __reduce_max_sync(0xffffffffu, n ^ lane);
  atomicAdd(&total, reduced);
  atomicMax(&flags[0], reduced);
  atomicMax(reinterpret_cast<unsigned *>(&flags[1]), __float_as_uint(amax));
  atomicCAS(&flags[2], 0, any);
  atomicExch(&flags[3], all);
  atomicAdd(out + 1, amax);
  const int old = atomicAdd(&flags[4], 1);
  __syncwarp();
  __threadfence();
  __threadfence_block();
  float *scratch = reinterpret_cast<float *>(dynamicMemory);
  scratch[threadIdx.x] = below + above + first;
  const int count = __syncthreads_count(v.w > 0.0f);
  const int orAll = __syncthreads_or(v.w > 3.0f) + __syncthreads_and(v.w > 4.0f);
  float4 w;
  w.x = scratch[(threadIdx.x + 1) & 255];
  w.y = partial[lane];
  w.z = static_cast<float>(ballot + count + orAll + total + old);
  w.w = __uint_as_float(__activemask());
  reinterpret_cast<float4 *>(out)[threadIdx.x] = w;
  reinterpret_cast<uint2 *>(out)[4096 + threadIdx.x] =
      make_uint2(ballot, static_cast<unsigned>(count));
  if (__match_any_sync(0xffffffffu, n) == 0xffffffffu) {
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %0, 0;\n\t@p bra DONE;\n\tst.global.u32 "
                 "[%1], %0;\nDONE:\n\t}" ::"r"(ballot),
                 "l"(flags + 5)
                 : "memory");
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %0, 0;\n\t@p bra DONE;\n\tst.global.u32 "
                 "[%1], %0;\nDONE:\n\t}" ::"r"(ballot + 1),
                 "l"(flags + 6)
                 : "memory");
  }
  out[8 + threadIdx.x] = static_cast<float>(clock64() & 1);
}
