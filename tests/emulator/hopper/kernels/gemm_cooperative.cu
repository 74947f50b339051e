// D = A B^T in FP8 with scales per 128 k: the warp-specialised persistent GEMM of Hopper with two
// consumers that share a tile.
//
//   D[m, n] = bf16(sum over kb of scaleA[kb, m] * scaleB[n / 128, kb] * P_kb[m, n])
//   P_kb    = sum over k in the kb-th 128 of A[m, k] B[n, k], on tensor cores
//   A [M, K], B [N, K] E4M3, scaleA [K / 128, M] f32, scaleB [N / 128, K / 128] f32; M % 128 == 0,
//   N % 64 == 0, K % 128 == 0
//
//   warps 0..3   producer group: gives registers back; one thread loads A, B and the scales of A
//   warps 4..11  two consumer groups: rows 0..63 and 64..127 of a tile of 128 x 64
//
// "full" counts the producer and expects the bytes of a stage; "empty" counts the eight consumer
// warps. Both run on over the tiles: k block i of a block's work has stage i % kStages.
#include "copies.cuh"
#include "wgmma.cuh"

constexpr int kStages = 3;
constexpr int kTileM = 128, kTileN = 64, kTileK = 128;
constexpr int kABytes = kTileM * kTileK, kBBytes = kTileN * kTileK, kScaleBytes = kTileM * 4;
constexpr int kConsumerWarps = 8;

struct Smem {
  alignas(1024) char d[2][64 * kTileN * 2];
  alignas(1024) char a[kStages][kABytes];
  alignas(1024) char b[kStages][kBBytes];
  alignas(128) char scaleA[kStages][kScaleBytes];
  u64 full[kStages], empty[kStages];
};

struct Maps {
  const TensorMap &a, &b, &scaleA, &d;
};

struct Shape {
  int tilesM, tilesN, blocksK;
};

static void produce(Smem &smem, const Maps &maps, const Shape &shape) {
  int block = 0; // of k, counted over all tiles
#pragma unroll 1
  for (int tile = blockIdx.x; tile < shape.tilesM * shape.tilesN; tile += gridDim.x) {
    const int m = tile / shape.tilesN * kTileM;
    const int n = tile % shape.tilesN * kTileN;
#pragma unroll 1
    for (int k = 0; k < shape.blocksK; ++k, ++block) {
      const u32 stage = block % kStages;
      const u32 parity = (block / kStages) & 1;
      const u32 full = sharedAddress(&smem.full[stage]);
      SITE("producer waits for empty");
      barrierWait(sharedAddress(&smem.empty[stage]), parity ^ 1);
      SITE("producer expects a stage");
      barrierExpect(full, kABytes + kBBytes + kScaleBytes);
      SITE("producer loads a");
      tensorLoad(sharedAddress(smem.a[stage]), &maps.a, full, k * kTileK, m);
      SITE("producer loads b");
      tensorLoad(sharedAddress(smem.b[stage]), &maps.b, full, k * kTileK, n);
      SITE("producer loads scales");
      tensorLoad(sharedAddress(smem.scaleA[stage]), &maps.scaleA, full, m, k);
    }
  }
}

/// Writes 64 rows of a tile as bf16 and stores them. Rows of D have 128 bytes, 128-byte swizzle.
template <int kGroup>
static void store(Smem &smem, const Maps &maps, const float (&sum)[32], int m, int n) {
  const u32 thread = threadIdx.x % 128;
  const u32 d = sharedAddress(smem.d[kGroup]);
  const u32 matrix = threadIdx.x % 32 / 8;
  const u32 row = thread / 32 * 16 + matrix % 2 * 8 + threadIdx.x % 8;
  if (thread == 0) {
    SITE("the last tile has been read");
    bulkWaitRead<0>();
  }
  SITE("result tile is free");
  namedSync<1 + kGroup, 128>();
  SITE("consumer writes");
#pragma unroll
  for (int pair = 0; pair < 4; ++pair) {
    const float *v = sum + 8 * pair;
    const u32 chunk = 2 * pair + matrix / 2;
    storeMatrix4(d + swizzle128(row * 128 + chunk * 16), packBf16(v[0], v[1]), packBf16(v[2], v[3]),
                 packBf16(v[4], v[5]), packBf16(v[6], v[7]));
  }
  SITE("result tile to the async proxy");
  fenceAsyncShared();
  SITE("result tile is complete");
  namedSync<1 + kGroup, 128>();
  if (thread == 0) {
    SITE("consumer stores");
    tensorStore(&maps.d, d, n, m + 64 * kGroup);
    SITE("store commits");
    bulkCommit();
  }
}

