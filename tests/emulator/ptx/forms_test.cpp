// One statement per instruction form; what it must decode to is written from the PTX ISA 9.1.
#include "emulator/ptx/forms.h"
#include "tests/emulator/ptx/ptx_support.h"

#include <gtest/gtest.h>

namespace fp8jit::emulator {
namespace {

using testing::decodeKernel;

struct FormCase {
  const char *text;
  Op op;
  Type type;
  Type srcType;
  int numDst;
  int numSrc;
};

const FormCase kMoveCases[] = {
    {"mov.u32 %r1, %r2;", Op::Mov, Type::U32, Type::None, 1, 1},
    {"mov.pred %p1, %p2;", Op::Mov, Type::Pred, Type::None, 1, 1},
    {"mov.pred %p1, -1;", Op::Mov, Type::Pred, Type::None, 1, 1},
    {"mov.f32 %f1, 0f3F800000;", Op::Mov, Type::F32, Type::None, 1, 1},
    {"mov.b32 %r1, %f1;", Op::Mov, Type::B32, Type::None, 1, 1},
    {"mov.u64 %rd1, table;", Op::Mov, Type::U64, Type::None, 1, 1},
    {"mov.u32 %r1, tile;", Op::Mov, Type::U32, Type::None, 1, 1},
    {"mov.b64 %rd1, {%r1, %r2};", Op::MovPack, Type::B64, Type::B32, 1, 2},
    {"mov.b32 %r1, {%h1, %h2};", Op::MovPack, Type::B32, Type::B16, 1, 2},
    {"mov.b64 %rd1, {%h1, %h2, %h3, %h4};", Op::MovPack, Type::B64, Type::B16, 1, 4},
    {"mov.b64 {%r1, %r2}, %rd1;", Op::MovUnpack, Type::B64, Type::B32, 2, 1},
    {"mov.b32 {_, %h2}, %r1;", Op::MovUnpack, Type::B32, Type::B16, 2, 1},
    {"mov.u32 %r1, %clock;", Op::ReadSpecial, Type::U32, Type::None, 1, 0},
    {"mov.u64 %rd1, %globaltimer;", Op::ReadSpecial, Type::U64, Type::None, 1, 0},
    {"cvta.shared.u64 %rd1, %rd2;", Op::Cvta, Type::U64, Type::None, 1, 1},
    {"cvta.to.global.u64 %rd1, %rd2;", Op::CvtaTo, Type::U64, Type::None, 1, 1},
    {"isspacep.shared %p1, %rd1;", Op::IsSpacep, Type::None, Type::None, 1, 1},
    {"cvt.u32.u64 %r1, %rd1;", Op::Cvt, Type::U32, Type::U64, 1, 1},
    {"cvt.s64.s32 %rd1, %r1;", Op::Cvt, Type::S64, Type::S32, 1, 1},
    {"cvt.s32.s8 %r1, %r2;", Op::Cvt, Type::S32, Type::S8, 1, 1},
    {"cvt.u8.u32 %h1, %r2;", Op::Cvt, Type::U8, Type::U32, 1, 1},
    {"cvt.u16.u32 %h1, %r2;", Op::Cvt, Type::U16, Type::U32, 1, 1},
    {"cvt.rn.f32.s32 %f1, %r1;", Op::Cvt, Type::F32, Type::S32, 1, 1},
    {"cvt.rzi.s32.f32 %r1, %f1;", Op::Cvt, Type::S32, Type::F32, 1, 1},
    {"cvt.rni.f32.f32 %f1, %f2;", Op::Cvt, Type::F32, Type::F32, 1, 1},
    {"cvt.sat.f32.f32 %f1, %f2;", Op::Cvt, Type::F32, Type::F32, 1, 1},
    {"cvt.f64.f32 %d1, %f1;", Op::Cvt, Type::F64, Type::F32, 1, 1},
    {"cvt.rn.f32.f64 %f1, %d1;", Op::Cvt, Type::F32, Type::F64, 1, 1},
    {"cvt.f32.f16 %f1, %h1;", Op::Cvt, Type::F32, Type::F16, 1, 1},
    {"cvt.f32.bf16 %f1, %h1;", Op::Cvt, Type::F32, Type::BF16, 1, 1},
    {"cvt.rn.f16.f32 %h1, %f1;", Op::Cvt, Type::F16, Type::F32, 1, 1},
    {"cvt.rn.bf16.f32 %h1, %f1;", Op::Cvt, Type::BF16, Type::F32, 1, 1},
    {"cvt.rn.bf16x2.f32 %r1, %f1, %f2;", Op::CvtPack, Type::BF16x2, Type::F32, 1, 2},
    {"cvt.rn.f16x2.f32 %r1, %f1, %f2;", Op::CvtPack, Type::F16x2, Type::F32, 1, 2},
    {"cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;", Op::CvtPack, Type::E4M3x2, Type::F32, 1, 2},
    {"cvt.rn.satfinite.e5m2x2.f32 %h1, %f1, %f2;", Op::CvtPack, Type::E5M2x2, Type::F32, 1, 2},
    {"cvt.rn.satfinite.e4m3x2.f16x2 %h1, %r1;", Op::Cvt, Type::E4M3x2, Type::F16x2, 1, 1},
    {"cvt.rna.tf32.f32 %r1, %f1;", Op::Cvt, Type::TF32, Type::F32, 1, 1},
    {"cvt.rn.f16x2.e5m2x2 %r1, %h1;", Op::Cvt, Type::F16x2, Type::E5M2x2, 1, 1},
};

const FormCase kArithmeticCases[] = {
    {"add.s32 %r1, %r2, 5;", Op::Add, Type::S32, Type::None, 1, 2},
    {"add.s64 %rd1, %rd2, -16;", Op::Add, Type::S64, Type::None, 1, 2},
    {"add.f32 %f1, %f2, %f3;", Op::Add, Type::F32, Type::None, 1, 2},
    {"add.rn.f16x2 %r1, %r2, %r3;", Op::Add, Type::F16x2, Type::None, 1, 2},
    {"add.cc.u32 %r1, %r2, %r3;", Op::Add, Type::U32, Type::None, 1, 2},
    {"addc.u32 %r1, %r2, %r3;", Op::Addc, Type::U32, Type::None, 1, 2},
    {"sub.u16 %h1, %h2, %h3;", Op::Sub, Type::U16, Type::None, 1, 2},
    {"subc.cc.s32 %r1, %r2, %r3;", Op::Subc, Type::S32, Type::None, 1, 2},
    {"mul.lo.s32 %r1, %r2, %r3;", Op::MulLo, Type::S32, Type::None, 1, 2},
    {"mul.hi.u64 %rd1, %rd2, %rd3;", Op::MulHi, Type::U64, Type::None, 1, 2},
    {"mul.wide.s32 %rd1, %r2, 4;", Op::MulWide, Type::S32, Type::None, 1, 2},
    {"mul.wide.u16 %r1, %h2, %h3;", Op::MulWide, Type::U16, Type::None, 1, 2},
    {"mul.rn.f32 %f1, %f2, %f3;", Op::Mul, Type::F32, Type::None, 1, 2},
    {"mad.lo.s32 %r1, %r2, %r3, %r4;", Op::MadLo, Type::S32, Type::None, 1, 3},
    {"mad.wide.u32 %rd1, %r2, %r3, %rd4;", Op::MadWide, Type::U32, Type::None, 1, 3},
    {"madc.hi.u32 %r1, %r2, %r3, %r4;", Op::MadHi, Type::U32, Type::None, 1, 3},
    {"fma.rn.f32 %f1, %f2, %f3, %f4;", Op::Fma, Type::F32, Type::None, 1, 3},
    {"fma.rn.bf16x2 %r1, %r2, %r3, %r4;", Op::Fma, Type::BF16x2, Type::None, 1, 3},
    {"div.s32 %r1, %r2, %r3;", Op::Div, Type::S32, Type::None, 1, 2},
    {"div.rn.f32 %f1, %f2, %f3;", Op::Div, Type::F32, Type::None, 1, 2},
    {"div.full.f32 %f1, %f2, %f3;", Op::Div, Type::F32, Type::None, 1, 2},
    {"rem.u32 %r1, %r2, 7;", Op::Rem, Type::U32, Type::None, 1, 2},
    {"min.s32 %r1, %r2, %r3;", Op::Min, Type::S32, Type::None, 1, 2},
    {"max.NaN.f32 %f1, %f2, %f3;", Op::Max, Type::F32, Type::None, 1, 2},
    {"max.bf16x2 %r1, %r2, %r3;", Op::Max, Type::BF16x2, Type::None, 1, 2},
    {"abs.f32 %f1, %f2;", Op::Abs, Type::F32, Type::None, 1, 1},
    {"neg.s32 %r1, %r2;", Op::Neg, Type::S32, Type::None, 1, 1},
    {"rcp.rn.f32 %f1, %f2;", Op::Rcp, Type::F32, Type::None, 1, 1},
    {"sqrt.approx.ftz.f32 %f1, %f2;", Op::Sqrt, Type::F32, Type::None, 1, 1},
    {"rsqrt.approx.f32 %f1, %f2;", Op::Rsqrt, Type::F32, Type::None, 1, 1},
    {"ex2.approx.ftz.f32 %f1, %f2;", Op::Ex2, Type::F32, Type::None, 1, 1},
    {"lg2.approx.f32 %f1, %f2;", Op::Lg2, Type::F32, Type::None, 1, 1},
    {"tanh.approx.f32 %f1, %f2;", Op::Tanh, Type::F32, Type::None, 1, 1},
    {"copysign.f32 %f1, %f2, %f3;", Op::Copysign, Type::F32, Type::None, 1, 2},
    {"and.b32 %r1, %r2, 31;", Op::And, Type::B32, Type::None, 1, 2},
    {"or.pred %p1, %p2, %p3;", Op::Or, Type::Pred, Type::None, 1, 2},
    {"not.b64 %rd1, %rd2;", Op::Not, Type::B64, Type::None, 1, 1},
    {"shl.b64 %rd1, %rd2, 3;", Op::Shl, Type::B64, Type::None, 1, 2},
    {"shr.s32 %r1, %r2, %r3;", Op::Shr, Type::S32, Type::None, 1, 2},
    {"shf.l.wrap.b32 %r1, %r2, %r3, 7;", Op::ShfLWrap, Type::B32, Type::None, 1, 3},
    {"shf.r.clamp.b32 %r1, %r2, %r3, 7;", Op::ShfRClamp, Type::B32, Type::None, 1, 3},
    {"bfe.u32 %r1, %r2, 8, 4;", Op::Bfe, Type::U32, Type::None, 1, 3},
    {"bfi.b32 %r1, %r2, %r3, 8, 4;", Op::Bfi, Type::B32, Type::None, 1, 4},
    {"prmt.b32 %r1, %r2, %r3, 0x5410;", Op::Prmt, Type::B32, Type::None, 1, 3},
    {"lop3.b32 %r1, %r2, %r3, %r4, 0x96;", Op::Lop3, Type::B32, Type::None, 1, 3},
    {"popc.b64 %r1, %rd2;", Op::Popc, Type::B64, Type::None, 1, 1},
    {"clz.b32 %r1, %r2;", Op::Clz, Type::B32, Type::None, 1, 1},
    {"bfind.shiftamt.u32 %r1, %r2;", Op::Bfind, Type::U32, Type::None, 1, 1},
    {"brev.b32 %r1, %r2;", Op::Brev, Type::B32, Type::None, 1, 1},
    {"testp.subnormal.f32 %p1, %f1;", Op::Testp, Type::F32, Type::None, 1, 1},
    {"setp.lt.s32 %p1, %r1, %r2;", Op::Setp, Type::S32, Type::None, 2, 2},
    {"setp.geu.f32 %p1, %f1, %f2;", Op::Setp, Type::F32, Type::None, 2, 2},
    {"setp.ne.and.b64 %p1|%p2, %rd1, %rd2, !%p3;", Op::Setp, Type::B64, Type::None, 2, 3},
    {"set.eq.u32.f32 %r1, %f2, %f3;", Op::Set, Type::U32, Type::F32, 1, 2},
    {"selp.f32 %f1, %f2, %f3, %p1;", Op::Selp, Type::F32, Type::None, 1, 3},
    {"set.eq.f16x2.f16x2 %r1, %r2, %r3;", Op::Set, Type::F16x2, Type::F16x2, 1, 2},
    {"set.lt.and.u16.f16 %h1, %h2, %h3, %p1;", Op::Set, Type::U16, Type::F16, 1, 3},
    {"dp4a.u32.s32 %r1, %r2, %r3, %r4;", Op::Dp4a, Type::U32, Type::S32, 1, 3},
    {"dp2a.hi.s32.s32 %r1, %r2, %r3, %r4;", Op::Dp2a, Type::S32, Type::S32, 1, 3},
    {"mul24.hi.s32 %r1, %r2, %r3;", Op::Mul24, Type::S32, Type::None, 1, 2},
    {"mad24.lo.u32 %r1, %r2, %r3, %r4;", Op::Mad24, Type::U32, Type::None, 1, 3},
    {"vabsdiff4.u32.s32.s32.add %r1, %r2, %r3, %r4;", Op::Vabsdiff4, Type::S32, Type::None, 1, 3},
    {"ex2.approx.f16x2 %r1, %r2;", Op::Ex2, Type::F16x2, Type::None, 1, 1},
    {"tanh.approx.f16 %h1, %h2;", Op::Tanh, Type::F16, Type::None, 1, 1},
    {"slct.u32.s32 %r1, %r2, %r3, %r4;", Op::Slct, Type::U32, Type::S32, 1, 3},
};

const FormCase kMemoryCases[] = {
    {"ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];", Op::Ld,
     Type::U32, Type::None, 4, 1},
    {"ld.shared.v2.f32 {%f1, _}, [%r1+8];", Op::Ld, Type::F32, Type::None, 2, 1},
    {"ld.global.u8 %h1, [%rd1];", Op::Ld, Type::U8, Type::None, 1, 1},
    {"ld.global.s8 %rd2, [%rd1];", Op::Ld, Type::S8, Type::None, 1, 1},
    {"ld.acquire.gpu.global.u32 %r1, [%rd1];", Op::Ld, Type::U32, Type::None, 1, 1},
    {"ld.volatile.shared.u32 %r1, [tile+4];", Op::Ld, Type::U32, Type::None, 1, 1},
    {"ld.u64 %rd1, [%rd2];", Op::Ld, Type::U64, Type::None, 1, 1},
    {"ld.param.u64 %rd1, [k_0];", Op::LdParam, Type::U64, Type::None, 1, 0},
    {"ld.param.v2.u32 {%r1, %r2}, [k_2+16];", Op::LdParam, Type::U32, Type::None, 2, 0},
    {"ld.param.u8 %h1, [%rd1+3];", Op::LdParam, Type::U8, Type::None, 1, 1},
    {"st.global.cs.v4.b32 [%rd1], {%r1, %r2, %r3, %r4};", Op::St, Type::B32, Type::None, 0, 5},
    {"st.shared.u8 [%r1], %r2;", Op::St, Type::U8, Type::None, 0, 2},
    {"st.release.gpu.global.u32 [%rd1], 1;", Op::St, Type::U32, Type::None, 0, 2},
    {"prefetchu.L1 [%rd1];", Op::Prefetch, Type::None, Type::None, 0, 1},
    {"applypriority.global.L2::evict_normal [%rd1], 128;", Op::Prefetch, Type::None, Type::None, 0,
     1},
    {"discard.global.L2 [%rd1], 128;", Op::Prefetch, Type::None, Type::None, 0, 1},
    {"atom.global.add.noftz.f16 %h1, [%rd1], %h2;", Op::Atom, Type::F16, Type::None, 1, 2},
    {"prefetch.global.L2 [%rd1];", Op::Prefetch, Type::None, Type::None, 0, 1},
    {"atom.global.add.f32 %f1, [%rd1], %f2;", Op::Atom, Type::F32, Type::None, 1, 2},
    {"atom.shared.cas.b32 %r1, [%r2], %r3, %r4;", Op::Atom, Type::B32, Type::None, 1, 3},
    {"atom.acq_rel.gpu.global.max.s32 %r1, [%rd1], %r3;", Op::Atom, Type::S32, Type::None, 1, 2},
    {"red.global.max.u32 [%rd1], %r1;", Op::Red, Type::U32, Type::None, 0, 2},
    {"cp.async.cg.shared.global.L2::128B [%r1], [%rd1], 16, %r2;", Op::CpAsync, Type::None,
     Type::None, 0, 4},
    {"cp.async.ca.shared.global [%r1], [%rd1], 4;", Op::CpAsync, Type::None, Type::None, 0, 4},
    {"cp.async.ca.shared::cta.global [%r1], [%rd1], 8, %p1;", Op::CpAsync, Type::None, Type::None,
     0, 4},
    {"cp.async.commit_group;", Op::CpAsyncCommit, Type::None, Type::None, 0, 0},
    {"cp.async.wait_group 3;", Op::CpAsyncWait, Type::None, Type::None, 0, 0},
    {"cp.async.wait_all;", Op::CpAsyncWaitAll, Type::None, Type::None, 0, 0},
    {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1,%r2,%r3,%r4}, [%r5];", Op::LdMatrix, Type::B16,
     Type::None, 4, 1},
    {"ldmatrix.sync.aligned.x1.m8n8.trans.shared.b16 %r1, [%r5];", Op::LdMatrix, Type::B16,
     Type::None, 1, 1},
    {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%f1,%f2,%f3,%f4}, "
     "{%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f5,%f6,%f7,%f8};",
     Op::Mma, Type::F32, Type::F32, 4, 10},
    {"mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16 {%r1,%r2}, {%r1,%r2,%r3,%r4}, "
     "{%r5,%r6}, {%r7,%r8};",
     Op::Mma, Type::F16, Type::F16, 2, 8},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1,%f2,%f3,%f4}, "
     "{%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f5,%f6,%f7,%f8};",
     Op::Mma, Type::F32, Type::F32, 4, 10},
    {"mma.sync.aligned.m16n8k16.row.col.f32.e5m2.e4m3.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r5}, "
     "{%f5,%f6,%f7,%f8};",
     Op::Mma, Type::F32, Type::F32, 4, 7},
    {"mma.sync.aligned.m16n8k16.row.col.f16.e4m3.e4m3.f16 {%r1,%r2}, {%r3,%r4}, {%r5}, "
     "{%r6,%r7};",
     Op::Mma, Type::F16, Type::F16, 2, 5},
    {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r5}, "
     "{%f5,%f6,%f7,%f8};",
     Op::Mma, Type::F32, Type::F32, 4, 7},
    {"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r5}, "
     "{%f5,%f6,%f7,%f8};",
     Op::Mma, Type::F32, Type::F32, 4, 7},
    {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r1,%r2}, {%r3,%r4}, {%r5}, {%r6,%r7};",
     Op::Mma, Type::F16, Type::F16, 2, 5},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, "
     "{%r5,%r6}, {%f5,%f6,%f7,%f8};",
     Op::Mma, Type::F32, Type::F32, 4, 10},
    {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r5}, "
     "{%f5,%f6,%f7,%f8};",
     Op::Mma, Type::F32, Type::F32, 4, 7},
};

