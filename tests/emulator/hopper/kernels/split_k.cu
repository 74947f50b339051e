// D += A B in bf16 with f32 sums, K split over blocks: each adds its part with reducing copies.
//
//   A [M, K] bf16 by rows (K-major), B [K, N] bf16 by rows (MN-major operand of wgmma), D [M, N]
//   f32 norms[m] += sum over k of A[m, k], from the same tiles
//
// One warp group per block, a tile of 64 x 64, two stages of 64 k. Each k16 step of B begins 16
// rows of 128 bytes further. The result goes through shared memory as two halves of 32 columns (128
// bytes, 128-byte swizzle) and one tensor reduction each; the norms by a bulk reduction.
#include "copies.cuh"
#include "wgmma.cuh"

constexpr int kStages = 2;
constexpr int kTile = 64; // of m, n and k
constexpr int kOperandBytes = kTile * kTile * 2;

struct Smem {
  alignas(1024) char a[kStages][kOperandBytes];
  alignas(1024) char b[kStages][kOperandBytes];
  alignas(1024) char d[2][kTile * 32 * 4];
  alignas(128) float norms[kTile];
  u64 full[kStages];
};

static void load(Smem &smem, const TensorMap &aMap, const TensorMap &bMap, int block, int k) {
  const u32 stage = block % kStages;
  const u32 full = sharedAddress(&smem.full[stage]);
  SITE("loader expects a stage");
  barrierExpect(full, 2 * kOperandBytes);
  SITE("loader copies a");
  tensorLoad(sharedAddress(smem.a[stage]), &aMap, full, k, blockIdx.y * kTile);
  SITE("loader copies b");
  tensorLoad(sharedAddress(smem.b[stage]), &bMap, full, blockIdx.x * kTile, k);
}

/// The sum over half of row thread / 2 of a stage of A.
static float sumHalfRow(Smem &smem, u32 stage) {
  const u32 row = threadIdx.x / 2;
  float sum = 0;
#pragma unroll 1
  for (u32 i = 0; i < 4; ++i) {
    const u32 chunk = threadIdx.x % 2 * 4 + i;
    const float4 v = sharedLoad4(sharedAddress(smem.a[stage]) + swizzle128(row * 128 + chunk * 16));
    const u32 pairs[4] = {__float_as_uint(v.x), __float_as_uint(v.y), __float_as_uint(v.z),
                          __float_as_uint(v.w)};
#pragma unroll
    for (const u32 pair : pairs) {
      sum += __uint_as_float(pair << 16) + __uint_as_float(pair & 0xffff0000);
    }
  }
  return sum;
}

static void multiply(Smem &smem, float (&sum)[32], u32 stage, bool isFirst) {
  const u64 a = tileDescriptor(sharedAddress(smem.a[stage]));
  const u64 b = tileDescriptor(sharedAddress(smem.b[stage]));
  SITE("accumulators to wgmma");
  wgmmaFence();
  SITE("group multiplies");
#pragma unroll
  for (int step = 0; step < kTile / 16; ++step) {
    wgmma64x64Bf16RowsB(sum, a + 2 * step, b + 128 * step, !isFirst || step != 0);
  }
  SITE("products commit");
  wgmmaCommit();
}

static void writeTile(Smem &smem, const float (&sum)[32], float norm) {
  const u32 row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
#pragma unroll
  for (int i = 0; i < 32; i += 2) {
    const u32 column = i % 16 / 4 * 8 + threadIdx.x % 4 * 2;
    const u32 offset = (row + i % 4 / 2 * 8) * 128 + column * 4;
    sharedStore2(sharedAddress(smem.d[i / 16]) + swizzle128(offset), sum[i], sum[i + 1]);
  }
  norm += __shfl_xor_sync(0xffffffff, norm, 1);
  if (threadIdx.x % 2 == 0) {
    sharedStore1(sharedAddress(&smem.norms[threadIdx.x / 2]), norm);
  }
}

static void addTile(Smem &smem, const TensorMap &dMap, float *norms) {
  SITE("adder adds the first half");
  tensorAdd(&dMap, sharedAddress(smem.d[0]), blockIdx.x * kTile, blockIdx.y * kTile);
  SITE("adder adds the second half");
  tensorAdd(&dMap, sharedAddress(smem.d[1]), blockIdx.x * kTile + 32, blockIdx.y * kTile);
  if (blockIdx.x == 0) {
    SITE("adder adds the norms");
    bulkAdd(norms + blockIdx.y * kTile, sharedAddress(smem.norms), kTile * 4);
  }
  SITE("sums commit");
  bulkCommit();
  SITE("sums are read");
  bulkWaitRead<0>();
}

/// Boxes: a and b [64, 64] bf16, d [64, 32] f32, all with swizzle 128B; blocksK: blocks of 64 k of
/// one block. Block (128), grid (N / 64, M / 64, splits of K); dynamic shared memory sizeof(Smem).
extern "C" __global__ void __launch_bounds__(128)
    splitK(const __grid_constant__ TensorMap aMap, const __grid_constant__ TensorMap bMap,
           const __grid_constant__ TensorMap dMap, float *norms, int blocksK) {
  extern __shared__ __align__(1024) char dynamic[];
  Smem &smem = *reinterpret_cast<Smem *>(dynamic);
  const int firstK = blockIdx.z * blocksK * kTile;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      SITE("full counts the loader");
      barrierInit(sharedAddress(&smem.full[stage]), 1);
    }
    SITE("barriers to the async proxy");
    barrierInitFence();
    load(smem, aMap, bMap, 0, firstK);
  }
  SITE("barriers are ready");
  blockSync();
  float sum[32];
  float norm = 0;
#pragma unroll 1
  for (int block = 0; block < blocksK; ++block) {
    const u32 stage = block % kStages;
    if (threadIdx.x == 0 && block + 1 < blocksK) {
      load(smem, aMap, bMap, block + 1, firstK + (block + 1) * kTile);
    }
    __syncwarp();
    SITE("stage is complete");
    barrierWait(sharedAddress(&smem.full[stage]), (block / kStages) & 1);
    multiply(smem, sum, stage, block == 0);
    SITE("group reads");
    norm += sumHalfRow(smem, stage);
    SITE("products are complete");
    wgmmaWait<0>();
    // The next block of k but one overwrites this stage.
    SITE("stage is free");
    blockSync();
  }
  pinRegisters(sum);
  SITE("group writes");
  writeTile(smem, sum, norm);
  SITE("result tile to the async proxy");
  fenceAsyncShared();
  SITE("result tile is complete");
  blockSync();
  if (threadIdx.x == 0) {
    addTile(smem, dMap, norms);
  }
}
