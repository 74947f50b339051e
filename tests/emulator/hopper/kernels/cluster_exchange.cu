// total[i] = sum over all blocks of a cluster of x[block][i], in three ways that blocks of a
// cluster exchange data: asynchronous stores, copies between shared memories, loads of a peer's
// memory.
//
//   1. Each block sums its rows and sends the sums to the next block (st.async), which waits for
//      the bytes on its barrier.
//   2. It adds its own sums and copies the pair sums to the opposite block (cp.async.bulk from
//   shared
//      to shared memory).
//   3. Behind a barrier of the cluster it reads its own pair sums back from the opposite block and
//      adds those that came from there.
// Blocks r and r - 1 are in the pair sums of block r, so those of r and r + 2 make the total.
#include "copies.cuh"

constexpr int kBlocks = 4;
constexpr int kColumns = 128;

struct Smem {
  alignas(16) float received[kColumns];
  alignas(16) float pair[kColumns];
  alignas(16) float copied[kColumns];
  u64 stored, copiedDone;
};

static void storeAsync(u32 target, float value, u32 barrier) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(
          target),
      "r"(__float_as_uint(value)), "r"(barrier)
      : "memory");
}

static void copyToPeer(u32 target, u32 source, u32 bytes, u32 barrier) {
  asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
               "[%0], [%1], %2, [%3];" ::"r"(target),
               "r"(source), "r"(bytes), "r"(barrier)
               : "memory");
}

static float loadPeer(u32 address) {
  float v;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(address) : "memory");
  return v;
}

/// x: [blocks, rows, 128]; total: [blocks, 128], equal in all blocks of a cluster. Block (128),
/// cluster (4).
extern "C" __global__ void __cluster_dims__(kBlocks) __launch_bounds__(kColumns)
    clusterExchange(const float *x, float *total, int rows) {
  __shared__ Smem smem;
  const u32 column = threadIdx.x;
  const u32 rank = clusterRank();
  const u32 next = (rank + 1) % kBlocks;
  const u32 opposite = (rank + 2) % kBlocks;
  const u32 stored = sharedAddress(&smem.stored);
  const u32 copiedDone = sharedAddress(&smem.copiedDone);
  const u32 bytes = kColumns * sizeof(float);
  if (column == 0) {
    SITE("stored counts its block");
    barrierInit(stored, 1);
    SITE("copied counts its block");
    barrierInit(copiedDone, 1);
    SITE("barriers to the cluster");
    barrierInitFence();
    SITE("block expects the stores");
    barrierExpect(stored, bytes);
    SITE("block expects the copy");
    barrierExpect(copiedDone, bytes);
  }
  __syncwarp();
  SITE("start: arrive");
  clusterArrive();
  SITE("start: wait");
  clusterWait();
  float sum = 0;
  for (int row = 0; row < rows; ++row) {
    sum += x[(static_cast<u64>(blockIdx.x) * rows + row) * kColumns + column];
  }
  SITE("threads send");
  storeAsync(peerAddress(sharedAddress(&smem.received[column]), next), sum,
             peerAddress(stored, next));
  SITE("stores have arrived");
  barrierWaitCluster(stored, 0);
  SITE("threads read what arrived");
  const float pair = sum + sharedLoad1(sharedAddress(&smem.received[column]));
  SITE("threads write pair sums");
  sharedStore1(sharedAddress(&smem.pair[column]), pair);
  SITE("pair sums to the async proxy");
  fenceAsyncShared();
  SITE("pair sums are complete");
  blockSync();
  if (column == 0) {
    SITE("block copies");
    copyToPeer(peerAddress(sharedAddress(smem.copied), opposite), sharedAddress(smem.pair), bytes,
               peerAddress(copiedDone, opposite));
  }
  SITE("copy has arrived");
  barrierWaitCluster(copiedDone, 0);
  SITE("exchange: arrive");
  clusterArrive();
  SITE("exchange: wait");
  clusterWait();
  SITE("threads read the opposite block");
  const float own = loadPeer(peerAddress(sharedAddress(&smem.copied[column]), opposite));
  SITE("threads read the copy");
  total[blockIdx.x * kColumns + column] = own + sharedLoad1(sharedAddress(&smem.copied[column]));
  SITE("end: arrive");
  clusterArrive();
  SITE("end: wait");
  clusterWait();
}