const FormCase kControlCases[] = {
    {"bra.uni END; END:", Op::Bra, Type::None, Type::None, 0, 0},
    {"ret;", Op::Ret, Type::None, Type::None, 0, 0},
    {"brkpt;", Op::Trap, Type::None, Type::None, 0, 0},
    {"pmevent 7;", Op::Nop, Type::None, Type::None, 0, 0},
    {"exit;", Op::Exit, Type::None, Type::None, 0, 0},
    {"trap;", Op::Trap, Type::None, Type::None, 0, 0},
    {"nanosleep.u32 100;", Op::Nanosleep, Type::U32, Type::None, 0, 1},
    {"shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1;", Op::Shfl, Type::B32, Type::None, 2, 4},
    {"shfl.sync.idx.b32 %r1, %r2, %r3, 31, -1;", Op::Shfl, Type::B32, Type::None, 2, 4},
    {"vote.sync.all.pred %p1, !%p2, -1;", Op::VoteAll, Type::Pred, Type::None, 1, 2},
    {"vote.sync.ballot.b32 %r1, %p2, -1;", Op::VoteBallot, Type::B32, Type::None, 1, 2},
    {"redux.sync.max.s32 %r1, %r2, -1;", Op::Redux, Type::S32, Type::None, 1, 2},
    {"match.any.sync.b64 %r1, %rd2, -1;", Op::MatchAny, Type::B64, Type::None, 1, 2},
    {"match.all.sync.b32 %r1|%p1, %r2, -1;", Op::MatchAll, Type::B32, Type::None, 2, 2},
    {"activemask.b32 %r1;", Op::Activemask, Type::B32, Type::None, 1, 0},
    {"bar.warp.sync -1;", Op::BarWarpSync, Type::None, Type::None, 0, 1},
    {"bar.sync 0;", Op::BarSync, Type::None, Type::None, 0, 2},
    {"barrier.sync.aligned 1, 64;", Op::BarSync, Type::None, Type::None, 0, 2},
    {"bar.arrive 2, 64;", Op::BarArrive, Type::None, Type::None, 0, 2},
    {"bar.red.popc.u32 %r1, 0, !%p1;", Op::BarRed, Type::U32, Type::None, 1, 3},
    {"bar.red.or.pred %p1, 0, 128, %p2;", Op::BarRed, Type::Pred, Type::None, 1, 3},
    {"membar.gl;", Op::Membar, Type::None, Type::None, 0, 0},
    {"fence.acq_rel.gpu;", Op::Membar, Type::None, Type::None, 0, 0},
};