/// partial = the product of one stage.
template <int kGroup>
static void multiply(Smem &smem, float (&partial)[32], u32 stage) {
  const u64 a = tileDescriptor(sharedAddress(smem.a[stage]) + kGroup * 64 * kTileK);
  const u64 b = tileDescriptor(sharedAddress(smem.b[stage]));
  SITE("accumulators to wgmma");
  wgmmaFence();
  SITE("consumer multiplies");
#pragma unroll
  for (int step = 0; step < kTileK / 32; ++step) {
    wgmma64x64E4m3(partial, a + 2 * step, b + 2 * step, step != 0);
  }
  SITE("products commit");
  wgmmaCommit();
  SITE("products are complete");
  wgmmaWait<0>();
  pinRegisters(partial);
}

template <int kGroup>
static void consume(Smem &smem, const Maps &maps, const float *scaleB, const Shape &shape) {
  const u32 row = kGroup * 64 + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
  int block = 0;
#pragma unroll 1
  for (int tile = blockIdx.x; tile < shape.tilesM * shape.tilesN; tile += gridDim.x) {
    const int m = tile / shape.tilesN * kTileM;
    const int n = tile % shape.tilesN * kTileN;
    float sum[32] = {};
#pragma unroll 1
    for (int k = 0; k < shape.blocksK; ++k, ++block) {
      const u32 stage = block % kStages;
      const float scale = scaleB[n / 128 * shape.blocksK + k];
      SITE("consumer waits for full");
      barrierWait(sharedAddress(&smem.full[stage]), (block / kStages) & 1);
      SITE("consumer reads scales");
      const float upper = scale * sharedLoad1(sharedAddress(smem.scaleA[stage]) + row * 4);
      const float lower = scale * sharedLoad1(sharedAddress(smem.scaleA[stage]) + row * 4 + 32);
      float partial[32];
      multiply<kGroup>(smem, partial, stage);
      __syncwarp();
      if (threadIdx.x % 32 == 0) {
        SITE("consumer gives the stage back");
        barrierArrive(sharedAddress(&smem.empty[stage]));
      }
#pragma unroll
      for (int i = 0; i < 32; ++i) {
        sum[i] += (i % 4 < 2 ? upper : lower) * partial[i];
      }
    }
    store<kGroup>(smem, maps, sum, m, n);
  }
  SITE("all stores are done");
  bulkWait<0>();
}

static void initBarriers(Smem &smem) {
  for (int stage = 0; stage < kStages; ++stage) {
    SITE("full counts the producer");
    barrierInit(sharedAddress(&smem.full[stage]), 1);
    SITE("empty counts the consumer warps");
    barrierInit(sharedAddress(&smem.empty[stage]), kConsumerWarps);
  }
  SITE("barriers to the async proxy");
  barrierInitFence();
}

/// Boxes: a [128, 128] and b [64, 128] bytes, swizzle 128B; scaleA [1, 128] f32; d [64, 64] bf16,
/// swizzle 128B. Block (384), any grid; dynamic shared memory sizeof(Smem).
extern "C" __global__ void __launch_bounds__(384, 1)
    gemmCooperative(const __grid_constant__ TensorMap aMap, const __grid_constant__ TensorMap bMap,
                    const __grid_constant__ TensorMap scaleAMap,
                    const __grid_constant__ TensorMap dMap, const float *scaleB, Shape shape) {
  extern __shared__ __align__(1024) char dynamic[];
  Smem &smem = *reinterpret_cast<Smem *>(dynamic);
  const Maps maps = {aMap, bMap, scaleAMap, dMap};
  if (threadIdx.x == 0) {
    initBarriers(smem);
  }
  SITE("barriers are ready");
  blockSync();
  if (threadIdx.x < 128) {
    SITE("producer gives registers");
    registersDecrease<40>();
    if (threadIdx.x < 32 && electLane()) {
      produce(smem, maps, shape);
    }
  } else if (threadIdx.x < 256) {
    SITE("consumer takes registers");
    registersIncrease<232>();
    consume<0>(smem, maps, scaleB, shape);
  } else {
    SITE("consumer takes registers");
    registersIncrease<232>();
    consume<1>(smem, maps, scaleB, shape);
  }
}
