// The decoded program: what the front end (emulator/ptx) hands to the interpreter (emulator/exec).
// Main entry: loadModule.
//
// Registers. A kernel's register file is an array of 128-byte slots per warp: 32 lanes x 32 bits. A
// 64-bit register takes two neighbouring slots, used as 32 lanes x 64 bits. 8- and 16-bit registers
// live in the low bits of a 32-bit slot: a writer stores them zero-extended, a reader takes the low
// bits. Predicates are registers of a second file: one 32-bit lane mask each. Immediates, special
// registers and addresses of variables are slots too: the front end lists them (constants,
// specials, symbols, constantPredicates) and the interpreter fills them before a warp starts, so
// that an operand is always a slot. They are never shared with other values and never written.
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
//                                           sign- or zero-extend; volatileAccess, noncoherent
//   LdParam        d0? .. dN-1? | a+?       no address: the offset in the parameter block is
//                                           `immediate`
//   St             | a+ s0 .. sN-1          low bits of registers of srcBits
//   Cvta, CvtaTo   d | a                    between Space `space` and generic; 64-bit or 32-bit
//   IsSpacep       p | a
//   Prefetch       | a+
//   Add .. Shr, Fma, MadLo ...              d | a b [c]; shift counts are 32-bit
//   Bfe            d | a pos len            Bfi  d | a b pos len          Shf*  d | a b c
//   Lop3           d | a b c                immediate: the table           Prmt  d | a b c
//   Prmt           immediate: 0 (default form), then f4e 1, b4e 2, rc8 3, ecl 4, ecr 5, rc16 6
//   Testp          p | a, immediate: finite 0, infinite 1, number 2, notanumber 3, normal 4,
//                  subnormal 5             Bfind  d | a, immediate: 1 for .shiftamt
//   CvtPack etc.   cvt of two f32 into a packed type: d | a b, a in the upper half
//   Setp           p q? | a b [pc]          pc when boolOp != None; negateSource negates pc;
//                                           packed types: p is the low half's result, q the high's
//   Set            d | a b [pc]             type: of d; srcType: of the comparison
//   Testp          p | a                    immediate: 0 finite, 1 infinite, 2 number,
//                                           3 notanumber, 4 normal, 5 subnormal
//   Selp           d | a b pc               Slct  d | a b c; srcType: S32 or F32, of c
//   Bra            |                        target; uniform: all live lanes of the split agree
//   BrxIdx         | i                      branchTargets[immediate + i], i < immediate2
//   Ret and Exit   |                        end the thread (calls are expanded by the front end)
//   Shfl           d p? | a b c mask
//   VoteAll/Any/Uni  p | pa mask            VoteBallot  d | pa mask        (negateSource: of pa)
//   Redux          d | a mask               atomic: the operation
//   MatchAny       d | a mask               MatchAll    d p? | a mask
//   Activemask     d |                      BarWarpSync | mask             Nanosleep | a
//   BarSync        | id count?              BarArrive   | id count         (slots; aligned flag)
//   BarRed         d or p | id count? pa    boolOp And, Or: p; Popc: d     (negateSource: of pa)
//   Atom           d? | a+ b [c]            Red | a+ b                     c: of cas
//   CpAsync        | a+ a+ size? pIgnore?   first the shared, then the global address; cpSize
//   CpAsyncWait    |                        immediate: groups that may stay pending
//   LdMatrix       d0 .. dN-1 | a+          vector = N matrices; transpose
//   Mma            D.. | A.. B.. C..        m n k, formatA, formatB, type = of D, srcType = of C
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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
};

/// State spaces; Generic when the instruction names none.
enum class Space : std::uint8_t { Generic, Global, Shared, Local, Param, Const };

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

enum class BoolOp : std::uint8_t { None, And, Or, Xor, Popc };
enum class Rounding : std::uint8_t { None, Rn, Rz, Rm, Rp, Rna, Rni, Rzi, Rmi, Rpi };
enum class ShuffleMode : std::uint8_t { Up, Down, Bfly, Idx };
enum class AtomicOp : std::uint8_t { None, Add, Min, Max, Inc, Dec, And, Or, Xor, Exch, Cas };

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
  LdMatrix,
  Mma,
};

/// Instruction-specific choices that are not operands.
struct Modifiers {
  Compare compare = Compare::None;
  BoolOp boolOp = BoolOp::None;
  Rounding rounding = Rounding::None;
  ShuffleMode shuffle = ShuffleMode::Idx;
  AtomicOp atomic = AtomicOp::None;
  bool ftz = false, sat = false, satfinite = false, relu = false, approx = false, nan = false,
       carryIn = false, carryOut = false, volatileAccess = false, noncoherent = false,
       transpose = false, uniform = false, aligned = false;
  bool negateSource = false;   ///< the predicate among the sources (the last one) is negated
  bool xorSignAbs = false;     ///< min and max: .xorsign.abs
  bool shiftAmount = false;    ///< bfind.shiftamt
  std::uint8_t cpSize = 0;     ///< cp.async bytes: 4, 8, 16
  std::uint8_t bytesExtra = 0; ///< reserved
  // mma: shape and operand formats (type = D and C)
  std::uint16_t m = 0, n = 0, k = 0;
  std::uint8_t formatA = 0,
               formatB =
                   0; ///< a Type for 16-bit operands; Type::E4M3x2 and E5M2x2 name the FP8 formats
};

inline constexpr std::uint32_t kNoSlot = 0xffffffffU;