void expectDecodes(const FormCase &test) {
  SCOPED_TRACE(test.text);
  const Kernel kernel = decodeKernel(test.text);
  ASSERT_FALSE(kernel.code.empty());
  const Instruction &instruction = kernel.code[0];

  EXPECT_EQ(instruction.op, test.op);
  EXPECT_EQ(instruction.type, test.type);
  EXPECT_EQ(instruction.srcType, test.srcType);
  EXPECT_EQ(int{instruction.numDst}, test.numDst);
  EXPECT_EQ(int{instruction.numSrc}, test.numSrc);
  EXPECT_EQ(instruction.line, testing::kBodyLine);
  EXPECT_EQ(kernel.operands.size(), static_cast<std::size_t>(test.numDst + test.numSrc));
}

TEST(InstructionFormTest, DecodesMovesAndConversions) {
  for (const FormCase &test : kMoveCases) {
    expectDecodes(test);
  }
}

TEST(InstructionFormTest, DecodesArithmeticAndComparison) {
  for (const FormCase &test : kArithmeticCases) {
    expectDecodes(test);
  }
}

TEST(InstructionFormTest, DecodesMemoryCopiesAndMatrices) {
  for (const FormCase &test : kMemoryCases) {
    expectDecodes(test);
  }
}

TEST(InstructionFormTest, DecodesControlAndCollectives) {
  for (const FormCase &test : kControlCases) {
    expectDecodes(test);
  }
}

TEST(InstructionFormTest, DescriptionHasALineForEveryRow) {
  const std::string text = describeForms();
  std::size_t rows = 0;
  for (const std::span<const Form> forms : allForms()) {
    rows += forms.size();
  }

  EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), rows);
  EXPECT_NE(text.find("cvt rn satfinite ?relu T:e4m3x2,e5m2x2 S:f32 ( dT sS sS ) sm_89\n"),
            std::string::npos);
}

} // namespace
} // namespace fp8jit::emulator
