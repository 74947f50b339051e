// Wrappers of wgmma (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions") for the shapes
// that these kernels use. Accumulator 4j + i of a thread is column 8j + 2 (lane % 4) + i % 2 of row
// 16 warp + lane / 4 + 8 (i / 2).
#pragma once

#include "ptx.cuh"

inline void wgmmaFence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

inline void wgmmaCommit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int kPending>
inline void wgmmaWait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

/// Keeps the compiler from moving uses of an accumulator before the wait that precedes.
template <int kCount>
inline void pinRegisters(float (&d)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    asm volatile("" : "+f"(d[i])::"memory");
  }
}

/// Descriptor of a tile with 128-byte swizzle whose rows of 128 bytes are dense: groups of eight
/// rows are 1024 bytes apart. Along K add 2 per 32 bytes (K-major) or 128 per 16 rows (MN-major).
inline u64 tileDescriptor(u32 address) {
  return (address & 0x3ffff) >> 4 | u64{1} << 16 | u64{1024 >> 4} << 32 | u64{1} << 62;
}

#define D4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D16(d, i) D4(d, i), D4(d, i + 4), D4(d, i + 8), D4(d, i + 12)

/// [64, 64] += A [64, 32] B [64, 32]^T in E4M3; the first of a sum overwrites.
inline void wgmma64x64E4m3(float (&d)[32], u64 a, u64 b, u32 accumulate) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 "
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
               "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
               "%32, %33, p, 1, 1;\n}"
               : D16(d, 0), D16(d, 16)
               : "l"(a), "l"(b), "r"(accumulate));
}

/// [64, 32] += A [64, 32] B [32, 32]^T, A in E4M3 and B in E5M2.
inline void wgmma64x32E4m3E5m2(float (&d)[16], u64 a, u64 b, u32 accumulate) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %18, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n32k32.f32.e4m3.e5m2 "
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
               "%16, %17, p, 1, 1;\n}"
               : D16(d, 0)
               : "l"(a), "l"(b), "r"(accumulate));
}

/// [64, 64] += A [64, 16] B [16, 64] in bf16, B by rows (transposed: MN-major).
inline void wgmma64x64Bf16RowsB(float (&d)[32], u64 a, u64 b, u32 accumulate) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
               "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
               "%32, %33, p, 1, 1, 0, 1;\n}"
               : D16(d, 0), D16(d, 16)
               : "l"(a), "l"(b), "r"(accumulate));
}

/// [64, 32] -= A [64, 16] B [32, 16]^T in bf16, A in registers (fragments of mma.m16n8k16).
inline void wgmma64x32Bf16RegistersA(float (&d)[16], const u32 (&a)[4], u64 b, u32 accumulate) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %21, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 "
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
               "{%16, %17, %18, %19}, %20, p, -1, 1, 0;\n}"
               : D16(d, 0)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate));
}
