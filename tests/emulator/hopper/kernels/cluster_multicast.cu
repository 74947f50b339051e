// out[block] = sum over t of a[block][t] * b[t], elementwise on tiles of 8 x 32 f32, in clusters of
// two blocks that share b: each loads half of a tile of b and multicasts it to both.
//
//   warp 0      producer: waits for "empty" of both blocks' consumers, expects a whole tile of a
//               and of b, loads its tile of a and its half of b
//   warps 1..4  consumers: wait for "full", multiply, then lane r of each warp arrives at the
//               "empty" of the block of rank r
//
// A tile of b may arrive before its block expects it: the barrier's count is then negative for a
// while, and the phase stays open because the producer has not arrived. A block leaves only when
// its peer has nothing more to send to it, hence the barrier of the cluster at the end.
#include "copies.cuh"

constexpr int kStages = 2;
constexpr int kClusterBlocks = 2;
constexpr int kConsumerWarps = 4;
constexpr int kTileRows = 8;
constexpr int kTileBytes = kTileRows * 128;
constexpr int kHalfBytes = kTileBytes / kClusterBlocks;

struct Smem {
  alignas(128) char a[kStages][kTileBytes];
  alignas(128) char b[kStages][kTileBytes];
  u64 full[kStages], empty[kStages];
};

static void produce(Smem &smem, const TensorMap &aMap, const TensorMap &bMap, int tiles) {
  const u32 rank = clusterRank();
  const int halfRows = kTileRows / kClusterBlocks;
#pragma unroll 1
  for (int tile = 0; tile < tiles; ++tile) {
    const u32 stage = tile % kStages;
    const u32 parity = (tile / kStages) & 1;
    const u32 full = sharedAddress(&smem.full[stage]);
    SITE("producer waits for empty");
    barrierWaitCluster(sharedAddress(&smem.empty[stage]), parity ^ 1);
    SITE("producer expects both tiles");
    barrierExpect(full, 2 * kTileBytes);
    SITE("producer loads a");
    tensorLoad(sharedAddress(smem.a[stage]), &aMap, full, 0,
               (blockIdx.x * tiles + tile) * kTileRows);
    SITE("producer multicasts b");
    tensorLoadMulticast(sharedAddress(smem.b[stage]) + rank * kHalfBytes, &bMap, full, 0,
                        tile * kTileRows + rank * halfRows, 3);
  }
}

static void consume(Smem &smem, float2 *out, int tiles) {
  const u32 mine = threadIdx.x - 32;
  const u32 lane = threadIdx.x % 32;
  float2 sum = {0, 0};
#pragma unroll 1
  for (int tile = 0; tile < tiles; ++tile) {
    const u32 stage = tile % kStages;
    SITE("consumer waits for full");
    barrierWait(sharedAddress(&smem.full[stage]), (tile / kStages) & 1);
    const u32 a = sharedAddress(smem.a[stage]) + mine * 8;
    const u32 b = sharedAddress(smem.b[stage]) + mine * 8;
    SITE("consumer reads");
    sum.x += sharedLoad1(a) * sharedLoad1(b);
    sum.y += sharedLoad1(a + 4) * sharedLoad1(b + 4);
    SITE("all lanes have read");
    __syncwarp();
    if (lane < kClusterBlocks) {
      SITE("consumer gives the stage back");
      barrierArriveRemote(peerAddress(sharedAddress(&smem.empty[stage]), lane));
    }
  }
  out[blockIdx.x * (kTileBytes / 8) + mine] = sum;
}

/// aMap: a as [blocks * tiles * 8, 32] f32 in boxes [8, 32]; bMap: b as [tiles * 8, 32] in boxes
/// [4, 32]; out: [blocks, 8, 32] f32. Block (160), cluster (2).
extern "C" __global__ void __cluster_dims__(kClusterBlocks) __launch_bounds__(160)
    clusterMulticast(const __grid_constant__ TensorMap aMap, const __grid_constant__ TensorMap bMap,
                     float2 *out, int tiles) {
  __shared__ Smem smem;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      SITE("full counts the producer");
      barrierInit(sharedAddress(&smem.full[stage]), 1);
      SITE("empty counts the warps of the cluster");
      barrierInit(sharedAddress(&smem.empty[stage]), kClusterBlocks * kConsumerWarps);
    }
    SITE("barriers to the cluster");
    barrierInitFence();
  }
  __syncwarp();
  SITE("start: arrive");
  clusterArriveRelaxed();
  SITE("start: wait");
  clusterWait();
  if (threadIdx.x == 0) {
    produce(smem, aMap, bMap, tiles);
  } else if (threadIdx.x >= 32) {
    consume(smem, out, tiles);
  }
  __syncwarp();
  SITE("end: arrive");
  clusterArrive();
  SITE("end: wait");
  clusterWait();
}
