// What instructions do: operations, element types and the choices among their variants, with the
// operands that each operation takes. Main type: Op.
//
// Operands of an instruction: destinations, then sources, as slots; `p` marks an index into the
// predicate file, `?` an operand that may be kNoSlot (absent, or the sink `_`). `a+` is an address:
// the slot holds a base to which `immediate` (second address: `immediate2`) is added; bit i of
// `addressBits` says that the i-th address of the instruction is 64 bits wide (else 32). An address
// without a register has a constant or symbol slot as its base.
//
//   Mov, Not, Neg, Abs, Popc, Cvt, Rcp ...  d | a         (type Pred: d and a are predicates, as in
//                                           And, Or, Xor, Not)
//   MovPack        d | a0 .. aN-1           type: the whole, srcType: an element, vector = N
//   MovUnpack      d0? .. dN-1? | a         the same
//   ReadSpecial    d |                      immediate: a Special that changes with time
//   Ld             d0? .. dN-1? | a+        type: one element; dstBits may be wider than the type:
//                                           sign- or zero-extend
//   LdParam        d0? .. dN-1? | a+?       no address: the offset in the parameter block is
//                                           `immediate`
//   St             | a+ s0 .. sN-1          low bits of registers of srcBits
//   Cvta, CvtaTo   d | a                    between Space `space` and generic; 64-bit or 32-bit
//   IsSpacep       p | a
//   Prefetch       | a+
//   Add .. Shr, Fma, MadLo ...              d | a b [c]; shift counts are 32-bit
//   Dp4a, Dp2a     d | a b c               type: of a, srcType: of b; immediate: 1 for .hi, as in
//                                           Mul24 (d | a b) and Mad24 (d | a b c)
//   Vabsdiff4      d | a b c               bytes of `type`; immediate 1: their sum plus c, else c
//                                           has no effect
//   Szext, Bmsk    d | a b                 immediate: 1 for .wrap     Fns  d | mask base offset
//   Bfe            d | a pos len            Bfi  d | a b pos len          Shf*  d | a b c
//   Lop3           d | a b c                immediate: the table
//   Prmt           d | a b c                immediate: 0 default form, 1 f4e, 2 b4e, 3 rc8, 4 ecl,
//                                           5 ecr, 6 rc16
//   Bfind          d | a                    immediate: 1 for .shiftamt
//   CvtPack etc.   cvt of two f32 into a packed type: d | a b, a in the upper half
//   Setp           p q? | a b [pc]          pc when boolOp != None; negateSource negates pc;
//                                           packed types: p is the low half's result, q the high's
//   Set            d | a b [pc]             type: of d; srcType: of the comparison
//   Testp          p | a                    immediate: 0 finite, 1 infinite, 2 number,
//                                           3 notanumber, 4 normal, 5 subnormal
//   Selp           d | a b pc               Slct  d | a b c; srcType: S32 or F32, of c
//   Bra            |                        target; uniform: all live lanes of the split agree
//   BrxIdx         | i                      branchTargets[immediate + i], i < immediate2
//   Ret and Exit   |                        end the thread; a Ret of a lane that is in a Call
//                                           continues behind it (other calls are expanded)
//   Shfl           d p? | a b c mask
//   VoteAll/Any/Uni  p | pa mask            VoteBallot  d | pa mask        (negateSource: of pa)
//   Redux          d | a mask               atomic: the operation
//   MatchAny       d | a mask               MatchAll    d p? | a mask
//   Activemask     d |                      BarWarpSync | mask             Nanosleep | a
//   BarSync        | id count?              BarArrive   | id count         (slots)
//   BarRed         d or p | id count? pa    boolOp And, Or: p; Popc: d     (negateSource: of pa)
//   Atom           d? | a+ b [c]            Red | a+ b                     c: of cas; vector = N:
//                                           d0? .. dN-1? | a+ b0 .. bN-1, elements of `type`;
//                                           of exch and cas on B128 each value is two 64-bit
//                                           operands, the lower half first
//   CpAsync        | a+ a+ size? pIgnore?   first the shared, then the global address; cpSize
//   CpAsyncWait    |                        immediate: groups that may stay pending
//   CpAsyncMbarrierArrive  | a+             noInc
//   LdMatrix       d0 .. dN-1 | a+          vector = N matrices; transpose
//   StMatrix       | a+ s0 .. sN-1          the same
//   MovMatrix      d | a                    transposes an 8x8 matrix of b16
//   Mma            D.. | A.. B.. C..        m n k, formatA, formatB, type = of D, srcType = of C
//
// Clusters, barriers in shared memory, bulk copies, warp-group matrices (sm_90 and newer). `space`
// is the one of the first a+, srcSpace that of the second; SharedCluster where the text says
// shared::cluster, Generic where it says nothing. `mbar` is an address in shared memory and `map` a
// generic address of 64 bits; both are without displacement: an Add in front of the instruction
// takes it. addressBits counts the a+ and mbar of an instruction in the order below, not the map.
//   Call           |                        of a recursive function: immediate is an index into
//                                           Kernel::functions, target its first instruction
//   Elect          d? p | mask              Mapa  d | a rank     GetCtaRank  d | a
//   ClusterArrive, ClusterWait, GridDependencyWait, GridDependencyLaunch, FenceProxy, Membar  |
//                                           FenceProxy: immediate is a ProxyFence; the acquiring
//                                           tensor-map fence has an address without displacement,
//                                           its size in immediate2
//   SetMaxNReg     |                        immediate: registers; increase
//   MbarrierInit   | a+ count               MbarrierInval  | a+
//   MbarrierArrive d? | a+ count? tx?       drop, noComplete; tx of expect_tx; d: a 64-bit state
//   MbarrierExpectTx, MbarrierCompleteTx    | a+ bytes
//   MbarrierWait   p | a+ state             parity: state is a 32-bit parity, else 64 bits;
//                                           tryWait; a time hint is dropped
//   MbarrierPendingCount  d | state
//   BulkCopy       | a+ a+ size mbar? mask? first the destination (space), then the source
//                                           (srcSpace); mbar: an address, of loads to shared memory
//   BulkReduce     | a+ a+ size mbar?       atomic, type
//   BulkPrefetch   | a+ size
//   BulkCommit     |                        BulkWait  |  immediate: groups; readOnly
//   TensorLoad     | a+ map mbar c0 .. cN-1 mask?      vector = N dimensions
//   TensorStore    | map a+ c0 .. cN-1      TensorReduce the same with `atomic`; a+ is in shared
//                                           memory: space, immediate and bit 0 are its own
//   TensorPrefetch | map c0 .. cN-1
//   TensormapReplace  | a+ value            immediate2: a TensormapField * 8 + ordinal
//   TensormapCopy  | a+ a+                  tensormap.cp_fenceproxy, 128 bytes
//   StAsync        | a+ s0 .. sN-1 mbar     RedAsync the same with `atomic`
//   WgmmaFence, WgmmaCommit  |              WgmmaWait  |  immediate: groups that may stay pending
//   Wgmma          D.. | A.. B pScale       D are read too; A: registers, or one 64-bit descriptor
//                                           (descriptorA); negateA, negateB, transposeA, transposeB
//   CreatePolicy   d |                      an opaque 64-bit value
#pragma once

