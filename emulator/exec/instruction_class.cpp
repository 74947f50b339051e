// Classes, predicate operands and names of instructions.
#include "emulator/exec/instruction_class.h"

#include "emulator/exec/findings.h"

namespace fp8jit::emulator {

namespace {

enum class Family : std::uint8_t { Typed, Conversion, Integer, Float, Other };

struct OpFacts {
  Op op;
  std::string_view name;
  Family family; ///< Typed: float or integer by the type of the operation
};

} // namespace

static constexpr OpFacts kOps[] = {
    {Op::Invalid, "invalid", Family::Other},
    {Op::Mov, "mov", Family::Integer},
    {Op::MovPack, "mov", Family::Integer},
    {Op::MovUnpack, "mov", Family::Integer},
    {Op::ReadSpecial, "mov", Family::Integer},
    {Op::Cvta, "cvta", Family::Integer},
    {Op::CvtaTo, "cvta.to", Family::Integer},
    {Op::Ld, "ld", Family::Other},
    {Op::St, "st", Family::Other},
    {Op::LdParam, "ld.param", Family::Other},
    {Op::Prefetch, "prefetch", Family::Other},
    {Op::IsSpacep, "isspacep", Family::Integer},
    {Op::Add, "add", Family::Typed},
    {Op::Sub, "sub", Family::Typed},
    {Op::MulLo, "mul.lo", Family::Typed},
    {Op::MulHi, "mul.hi", Family::Integer},
    {Op::MulWide, "mul.wide", Family::Integer},
    {Op::MadLo, "mad.lo", Family::Typed},
    {Op::MadHi, "mad.hi", Family::Integer},
    {Op::MadWide, "mad.wide", Family::Integer},
    {Op::Div, "div", Family::Typed},
    {Op::Rem, "rem", Family::Integer},
    {Op::Min, "min", Family::Typed},
    {Op::Max, "max", Family::Typed},
    {Op::Abs, "abs", Family::Typed},
    {Op::Neg, "neg", Family::Typed},
    {Op::And, "and", Family::Integer},
    {Op::Or, "or", Family::Integer},
    {Op::Xor, "xor", Family::Integer},
    {Op::Not, "not", Family::Integer},
    {Op::Shl, "shl", Family::Integer},
    {Op::Shr, "shr", Family::Integer},
    {Op::ShfLWrap, "shf.l.wrap", Family::Integer},
    {Op::ShfLClamp, "shf.l.clamp", Family::Integer},
    {Op::ShfRWrap, "shf.r.wrap", Family::Integer},
    {Op::ShfRClamp, "shf.r.clamp", Family::Integer},
    {Op::Bfe, "bfe", Family::Integer},
    {Op::Bfi, "bfi", Family::Integer},
    {Op::Brev, "brev", Family::Integer},
    {Op::Popc, "popc", Family::Integer},
    {Op::Clz, "clz", Family::Integer},
    {Op::Bfind, "bfind", Family::Integer},
    {Op::Prmt, "prmt", Family::Integer},
    {Op::Lop3, "lop3", Family::Integer},
    {Op::Sad, "sad", Family::Integer},
    {Op::Addc, "addc", Family::Integer},
    {Op::Subc, "subc", Family::Integer},
    {Op::Cnot, "cnot", Family::Integer},
    {Op::Mul, "mul", Family::Float},
    {Op::Fma, "fma", Family::Float},
    {Op::Rcp, "rcp", Family::Float},
    {Op::Sqrt, "sqrt", Family::Float},
    {Op::Rsqrt, "rsqrt", Family::Float},
    {Op::Ex2, "ex2", Family::Float},
    {Op::Lg2, "lg2", Family::Float},
    {Op::Sin, "sin", Family::Float},
    {Op::Cos, "cos", Family::Float},
    {Op::Tanh, "tanh", Family::Float},
    {Op::Copysign, "copysign", Family::Float},
    {Op::Testp, "testp", Family::Float},
    {Op::Setp, "setp", Family::Typed},
    {Op::Set, "set", Family::Conversion},
    {Op::Selp, "selp", Family::Integer},
    {Op::Slct, "slct", Family::Integer},
    {Op::Cvt, "cvt", Family::Conversion},
    {Op::CvtPack, "cvt", Family::Conversion},
    {Op::Bra, "bra", Family::Other},
    {Op::BrxIdx, "brx.idx", Family::Other},
    {Op::Ret, "ret", Family::Other},
    {Op::Exit, "exit", Family::Other},
    {Op::Trap, "trap", Family::Other},
    {Op::Nop, "nop", Family::Other},
    {Op::Call, "call", Family::Other},
    {Op::Shfl, "shfl.sync", Family::Other},
    {Op::VoteAll, "vote.sync.all", Family::Other},
    {Op::VoteAny, "vote.sync.any", Family::Other},
    {Op::VoteUni, "vote.sync.uni", Family::Other},
    {Op::VoteBallot, "vote.sync.ballot", Family::Other},
    {Op::Redux, "redux.sync", Family::Other},
    {Op::MatchAny, "match.any.sync", Family::Other},
    {Op::MatchAll, "match.all.sync", Family::Other},
    {Op::Activemask, "activemask", Family::Other},
    {Op::BarWarpSync, "bar.warp.sync", Family::Other},
    {Op::BarSync, "bar.sync", Family::Other},
    {Op::BarArrive, "bar.arrive", Family::Other},
    {Op::BarRed, "bar.red", Family::Other},
    {Op::Membar, "membar", Family::Other},
    {Op::Nanosleep, "nanosleep", Family::Other},
    {Op::Atom, "atom", Family::Other},
    {Op::Red, "red", Family::Other},
    {Op::CpAsync, "cp.async", Family::Other},
    {Op::CpAsyncCommit, "cp.async.commit_group", Family::Other},
    {Op::CpAsyncWait, "cp.async.wait_group", Family::Other},
    {Op::CpAsyncWaitAll, "cp.async.wait_all", Family::Other},
    {Op::CpAsyncMbarrierArrive, "cp.async.mbarrier.arrive", Family::Other},
    {Op::LdMatrix, "ldmatrix", Family::Other},
    {Op::StMatrix, "stmatrix", Family::Other},
    {Op::MovMatrix, "movmatrix", Family::Other},
    {Op::Mma, "mma.sync", Family::Other},
    {Op::Dp4a, "dp4a", Family::Integer},
    {Op::Dp2a, "dp2a", Family::Integer},
    {Op::Mul24, "mul24", Family::Integer},
    {Op::Mad24, "mad24", Family::Integer},
    {Op::Szext, "szext", Family::Integer},
    {Op::Bmsk, "bmsk", Family::Integer},
    {Op::Fns, "fns", Family::Integer},
    {Op::Vabsdiff4, "vabsdiff4", Family::Integer},
    {Op::Elect, "elect.sync", Family::Other},
    {Op::Mapa, "mapa", Family::Integer},
    {Op::GetCtaRank, "getctarank", Family::Integer},
    {Op::ClusterArrive, "barrier.cluster.arrive", Family::Other},
    {Op::ClusterWait, "barrier.cluster.wait", Family::Other},
    {Op::FenceProxy, "fence.proxy", Family::Other},
    {Op::SetMaxNReg, "setmaxnreg", Family::Other},
    {Op::GridDependencyWait, "griddepcontrol.wait", Family::Other},
    {Op::GridDependencyLaunch, "griddepcontrol.launch_dependents", Family::Other},
    {Op::CreatePolicy, "createpolicy", Family::Integer},
    {Op::MbarrierInit, "mbarrier.init", Family::Other},
    {Op::MbarrierInval, "mbarrier.inval", Family::Other},
    {Op::MbarrierArrive, "mbarrier.arrive", Family::Other},
    {Op::MbarrierExpectTx, "mbarrier.expect_tx", Family::Other},
    {Op::MbarrierCompleteTx, "mbarrier.complete_tx", Family::Other},
    {Op::MbarrierWait, "mbarrier.wait", Family::Other},
    {Op::MbarrierPendingCount, "mbarrier.pending_count", Family::Other},
    {Op::BulkCopy, "cp.async.bulk", Family::Other},
    {Op::BulkReduce, "cp.reduce.async.bulk", Family::Other},
    {Op::BulkPrefetch, "cp.async.bulk.prefetch", Family::Other},
    {Op::BulkCommit, "cp.async.bulk.commit_group", Family::Other},
    {Op::BulkWait, "cp.async.bulk.wait_group", Family::Other},
    {Op::TensorLoad, "cp.async.bulk.tensor", Family::Other},
    {Op::TensorStore, "cp.async.bulk.tensor", Family::Other},
    {Op::TensorReduce, "cp.reduce.async.bulk.tensor", Family::Other},
    {Op::TensorPrefetch, "cp.async.bulk.prefetch.tensor", Family::Other},
    {Op::TensormapReplace, "tensormap.replace", Family::Other},
    {Op::TensormapCopy, "tensormap.cp_fenceproxy", Family::Other},
    {Op::StAsync, "st.async", Family::Other},
    {Op::RedAsync, "red.async", Family::Other},
    {Op::Wgmma, "wgmma.mma_async", Family::Other},
    {Op::WgmmaFence, "wgmma.fence", Family::Other},
    {Op::WgmmaCommit, "wgmma.commit_group", Family::Other},
    {Op::WgmmaWait, "wgmma.wait_group", Family::Other},
};

static constexpr bool isInOrder() {
  for (std::size_t i = 0; i < std::size(kOps); ++i) {
    if (static_cast<std::size_t>(kOps[i].op) != i) {
      return false;
    }
  }
  return true;
}
static_assert(isInOrder(), "kOps lists the operations in the order of Op");

static const OpFacts &factsOf(Op op) {
  const auto index = static_cast<std::size_t>(op);
  return kOps[index < std::size(kOps) ? index : 0];
}

std::string_view opName(Op op) {
  return factsOf(op).name;
}

static bool isFloatType(Type type) {
  switch (type) {
  case Type::F16:
  case Type::F16x2:
  case Type::BF16:
  case Type::BF16x2:
  case Type::F32:
  case Type::F64:
  case Type::E4M3x2:
  case Type::E5M2x2:
  case Type::TF32:
    return true;
  default: // integers, untyped, predicates
    return false;
  }
}

InstructionClass classify(const Instruction &instruction) {
  switch (factsOf(instruction.op).family) {
  case Family::Integer:
    return InstructionClass::Integer;
  case Family::Float:
    return InstructionClass::Float;
  case Family::Typed:
    return isFloatType(instruction.type) ? InstructionClass::Float : InstructionClass::Integer;
  case Family::Conversion:
    return isFloatType(instruction.type) || isFloatType(instruction.srcType)
               ? InstructionClass::Float
               : InstructionClass::Integer;
  case Family::Other:
    break;
  }
  return InstructionClass::Other;
}

bool isPredicateOperand(const Instruction &instruction, unsigned index) {
  const unsigned numDst = instruction.numDst;
  const unsigned last = numDst + instruction.numSrc - 1U;
  switch (instruction.op) {
  case Op::Mov:
  case Op::And:
  case Op::Or:
  case Op::Xor:
  case Op::Not:
    return instruction.type == Type::Pred;
  case Op::Setp:
    return index < numDst || index == numDst + 2;
  case Op::Set:
  case Op::Selp:
    return index == numDst + 2;
  case Op::Testp:
  case Op::IsSpacep:
    return index == 0;
  case Op::Shfl:
  case Op::MatchAll:
    return index == 1 && numDst > 1;
  case Op::VoteAll:
  case Op::VoteAny:
  case Op::VoteUni:
    return index <= 1;
  case Op::VoteBallot:
    return index == 1;
  case Op::BarRed:
    return index == last || (index == 0 && instruction.mods.boolOp != BoolOp::Popc);
  case Op::CpAsync:
    return index == 3;
  case Op::Elect:
    return index == 1;
  case Op::MbarrierWait:
    return index == 0;
  case Op::Wgmma:
    return index == last;
  default: // slots only
    return false;
  }
}

bool isAlignedOperation(const Instruction &instruction) {
  switch (instruction.op) {
  case Op::LdMatrix:
  case Op::StMatrix:
  case Op::MovMatrix:
  case Op::Mma:
  case Op::Wgmma:
  case Op::WgmmaFence:
  case Op::WgmmaCommit:
  case Op::WgmmaWait:
  case Op::SetMaxNReg:
  case Op::BarSync:
  case Op::BarArrive:
  case Op::BarRed:
    return true;
  case Op::ClusterArrive:
  case Op::ClusterWait:
    return instruction.mods.aligned;
  default: // member masks say who is needed
    return false;
  }
}

std::string_view typeText(Type type) {
  static constexpr std::string_view kNames[] = {
      "",       "pred", "b8",  "b16",    "b32",    "b64",  "b128",  "u8",    "u16",
      "u32",    "u64",  "s8",  "s16",    "s32",    "s64",  "f16",   "f16x2", "bf16",
      "bf16x2", "f32",  "f64", "e4m3x2", "e5m2x2", "tf32", "u16x2", "s16x2"};
  const auto index = static_cast<std::size_t>(type);
  return index < std::size(kNames) ? kNames[index] : "";
}

static std::string_view spaceName(Space space) {
  switch (space) {
  case Space::Global:
    return ".global";
  case Space::Shared:
    return ".shared";
  case Space::SharedCluster:
    return ".shared::cluster";
  case Space::Local:
    return ".local";
  case Space::Param:
    return ".param";
  case Space::Const:
    return ".const";
  case Space::Generic:
    break;
  }
  return "";
}

std::string instructionName(const Instruction &instruction) {
  std::string name(opName(instruction.op));
  switch (instruction.op) {
  case Op::Ld:
  case Op::St:
  case Op::Atom:
  case Op::Red:
    name += spaceName(instruction.space);
    if (instruction.vector > 1) {
      name += ".v" + std::to_string(instruction.vector);
    }
    break;
  case Op::LdMatrix:
    return name + ".x" + std::to_string(instruction.vector);
  case Op::Mma:
    return name + ".m" + std::to_string(instruction.mods.m) + "n" +
           std::to_string(instruction.mods.n) + "k" + std::to_string(instruction.mods.k);
  default: // the type is all that matters
    break;
  }
  if (instruction.type != Type::None) {
    name += "." + std::string(typeText(instruction.type));
  }
  if (instruction.op == Op::Cvt || instruction.op == Op::CvtPack) {
    name += "." + std::string(typeText(instruction.srcType));
  }
  return name;
}

} // namespace fp8jit::emulator
