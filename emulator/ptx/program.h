// The decoded program: what the front end (emulator/ptx) hands to the interpreter (emulator/exec).
//
// Registers. A kernel's register file is an array of 128-byte slots per warp: 32 lanes x 32 bits. A
// 64-bit register takes two neighbouring slots, used as 32 lanes x 64 bits. 8- and 16-bit registers
// live in the low bits of a 32-bit slot. Predicates are registers of a second file: one 32-bit lane
// mask each. Immediates and special registers are slots too: the front end lists them (constants,
// specials) and the interpreter fills them before a warp starts, so that an operand is always a
// slot.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fp8jit::emulator {

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
  Call,
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
       transpose = false, uniform = false;
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
  bool guardNegate = false;
  std::uint32_t guard = kNoSlot; ///< predicate index
  std::uint32_t operands =
      0; ///< first index into Kernel::operands: numDst destinations, then numSrc sources
  std::int64_t immediate =
      0; ///< address displacement, lop3 table, cp.async group count, barrier id, ...
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
  Clock,
  Clock64,
  GlobalTimer,
  DynamicSmemSize,
  TotalSmemSize,
};

struct SpecialSlot {
  std::uint32_t slot = 0;
  Special special =
      Special::TidX; ///< Clock, Clock64 and GlobalTimer are read at their instruction instead
};

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
  std::uint32_t staticSharedBytes = 0;
  std::uint32_t localBytes = 0; ///< per thread
  std::uint32_t maxThreads = 0; ///< .maxntid product, 0 if absent
  std::uint32_t minBlocksPerSm = 0;
};

/// A variable in global or constant memory: initial bytes, zero beyond them.
struct GlobalVariable {
  std::string name;
  std::uint32_t align = 1;
  std::uint64_t sizeBytes = 0;
  std::vector<std::uint8_t> initial;
  bool isConst = false;
};

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

} // namespace fp8jit::emulator