#include <cstdint>

namespace fp8jit::emulator {

/// Element types. A two-letter suffix x2 names a packed pair.
enum class Type : std::uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  F16x2,
  BF16,
  BF16x2,
  F32,
  F64,
  E4M3x2,
  E5M2x2,
  TF32,
  U16x2,
  S16x2,
};

/// State spaces; Generic when the instruction names none. Shared is the block's own window
/// (shared::cta), SharedCluster that of any block of the cluster.
enum class Space : std::uint8_t { Generic, Global, Shared, Local, Param, Const, SharedCluster };

/// Comparisons of setp and set. Lo to Hs are unsigned, Equ to Geu hold for NaN too.
enum class Compare : std::uint8_t {
  None,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Lo,
  Ls,
  Hi,
  Hs,
  Equ,
  Neu,
  Ltu,
  Leu,
  Gtu,
  Geu,
  Num,
  Nan,
};

/// How a comparison or a reduction combines predicates.
enum class BoolOp : std::uint8_t { None, And, Or, Xor, Popc };
/// Rounding modifiers; the i variants round to an integer.
enum class Rounding : std::uint8_t { None, Rn, Rz, Rm, Rp, Rna, Rni, Rzi, Rmi, Rpi };
/// Modes of shfl.
enum class ShuffleMode : std::uint8_t { Up, Down, Bfly, Idx };
/// Operations of atom, red and redux.
enum class AtomicOp : std::uint8_t { None, Add, Min, Max, Inc, Dec, And, Or, Xor, Exch, Cas };