/// One decoded instruction. Destinations come first, then sources; predicates are indices into the
/// predicate file where the operation takes a predicate (guard, setp destinations, selp's
/// selector).
struct Instruction {
  Op op = Op::Invalid;
  Type type = Type::None;    ///< of the operation; of the destination for cvt and set
  Type srcType = Type::None; ///< of the source where it differs
  Space space = Space::Generic;
  std::uint8_t vector =
      1; ///< elements of a vector ld/st or of mov pack/unpack; matrices of ldmatrix
  std::uint8_t numDst = 0, numSrc = 0;
  std::uint8_t dstBits = 32;    ///< lane width of the destination slots: 32 (one slot) or 64 (two)
  std::uint8_t srcBits = 32;    ///< lane width of the first value source
  std::uint8_t addressBits = 0; ///< bit i: the i-th address operand is 64 bits wide
  bool guardNegate = false;
  std::uint32_t guard = kNoSlot; ///< predicate index
  std::uint32_t operands =
      0; ///< first index into Kernel::operands: numDst destinations, then numSrc sources
  std::int64_t immediate =
      0; ///< address displacement, lop3 table, cp.async group count, barrier id, ...
  std::int64_t immediate2 = 0;    ///< displacement of the second address; entries of BrxIdx
  std::uint32_t target = kNoSlot; ///< branch target (instruction index)
  std::uint32_t line = 0;         ///< line in the PTX text
  Modifiers mods;
};

/// A slot that holds the same value in every lane (or the bits of a 64-bit value in two slots).
struct ConstantSlot {
  std::uint32_t slot = 0;
  std::uint64_t bits = 0;
  bool is64 = false;
};

/// A slot that holds the address of Module::globals[global] plus `addend`, 64 bits in two slots.
struct SymbolSlot {
  std::uint32_t slot = 0;
  std::uint32_t global = 0;
  std::int64_t addend = 0;
};

/// A predicate that is the same in every lane and never written.
struct ConstantPredicate {
  std::uint32_t index = 0;
  bool value = false;
};

/// Special registers. Those from Clock on change with time and appear only in ReadSpecial.
enum class Special : std::uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NWarpId,
  SmId,
  NSmId,
  GridId,
  LaneMaskEq,
  LaneMaskLt,
  LaneMaskLe,
  LaneMaskGt,
  LaneMaskGe,
  DynamicSmemSize,
  TotalSmemSize,
  Clock,
  ClockHi,
  Clock64,
  GlobalTimer,
  GlobalTimerLo,
  GlobalTimerHi,
};

/// A slot that holds a special register; one slot of 32 bits unless is64 (GridId).
struct SpecialSlot {
  std::uint32_t slot = 0;
  Special special = Special::TidX;
  bool is64 = false;
};

/// A kernel parameter's place in the parameter block: bytes, naturally aligned in declaration
/// order.
struct Parameter {
  std::string name;
  std::uint32_t offset = 0, sizeBytes = 0, align = 0;
};

/// A kernel entry. Immutable after loading; shared by all launches.
struct Kernel {
  std::string name;
  std::vector<Parameter> parameters;
  std::uint32_t paramBytes = 0;
  std::uint32_t slotCount = 0; ///< 128-byte slots per warp, constants and specials included
  std::uint32_t predicateCount = 0;
  std::vector<Instruction> code;
  std::vector<std::uint32_t> operands;
  std::vector<ConstantSlot> constants;
  std::vector<SpecialSlot> specials;
  std::vector<SymbolSlot> symbols;
  std::vector<ConstantPredicate> constantPredicates;
  std::vector<std::uint32_t> branchTargets; ///< instruction indices of all BrxIdx tables
  /// Static shared variables lie from offset 0; `extern` ones begin at dynamicSharedOffset.
  std::uint32_t staticSharedBytes = 0;
  std::uint32_t dynamicSharedOffset = 0; ///< staticSharedBytes rounded up to the alignment asked
  std::uint32_t localBytes = 0;          ///< per thread
  std::uint32_t maxThreads = 0;          ///< .maxntid product, 0 if absent
  std::uint32_t minBlocksPerSm = 0;
  std::uint32_t maxRegisters = 0;               ///< .maxnreg, 0 if absent
  std::uint32_t requiredThreads[3] = {0, 0, 0}; ///< .reqntid, 0 if absent
};

/// Eight bytes of an initialised variable that hold the address of Module::globals[global] +
/// addend.
struct Relocation {
  std::uint64_t offset = 0;
  std::uint32_t global = 0;
  std::int64_t addend = 0;
};

/// A variable in global or constant memory: initial bytes, zero beyond them.
struct GlobalVariable {
  std::string name;
  std::uint32_t align = 1;
  std::uint64_t sizeBytes = 0;
  std::vector<std::uint8_t> initial;
  std::vector<Relocation> relocations;
  bool isConst = false;
};

/// Everything that one PTX text declares.
struct Module {
  std::string target; ///< "sm_89"
  int ptxMajor = 0, ptxMinor = 0;
  std::vector<Kernel> kernels;
  std::vector<GlobalVariable> globals;
};

/// A refusal of the front end, with the line it speaks of.
struct PtxError {
  std::uint32_t line = 0;
  std::string message;
};

/// Parses, checks and decodes `text` for a device of architecture `arch` ("89"). Returns false and
/// fills `error` for malformed text, an unknown instruction form, a form that the architecture
/// lacks, or a wrong target. Thread safe.
bool loadModule(std::string_view text, std::string_view arch, Module &module, PtxError &error);

struct LoadOptions {
  /// Registers whose values are never needed at the same time share slots: a smaller register file.
  /// Off, each register keeps a slot of its own.
  bool shareSlots = true;
};

/// loadModule with options.
bool loadModule(std::string_view text, std::string_view arch, const LoadOptions &options,
                Module &module, PtxError &error);

} // namespace fp8jit::emulator
