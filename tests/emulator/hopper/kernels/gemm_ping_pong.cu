// D = A B^T in FP8 without scales, D in f32: two consumer groups that take turns. While one
// multiplies its tile the other stores its own.
//
//   A [M, K] E4M3, B [N, K] E5M2, D [M, N] f32; M % 64 == 0, N % 32 == 0, K % 128 == 0
//
//   warps 0..3   producer group, as in the cooperative kernel
//   warps 4..11  group g of two takes the tiles g, g + 2, ... of the block's work: 64 x 32
//
// Turn t is that of the block's t-th tile. Two pairs of named barriers order the turns:
//   1. multiply: group t % 2 waits at barrier 1 + t % 2 until turn t - 1 has issued its products.
//   2. store: it waits at barrier 3 + t % 2 until turn t - 1's copy has read the only result tile.
// The group that ends its turn arrives for the other one, unless there is no turn t + 1. Only the
// second order is needed for right results, the first keeps the tensor cores fed in turn.
#include "copies.cuh"
#include "wgmma.cuh"

constexpr int kStages = 3;
constexpr int kTileM = 64, kTileN = 32, kTileK = 128;
constexpr int kABytes = kTileM * kTileK, kBBytes = kTileN * kTileK;
constexpr int kConsumerWarps = 4;

struct Smem {
  alignas(1024) char d[kTileM * kTileN * 4];
  alignas(1024) char a[kStages][kABytes];
  alignas(1024) char b[kStages][kBBytes];
  u64 full[kStages], empty[kStages];
};

struct Maps {
  const TensorMap &a, &b, &d;
};

struct Shape {
  int tilesM, tilesN, blocksK;
};

/// The number of tiles of this block.
static int turnCount(const Shape &shape) {
  const int tiles = shape.tilesM * shape.tilesN - static_cast<int>(blockIdx.x);
  return (tiles + static_cast<int>(gridDim.x) - 1) / static_cast<int>(gridDim.x);
}

static void produce(Smem &smem, const Maps &maps, const Shape &shape) {
  int block = 0; // of k, counted over all tiles
#pragma unroll 1
  for (int tile = blockIdx.x; tile < shape.tilesM * shape.tilesN; tile += gridDim.x) {
#pragma unroll 1
    for (int k = 0; k < shape.blocksK; ++k, ++block) {
      const u32 stage = block % kStages;
      const u32 full = sharedAddress(&smem.full[stage]);
      SITE("producer waits for empty");
      barrierWait(sharedAddress(&smem.empty[stage]), ((block / kStages) & 1) ^ 1);
      SITE("producer expects a stage");
      barrierExpect(full, kABytes + kBBytes);
      SITE("producer loads a");
      tensorLoad(sharedAddress(smem.a[stage]), &maps.a, full, k * kTileK,
                 tile / shape.tilesN * kTileM);
      SITE("producer loads b");
      tensorLoad(sharedAddress(smem.b[stage]), &maps.b, full, k * kTileK,
                 tile % shape.tilesN * kTileN);
    }
  }
}

/// The product of one tile; `block` is its first k block.
static void multiply(Smem &smem, float (&sum)[16], int block, int blocksK) {
#pragma unroll 1
  for (int k = 0; k < blocksK; ++k, ++block) {
    const u32 stage = block % kStages;
    SITE("consumer waits for full");
    barrierWait(sharedAddress(&smem.full[stage]), (block / kStages) & 1);
    const u64 a = tileDescriptor(sharedAddress(smem.a[stage]));
    const u64 b = tileDescriptor(sharedAddress(smem.b[stage]));
    SITE("accumulators to wgmma");
    wgmmaFence();
    SITE("consumer multiplies");
#pragma unroll
    for (int step = 0; step < kTileK / 32; ++step) {
      wgmma64x32E4m3E5m2(sum, a + 2 * step, b + 2 * step, k + step != 0);
    }
    SITE("products commit");
    wgmmaCommit();
    // The products of the block before are complete when only this one's may be missing.
    SITE("products of the block before are complete");
    wgmmaWait<1>();
    if (k != 0 && threadIdx.x % 32 == 0) {
      SITE("consumer gives the stage back");
      barrierArrive(sharedAddress(&smem.empty[(block - 1) % kStages]));
    }
  }
}

static void writeTile(Smem &smem, const float (&sum)[16]) {
  const u32 thread = threadIdx.x % 128;
  const u32 row = thread / 32 * 16 + thread % 32 / 4;
#pragma unroll
  for (int i = 0; i < 16; i += 2) {
    const u32 column = i / 4 * 8 + thread % 4 * 2;
    const u32 offset = (row + i % 4 / 2 * 8) * 128 + column * 4;
    sharedStore2(sharedAddress(smem.d) + swizzle128(offset), sum[i], sum[i + 1]);
  }
}

template <int kGroup>
static void consume(Smem &smem, const Maps &maps, const Shape &shape) {
  const int turns = turnCount(shape);
  const bool isStorer = threadIdx.x % 128 == 0;
#pragma unroll 1
  for (int turn = kGroup; turn < turns; turn += 2) {
    const int tile = blockIdx.x + turn * gridDim.x;
    const int lastBlock = (turn + 1) * shape.blocksK - 1;
    float sum[16];
    if (turn != 0) {
      SITE("turn to multiply");
      namedSync<1 + kGroup, 256>();
    }
    multiply(smem, sum, turn * shape.blocksK, shape.blocksK);
    if (turn + 1 < turns) {
      SITE("next turn to multiply");
      namedArrive<1 + (kGroup ^ 1), 256>();
    }
    SITE("products are complete");
    wgmmaWait<0>();
    pinRegisters(sum);
    if (threadIdx.x % 32 == 0) {
      SITE("consumer gives the last stage back");
      barrierArrive(sharedAddress(&smem.empty[lastBlock % kStages]));
    }
    if (turn != 0) {
      SITE("turn to store");
      namedSync<3 + kGroup, 256>();
    }
    SITE("consumer writes");
    writeTile(smem, sum);
    SITE("result tile to the async proxy");
    fenceAsyncShared();
    SITE("result tile is complete");
    namedSync<5 + kGroup, 128>();
    if (isStorer) {
      SITE("consumer stores");
      tensorStore(&maps.d, sharedAddress(smem.d), tile % shape.tilesN * kTileN,
                  tile / shape.tilesN * kTileM);
      SITE("store commits");
      bulkCommit();
      SITE("result tile has been read");
      bulkWaitRead<0>();
    }
    __syncwarp();
    if (turn + 1 < turns) {
      SITE("next turn to store");
      namedArrive<3 + (kGroup ^ 1), 256>();
    }
  }
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

/// Boxes: a [64, 128] and b [32, 128] bytes, d [64, 32] f32, all with swizzle 128B. Block (384),
/// any grid; dynamic shared memory sizeof(Smem).
extern "C" __global__ void __launch_bounds__(384, 1)
    gemmPingPong(const __grid_constant__ TensorMap aMap, const __grid_constant__ TensorMap bMap,
                 const __grid_constant__ TensorMap dMap, Shape shape) {
  extern __shared__ __align__(1024) char dynamic[];
  Smem &smem = *reinterpret_cast<Smem *>(dynamic);
  const Maps maps = {aMap, bMap, dMap};
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
    consume<0>(smem, maps, shape);
  } else {
    SITE("consumer takes registers");
    registersIncrease<232>();
    consume<1>(smem, maps, shape);
  }
}
