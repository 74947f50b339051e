// The decoded program: what the front end (emulator/ptx) hands to the interpreter (emulator/exec).
// Main entry: loadModule. The operations and their operands are in operation.h.
//
// Registers. A kernel's register file is an array of 128-byte slots per warp: 32 lanes x 32 bits. A
// 64-bit register takes two neighbouring slots, used as 32 lanes x 64 bits. 8- and 16-bit registers
// live in the low bits of a 32-bit slot: a writer stores them zero-extended, a reader takes the low
// bits. Predicates are registers of a second file: one 32-bit lane mask each. Immediates, special
// registers and addresses of variables are slots too: the front end lists them (constants,
// specials, symbols, constantPredicates) and the interpreter fills them before a warp starts, so
// that an operand is always a slot. They are never shared with other values and never written.
#pragma once

#include "emulator/ptx/operation.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fp8jit::emulator {

/// Instruction-specific choices that are not operands.
struct Modifiers {
  Compare compare = Compare::None;
  BoolOp boolOp = BoolOp::None;
  Rounding rounding = Rounding::None;
  ShuffleMode shuffle = ShuffleMode::Idx;
  AtomicOp atomic = AtomicOp::None;
  bool ftz = false, sat = false, satfinite = false, relu = false, nan = false, carryIn = false,
       carryOut = false, transpose = false, uniform = false, aligned = false;
  bool negateSource = false; ///< the predicate among the sources (the last one) is negated
  bool xorSignAbs = false;   ///< min and max: .xorsign.abs
  std::uint8_t cpSize = 0;   ///< cp.async bytes: 4, 8, 16
  // mma: shape and operand formats (type = D and C)
  std::uint16_t m = 0, n = 0, k = 0;
  // a Type for 16-bit operands; Type::E4M3x2 and E5M2x2 name the FP8 formats
  std::uint8_t formatA = 0, formatB = 0;
  Semantics semantics = Semantics::None;
  Scope scope = Scope::None;
  bool noInc = false;       ///< cp.async.mbarrier.arrive.noinc
  bool increase = false;    ///< setmaxnreg.inc
  bool drop = false;        ///< mbarrier.arrive_drop
  bool noComplete = false;  ///< mbarrier.arrive.noComplete
  bool parity = false;      ///< mbarrier waits by phase parity
  bool tryWait = false;     ///< mbarrier.try_wait: may suspend the thread
  bool readOnly = false;    ///< cp.async.bulk.wait_group.read
  bool multicast = false;   ///< to every block of a mask of the cluster
  bool noncoherent = false; ///< ld.global.nc
  // wgmma: A is a descriptor; operands negated, or stored with the other dimension contiguous
  bool descriptorA = false, negateA = false, negateB = false, transposeA = false,
       transposeB = false;
};

/// An operand that is absent.
inline constexpr std::uint32_t kNoSlot = 0xffffffffU;

/// One decoded instruction. Destinations come first, then sources; predicates are indices into the
/// predicate file where the operation takes a predicate (guard, setp destinations, selp's
/// selector).
struct Instruction {
  Op op = Op::Invalid;
  Type type = Type::None;    ///< of the operation; of the destination for cvt and set
  Type srcType = Type::None; ///< of the source where it differs
  Space space = Space::Generic;
  Space srcSpace = Space::Generic; ///< of the second address, of instructions with two
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
  std::uint16_t form = 0;         ///< row of the table of forms, as describeForms lists them
  Modifiers mods;
};

/// A slot that holds the same value in every lane (or the bits of a 64-bit value in two slots).
struct ConstantSlot {
  std::uint32_t slot = 0;
  std::uint64_t bits = 0;
  bool is64 = false;
};

/// A slot that holds the address of a shared variable, zero-extended to 64 bits in two slots if
/// is64: `offset` counts from the first byte of the block's variables; the interpreter adds where
/// its window places that byte.
struct SharedSlot {
  std::uint32_t slot = 0;
  std::uint32_t offset = 0;
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
  ClusteridX,
  ClusteridY,
  ClusteridZ,
  NClusteridX,
  NClusteridY,
  NClusteridZ,
  ClusterCtaidX,
  ClusterCtaidY,
  ClusterCtaidZ,
  ClusterNctaidX,
  ClusterNctaidY,
  ClusterNctaidZ,
  ClusterCtarank,
  ClusterNctarank,
  IsExplicitCluster,
  AggrSmemSize,
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

/// A device function that calls itself, perhaps through others. Its code stands once, behind the
/// kernel's own, and Op::Call runs it: the interpreter keeps, for each lane, the values of `slots`,
/// `wideSlots` and `predicates` and the place behind the call, and gives them back at the
/// function's Ret. The registers that carry addresses of arguments and the stack pointer are not
/// among them. Variables of the function lie in local memory at the stack pointer, which the code
/// moves.
struct DeviceFunction {
  std::string name;
  std::uint32_t first = 0, end = 0;     ///< its instructions
  std::uint32_t frameBytes = 0;         ///< what one activation takes of the stack
  std::vector<std::uint32_t> slots;     ///< of 32 lanes of 32 bits, ascending
  std::vector<std::uint32_t> wideSlots; ///< the first of two that hold 32 lanes of 64 bits
  std::vector<std::uint32_t> predicates;
};

/// Bytes of local memory that a kernel with recursive functions has for their frames.
inline constexpr std::uint32_t kStackBytes = 8192;

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
  std::vector<SharedSlot> sharedSymbols;
  std::vector<ConstantPredicate> constantPredicates;
  std::vector<std::uint32_t> branchTargets; ///< instruction indices of all BrxIdx tables
  std::vector<DeviceFunction> functions;    ///< those that Op::Call runs
  /// Static shared variables lie from offset 0; `extern` ones begin at dynamicSharedOffset.
  std::uint32_t staticSharedBytes = 0;
  std::uint32_t dynamicSharedOffset = 0; ///< staticSharedBytes rounded up to the alignment asked
  /// Per thread; with recursive functions kStackBytes at its end are their stack.
  std::uint32_t localBytes = 0;
  std::uint32_t maxThreads = 0; ///< .maxntid product, 0 if absent
  std::uint32_t minBlocksPerSm = 0;
  std::uint32_t maxRegisters = 0;               ///< .maxnreg, 0 if absent
  std::uint32_t requiredThreads[3] = {0, 0, 0}; ///< .reqntid, 0 if absent
  std::uint32_t requiredCluster[3] = {0, 0, 0}; ///< .reqnctapercluster, 0 if absent
  std::uint32_t maxClusterRank = 0;             ///< .maxclusterrank, 0 if absent
  bool explicitCluster = false;                 ///< .explicitcluster
  bool blocksAreClusters = false;               ///< .blocksareclusters: the grid counts clusters
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

/// How loadModule lays out a kernel.
struct LoadOptions {
  /// Registers whose values are never needed at the same time share slots: a smaller register file.
  /// Off, each register keeps a slot of its own.
  bool shareSlots = true;
};

/// loadModule with options.
bool loadModule(std::string_view text, std::string_view arch, const LoadOptions &options,
                Module &module, PtxError &error);

} // namespace fp8jit::emulator
