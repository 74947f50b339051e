// Wrappers of the instructions that these kernels use, one each (PTX ISA, section of the same
// name). The memory clobbers keep the compiler from moving accesses across what orders them.
//
// SITE("name") leaves a comment in the PTX: a mutation changes the instruction that follows it. It
// is a macro because inline assembly takes string literals only.
#pragma once

#define SITE(name) asm volatile("// site " name ::: "memory")

/// The 128 opaque bytes of a CUtensorMap.
struct alignas(64) TensorMap {
  char bytes[128];
};

using u16 = unsigned short;
using u32 = unsigned;
using u64 = unsigned long long;

/// The shared::cta address of a generic pointer.
inline u32 sharedAddress(const void *pointer) {
  return static_cast<u32>(__cvta_generic_to_shared(pointer));
}

/// The address of `address` in the block of rank `rank` of the cluster.
inline u32 peerAddress(u32 address, u32 rank) {
  u32 peer;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(peer) : "r"(address), "r"(rank));
  return peer;
}

inline u32 clusterRank() {
  u32 rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// True in one lane of the warp.
inline bool electLane() {
  u32 chosen;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}"
               : "=r"(chosen));
  return chosen != 0;
}

// mbarrier

inline void barrierInit(u32 barrier, u32 count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

/// Makes initialisations visible to the cluster and to the async proxy.
inline void barrierInitFence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

inline void barrierArrive(u32 barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/// Arrives at a barrier of any block of the cluster; `barrier` comes from peerAddress.
inline void barrierArriveRemote(u32 barrier) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(barrier)
               : "memory");
}

/// Arrives and adds `bytes` to what the phase waits for.
inline void barrierExpect(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

/// Waits until the phase of parity `parity` is complete.
inline void barrierWait(u32 barrier, u32 parity) {
  asm volatile("{\n.reg .pred done;\nAGAIN:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@!done bra AGAIN;\n}" ::"r"(barrier),
               "r"(parity)
               : "memory");
}

/// The same, for arrivals of other blocks of the cluster.
inline void barrierWaitCluster(u32 barrier, u32 parity) {
  asm volatile("{\n.reg .pred done;\nAGAIN:\n"
               "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
               "@!done bra AGAIN;\n}" ::"r"(barrier),
               "r"(parity)
               : "memory");
}

// Barriers of blocks and clusters, fences

template <int kId, int kThreads>
inline void namedSync() {
  asm volatile("bar.sync %0, %1;" ::"n"(kId), "n"(kThreads) : "memory");
}

template <int kId, int kThreads>
inline void namedArrive() {
  asm volatile("bar.arrive %0, %1;" ::"n"(kId), "n"(kThreads) : "memory");
}

inline void blockSync() {
  asm volatile("bar.sync 0;" ::: "memory");
}

inline void clusterArrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

/// Orders nothing by itself: for initialisations published by barrierInitFence.
inline void clusterArriveRelaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

inline void clusterWait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// Between ordinary accesses of shared memory and those of copies and wgmma.
inline void fenceAsyncShared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Launch control

template <int kRegisters>
inline void registersDecrease() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

template <int kRegisters>
inline void registersIncrease() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

/// Waits until the grids that this one depends on have ended and their writes are visible.
inline void gridWait() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

inline void gridLaunchDependents() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
