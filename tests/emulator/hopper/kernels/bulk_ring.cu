// out = 3 in + 1 over many tiles of 512 floats: a ring of bulk copies with full and empty barriers.
//
//   warp 0      producer: waits for "empty", expects the bytes, starts the copy of a tile
//   warps 1..4  consumers: wait for "full", take 16 bytes each, give the stage back, write one of
//               two result tiles, which one thread stores with a bulk copy
//
// Phases: use u of a stage completes phase u of its barriers. Consumers wait for parity u & 1; the
// producer waits for parity (u & 1) ^ 1, which a fresh barrier answers at once.
#include "copies.cuh"

constexpr int kStages = 3;
constexpr int kTileBytes = 2048;
constexpr int kConsumers = 128;

struct Smem {
  alignas(128) char in[kStages][kTileBytes];
  alignas(128) char out[2][kTileBytes];
  u64 full[kStages], empty[kStages];
};

static void produce(Smem &smem, const char *in, int tiles) {
  u32 use = 0;
  u32 stage = 0;
#pragma unroll 1
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const u32 full = sharedAddress(&smem.full[stage]);
    SITE("producer waits for empty");
    barrierWait(sharedAddress(&smem.empty[stage]), (use & 1) ^ 1);
    SITE("producer expects a tile");
    barrierExpect(full, kTileBytes);
    SITE("producer copies");
    bulkLoad(sharedAddress(smem.in[stage]), in + static_cast<u64>(tile) * kTileBytes, kTileBytes,
             full);
    if (++stage == kStages) {
      stage = 0;
      ++use;
    }
  }
}

static void consume(Smem &smem, char *out, int tiles) {
  const u32 mine = (threadIdx.x - 32) * 16;
  const bool isStorer = threadIdx.x == 32;
  u32 use = 0;
  u32 stage = 0;
  u32 slot = 0;
#pragma unroll 1
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    SITE("consumer waits for full");
    barrierWait(sharedAddress(&smem.full[stage]), use & 1);
    SITE("consumer reads");
    float4 v = sharedLoad4(sharedAddress(smem.in[stage]) + mine);
    SITE("consumer gives the stage back");
    barrierArrive(sharedAddress(&smem.empty[stage]));
    v = {3 * v.x + 1, 3 * v.y + 1, 3 * v.z + 1, 3 * v.w + 1};
    if (isStorer) {
      SITE("the result tile before the last has been read");
      bulkWaitRead<1>();
    }
    SITE("result tile is free");
    namedSync<1, kConsumers>();
    SITE("consumer writes");
    sharedStore4(sharedAddress(smem.out[slot]) + mine, v);
    SITE("result tile to the async proxy");
    fenceAsyncShared();
    SITE("result tile is complete");
    namedSync<1, kConsumers>();
    if (isStorer) {
      SITE("consumer stores");
      bulkStore(out + static_cast<u64>(tile) * kTileBytes, sharedAddress(smem.out[slot]),
                kTileBytes);
      SITE("store commits");
      bulkCommit();
    }
    slot ^= 1;
    if (++stage == kStages) {
      stage = 0;
      ++use;
    }
  }
  SITE("all stores are done");
  bulkWait<0>();
}

/// in, out: [tiles, 512] f32. Block (160), any grid.
extern "C" __global__ void __launch_bounds__(160) bulkRing(const char *in, char *out, int tiles) {
  __shared__ Smem smem;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      SITE("full counts the producer");
      barrierInit(sharedAddress(&smem.full[stage]), 1);
      SITE("empty counts the consumers");
      barrierInit(sharedAddress(&smem.empty[stage]), kConsumers);
    }
    SITE("barriers to the async proxy");
    barrierInitFence();
  }
  SITE("barriers are ready");
  blockSync();
  if (threadIdx.x == 0) {
    produce(smem, in, tiles);
  } else if (threadIdx.x >= 32) {
    consume(smem, out, tiles);
  }
}
