// D = -A B^T in bf16 with A in registers and B from shared memory, both written there by ordinary
// stores: what a kernel does that converts or quantises an operand itself.
//
//   A [64, 64], B [32, 64] bf16 by rows; D [64, 32] bf16
//
// A takes the way memory -> shared -> ldmatrix -> registers of wgmma, B memory -> shared (128-byte
// swizzle) -> descriptor. D goes back through stmatrix and ldmatrix.
#include "copies.cuh"
#include "wgmma.cuh"

constexpr int kRows = 64, kColumns = 32, kK = 64;
constexpr int kRowChunks = kK * 2 / 16;       // of 16 bytes, in a row of A or B
constexpr int kResultRowBytes = kColumns * 2; // of D in shared memory, 64-byte swizzle

struct Smem {
  alignas(1024) char a[kRows * 128];
  alignas(1024) char b[kColumns * 128];
  alignas(512) char d[kRows * kResultRowBytes];
};

/// Rows of 128 bytes to shared memory with 128-byte swizzle.
static void copyRows(u32 target, const float4 *source, int rows) {
#pragma unroll 1
  for (int i = threadIdx.x; i < rows * kRowChunks; i += 128) {
    sharedStore4(target + swizzle128(i * 16), source[i]);
  }
}

static void multiply(Smem &smem, float (&sum)[16]) {
  const u32 lane = threadIdx.x % 32;
  const u32 row = threadIdx.x / 32 * 16 + lane % 16;
  u32 a[4][4];
  SITE("warps read a");
#pragma unroll
  for (int step = 0; step < 4; ++step) {
    loadMatrix4(a[step],
                sharedAddress(smem.a) + swizzle128(row * 128 + (2 * step + lane / 16) * 16));
  }
  const u64 b = tileDescriptor(sharedAddress(smem.b));
  SITE("registers to wgmma");
  wgmmaFence();
  SITE("group multiplies");
#pragma unroll
  for (int step = 0; step < 4; ++step) {
    wgmma64x32Bf16RegistersA(sum, a[step], b + 2 * step, step != 0);
  }
  SITE("products commit");
  wgmmaCommit();
  SITE("products are complete");
  wgmmaWait<0>();
  pinRegisters(sum);
}

/// a: [64, 64], b: [32, 64], d: [64, 32] bf16. Block (128).
extern "C" __global__ void __launch_bounds__(128)
    registerOperand(const float4 *a, const float4 *b, uint2 *d) {
  __shared__ Smem smem;
  const u32 lane = threadIdx.x % 32;
  const u32 warp = threadIdx.x / 32;
  copyRows(sharedAddress(smem.a), a, kRows);
  copyRows(sharedAddress(smem.b), b, kColumns);
  SITE("b to the async proxy");
  fenceAsyncShared();
  SITE("operands are complete");
  blockSync();
  float sum[16];
  multiply(smem, sum);
  // Matrix i of a store: rows 8 (i % 2), columns 8 (i / 2); lanes give the addresses of its rows.
  const u32 result = sharedAddress(smem.d);
  const u32 row = warp * 16 + lane % 16;
  SITE("warps write d");
#pragma unroll
  for (int pair = 0; pair < 2; ++pair) {
    const float *v = sum + 8 * pair;
    storeMatrix4(result + swizzle64(row * kResultRowBytes + (2 * pair + lane / 16) * 16),
                 packBf16(v[0], v[1]), packBf16(v[2], v[3]), packBf16(v[4], v[5]),
                 packBf16(v[6], v[7]));
  }
  // Each warp reads the rows of its neighbour, a row of 32 bf16 as four matrices of 8 columns.
  SITE("d is complete");
  blockSync();
  const u32 firstRow = (warp + 1) % 4 * 16;
  SITE("warps read d");
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const u32 readRow = firstRow + half * 8 + lane % 8;
    u32 r[4];
    loadMatrix4(r, result + swizzle64(readRow * kResultRowBytes + lane / 8 * 16));
    // Register i: columns 8i + 2 (lane % 4) and the next of row lane / 4.
    u32 *const target =
        reinterpret_cast<u32 *>(d) + (firstRow + half * 8 + lane / 4) * (kColumns / 2) + lane % 4;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      target[4 * i] = r[i];
    }
  }
}
