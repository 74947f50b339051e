// Wrappers of bulk and tensor copies and of the moves of matrices between registers and shared
// memory; shared addresses are 32-bit, tensor maps generic pointers.
#pragma once

#include "ptx.cuh"

// Bulk copies without a tensor map; bytes: a multiple of 16

inline void bulkLoad(u32 target, const void *source, u32 bytes, u32 barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%0], [%1], %2, [%3];" ::"r"(target),
               "l"(source), "r"(bytes), "r"(barrier)
               : "memory");
}

inline void bulkStore(void *target, u32 source, u32 bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(target),
               "r"(source), "r"(bytes)
               : "memory");
}

/// target[i] += source[i] in f32.
inline void bulkAdd(void *target, u32 source, u32 bytes) {
  asm volatile(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(target),
      "r"(source), "r"(bytes)
      : "memory");
}

inline void bulkCommit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// Waits until all but the latest `kPending` groups of this thread are complete.
template <int kPending>
inline void bulkWait() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(kPending) : "memory");
}

/// Waits until they have read shared memory.
template <int kPending>
inline void bulkWaitRead() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

// Tensor copies; x: innermost coordinate

inline void tensorLoad(u32 target, const void *map, u32 barrier, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%3, %4}], [%2];" ::"r"(target),
               "l"(map), "r"(barrier), "r"(x), "r"(y)
               : "memory");
}

/// To the same offset of every block in `blocks` (bit i: rank i), signalling the barrier at the
/// same offset there.
inline void tensorLoadMulticast(u32 target, const void *map, u32 barrier, int x, int y,
                                u16 blocks) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
               ".multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(target),
               "l"(map), "r"(barrier), "r"(x), "r"(y), "h"(blocks)
               : "memory");
}

inline void tensorStore(const void *map, u32 source, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
               "[%0, {%2, %3}], [%1];" ::"l"(map),
               "r"(source), "r"(x), "r"(y)
               : "memory");
}

inline void tensorAdd(const void *map, u32 source, int x, int y) {
  asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group "
               "[%0, {%2, %3}], [%1];" ::"l"(map),
               "r"(source), "r"(x), "r"(y)
               : "memory");
}

inline void tensorPrefetch(const void *map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/// The address that a 128-byte swizzled tile has for its byte `offset`, rows of 128 bytes, when it
/// begins at a multiple of 1024.
inline u32 swizzle128(u32 offset) {
  return offset ^ ((offset >> 3) & 0x70);
}

/// The same for rows of 64 bytes and a beginning at a multiple of 512.
inline u32 swizzle64(u32 offset) {
  return offset ^ ((offset >> 3) & 0x30);
}

// Shared memory

inline float4 sharedLoad4(u32 address) {
  float4 v;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(address)
               : "memory");
  return v;
}

inline float sharedLoad1(u32 address) {
  float v;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(address) : "memory");
  return v;
}

inline void sharedStore4(u32 address, float4 v) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(address), "f"(v.x), "f"(v.y),
               "f"(v.z), "f"(v.w)
               : "memory");
}

inline void sharedStore2(u32 address, float a, float b) {
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(address), "f"(a), "f"(b) : "memory");
}

inline void sharedStore1(u32 address, float v) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(address), "f"(v) : "memory");
}

/// Four 8x8 matrices of b16; lane L gives the address of row L % 8 of matrix L / 8.
inline void loadMatrix4(u32 (&r)[4], u32 address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

inline void storeMatrix4(u32 address, u32 a, u32 b, u32 c, u32 d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
               "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}

/// Two bf16, `low` in the low half.
inline u32 packBf16(float low, float high) {
  u32 packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}