/// Memory-ordering semantics of an access, a fence or a barrier operation (PTX ISA, "Memory
/// Consistency Model"). None: weak, or the instruction's default.
enum class Semantics : std::uint8_t { None, Relaxed, Acquire, Release, AcqRel, Sc, Volatile };
/// Threads that take part in the ordering.
enum class Scope : std::uint8_t { None, Cta, Cluster, Gpu, Sys };
/// Variants of fence.proxy and fence.mbarrier_init.
enum class ProxyFence : std::uint8_t {
  Alias,
  Async,
  AsyncGlobal,
  AsyncShared,
  TensormapAcquire,
  TensormapRelease,
  MbarrierInit,
};
/// Fields that tensormap.replace can change.
enum class TensormapField : std::uint8_t {
  GlobalAddress,
  Rank,
  BoxDim,
  GlobalDim,
  GlobalStride,
  ElementStride,
  ElementType,
  Interleave,
  Swizzle,
  SwizzleAtomicity,
  FillMode,
};

/// Semantic operation. One PTX mnemonic may map to several (mul.lo, mul.hi, mul.wide) and several
/// spellings to one.
enum class Op : std::uint16_t {
  Invalid,
  // data movement
  Mov,
  MovPack,
  MovUnpack,
  ReadSpecial,
  Cvta,
  CvtaTo,
  Ld,
  St,
  LdParam,
  Prefetch,
  IsSpacep,
  // integer and logic
  Add,
  Sub,
  MulLo,
  MulHi,
  MulWide,
  MadLo,
  MadHi,
  MadWide,
  Div,
  Rem,
  Min,
  Max,
  Abs,
  Neg,
  And,
  Or,
  Xor,
  Not,
  Shl,
  Shr,
  ShfLWrap,
  ShfLClamp,
  ShfRWrap,
  ShfRClamp,
  Bfe,
  Bfi,
  Brev,
  Popc,
  Clz,
  Bfind,
  Prmt,
  Lop3,
  Sad,
  Addc,
  Subc,
  Cnot,
  // floating point (Add, Sub, Min, Max, Abs, Neg, Div serve both)
  Mul,
  Fma,
  Rcp,
  Sqrt,
  Rsqrt,
  Ex2,
  Lg2,
  Sin,
  Cos,
  Tanh,
  Copysign,
  Testp,
  // comparison, selection, conversion
  Setp,
  Set,
  Selp,
  Slct,
  Cvt,
  CvtPack,
  // control
  Bra,
  BrxIdx,
  Ret,
  Exit,
  Trap,
  Nop,
  Call,
  // warp and block collectives
  Shfl,
  VoteAll,
  VoteAny,
  VoteUni,
  VoteBallot,
  Redux,
  MatchAny,
  MatchAll,
  Activemask,
  BarWarpSync,
  BarSync,
  BarArrive,
  BarRed,
  Membar,
  Nanosleep,
  // atomics
  Atom,
  Red,
  // asynchronous copies and matrices
  CpAsync,
  CpAsyncCommit,
  CpAsyncWait,
  CpAsyncWaitAll,
  CpAsyncMbarrierArrive,
  LdMatrix,
  StMatrix,
  MovMatrix,
  Mma,
  // integer dot products and narrow multiplies
  Dp4a,
  Dp2a,
  Mul24,
  Mad24,
  Szext,
  Bmsk,
  Fns,
  Vabsdiff4,
  // clusters and launch control
  Elect,
  Mapa,
  GetCtaRank,
  ClusterArrive,
  ClusterWait,
  FenceProxy,
  SetMaxNReg,
  GridDependencyWait,
  GridDependencyLaunch,
  CreatePolicy,
  // barriers in shared memory
  MbarrierInit,
  MbarrierInval,
  MbarrierArrive,
  MbarrierExpectTx,
  MbarrierCompleteTx,
  MbarrierWait,
  MbarrierPendingCount,
  // bulk and tensor copies
  BulkCopy,
  BulkReduce,
  BulkPrefetch,
  BulkCommit,
  BulkWait,
  TensorLoad,
  TensorStore,
  TensorReduce,
  TensorPrefetch,
  TensormapReplace,
  TensormapCopy,
  StAsync,
  RedAsync,
  // warp-group matrices
  Wgmma,
  WgmmaFence,
  WgmmaCommit,
  WgmmaWait,
};

} // namespace fp8jit::emulator
