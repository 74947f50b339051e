// sums[g][c] = sum over the rows of group g of x[row][c]: a tensor map that the kernel changes for
// each group, as grouped GEMMs do whose groups have their own address and number of rows.
//
// The warp copies the template map to shared memory, one lane replaces address, rows and pitch, and
// the warp publishes it to a slot in global memory (tensormap.cp_fenceproxy, release). The fence
// that acquires the slot comes before the loads, which read zero for rows behind the group's end.
// A block has one slot: it is changed again when its loads have completed.
#include "copies.cuh"

constexpr int kBoxRows = 16;
constexpr int kColumns = 32;
constexpr int kBoxBytes = kBoxRows * kColumns * 4;

struct Smem {
  alignas(128) char box[kBoxBytes];
  alignas(128) u32 map[32];
  u64 full;
};

/// One group: x as [rows, 32] f32 with `pitchBytes` between rows, a multiple of 16.
struct Group {
  const void *x;
  u32 rows;
  u32 pitchBytes;
};

static void replaceAddress(u32 map, const void *address) {
  asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(map),
               "l"(address)
               : "memory");
}

/// Of dimension 1.
static void replaceRows(u32 map, u32 rows) {
  asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(map),
               "r"(rows)
               : "memory");
}

/// Of dimension 1, which is the first that has a stride.
static void replacePitch(u32 map, u64 bytes) {
  asm volatile("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 0, %1;" ::"r"(map),
               "l"(bytes)
               : "memory");
}

/// Whole warps: copies the map to `slot` and releases it to the tensor-map proxy.
static void publishMap(void *slot, u32 map) {
  asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu"
               ".sync.aligned [%0], [%1], 128;" ::"l"(slot),
               "r"(map)
               : "memory");
}

static void acquireMap(const void *slot) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(slot) : "memory");
}

/// templateMap: [1, 32] f32 at any address in boxes [16, 32], no swizzle; slots: 128 bytes per
/// block, aligned to 64; sums: [groups, 32]. Block (32), any grid.
extern "C" __global__ void __launch_bounds__(32)
    mapPatch(const __grid_constant__ TensorMap templateMap, const Group *groups, int groupCount,
             char *slots, float *sums) {
  __shared__ Smem smem;
  const u32 lane = threadIdx.x;
  const u32 full = sharedAddress(&smem.full);
  const u32 map = sharedAddress(smem.map);
  char *const slot = slots + blockIdx.x * 128;
  if (lane == 0) {
    SITE("full counts the loader");
    barrierInit(full, 1);
    SITE("barrier to the async proxy");
    barrierInitFence();
  }
  __syncwarp();
  u32 parity = 0;
#pragma unroll 1
  for (int g = blockIdx.x; g < groupCount; g += gridDim.x) {
    const Group group = groups[g];
    smem.map[lane] = reinterpret_cast<const u32 *>(&templateMap)[lane];
    __syncwarp();
    if (lane == 0) {
      SITE("map: address");
      replaceAddress(map, group.x);
      SITE("map: rows");
      replaceRows(map, group.rows);
      SITE("map: pitch");
      replacePitch(map, group.pitchBytes);
    }
    __syncwarp();
    SITE("map is published");
    publishMap(slot, map);
    SITE("map is acquired");
    acquireMap(slot);
    float sum = 0;
#pragma unroll 1
    for (u32 row = 0; row < group.rows; row += kBoxRows, parity ^= 1) {
      if (lane == 0) {
        SITE("loader expects a box");
        barrierExpect(full, kBoxBytes);
        SITE("loader copies");
        tensorLoad(sharedAddress(smem.box), slot, full, 0, row);
      }
      __syncwarp();
      SITE("box is complete");
      barrierWait(full, parity);
      SITE("lanes read");
#pragma unroll 1
      for (int i = 0; i < kBoxRows; ++i) {
        sum += sharedLoad1(sharedAddress(smem.box) + (i * kColumns + lane) * 4);
      }
      __syncwarp();
    }
    sums[g * kColumns + lane] = sum;
  }
}
