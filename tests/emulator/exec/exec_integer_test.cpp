// Integer and bit instructions at their edges; expectations worked out from the PTX ISA's rules.
#include "tests/emulator/exec/lane_program.h"

namespace fp8jit::emulator::testing {

TEST(IntegerTest, WrapsAndSaturates) {
  runCases("add.s32 %d, %a, %b;", 'd', {{0x7fffffff, 1, 0, 0x80000000}, {5, 7, 0, 12}});
  runCases("add.sat.s32 %d, %a, %b;", 'd',
           {{0x7fffffff, 1, 0, 0x7fffffff},
            {0x80000000, 0xffffffff, 0, 0x80000000},
            {3, 0xfffffffe, 0, 1}});
  runCases("sub.sat.s32 %d, %a, %b;", 'd',
           {{0x80000000, 1, 0, 0x80000000}, {0x7fffffff, 0xffffffff, 0, 0x7fffffff}});
  runCases("add.u16 %hd, %ha, %hb;", 'h', {{0xffff, 2, 0, 1}});
  runCases("sub.s64 %xd, %xa, %xb;", 'x', {{0, 1, 0, ~std::uint64_t{0}}});
  runCases("neg.s32 %d, %a;", 'd', {{0x80000000, 0, 0, 0x80000000}, {1, 0, 0, 0xffffffff}});
  runCases("abs.s32 %d, %a;", 'd', {{0x80000000, 0, 0, 0x80000000}, {0xfffffffb, 0, 0, 5}});
  runCases("abs.s16 %hd, %ha;", 'h', {{0xfffe, 0, 0, 2}});
}

TEST(IntegerTest, MultipliesInAllWidths) {
  runCases("mul.lo.u32 %d, %a, %b;", 'd', {{0x10001, 0x10001, 0, 0x20001}});
  runCases("mul.hi.u32 %d, %a, %b;", 'd', {{0xffffffff, 0xffffffff, 0, 0xfffffffe}});
  runCases("mul.hi.s32 %d, %a, %b;", 'd',
           {{0xffffffff, 0xffffffff, 0, 0}, {0x80000000, 2, 0, 0xffffffff}});
  runCases("mul.wide.s32 %xd, %a, %b;", 'x', {{0xffffffff, 3, 0, 0xfffffffffffffffd}});
  runCases("mul.wide.u32 %xd, %a, %b;", 'x', {{0xffffffff, 3, 0, 0x2fffffffd}});
  runCases("mul.wide.s16 %d, %ha, %hb;", 'd', {{0xffff, 3, 0, 0xfffffffd}});
  runCases("mul.hi.u64 %xd, %xa, %xb;", 'x', {{~std::uint64_t{0}, 2, 0, 1}});
  runCases("mul.lo.s16 %hd, %ha, %hb;", 'h', {{0xffff, 0xffff, 0, 1}});
  runCases("mad.lo.s32 %d, %a, %b, %c;", 'd', {{3, 4, 5, 17}, {0xffffffff, 4, 5, 1}});
  runCases("mad.wide.u32 %xd, %a, %b, %xc;", 'x', {{0xffffffff, 2, 3, 0x200000001}});
  runCases("mad.hi.s32 %d, %a, %b, %c;", 'd', {{0x40000000, 8, 1, 3}});
  runCases("sad.s32 %d, %a, %b, %c;", 'd', {{2, 0xffffffff, 10, 13}});
}

TEST(IntegerTest, DividesLikeHardwareByZero) {
  runCases("div.u32 %d, %a, %b;", 'd', {{7, 2, 0, 3}, {7, 0, 0, 0xffffffff}});
  runCases("div.s32 %d, %a, %b;", 'd',
           {{0xfffffff9, 2, 0, 0xfffffffd}, {0x80000000, 0xffffffff, 0, 0x80000000}});
  runCases("rem.s32 %d, %a, %b;", 'd',
           {{0xfffffff9, 2, 0, 0xffffffff}, {7, 0, 0, 7}, {0x80000000, 0xffffffff, 0, 0}});
  runCases("rem.u64 %xd, %xa, %xb;", 'x', {{100, 7, 0, 2}});
  runCases("min.s32 %d, %a, %b;", 'd', {{0xffffffff, 1, 0, 0xffffffff}});
  runCases("min.u32 %d, %a, %b;", 'd', {{0xffffffff, 1, 0, 1}});
  runCases("max.s64 %xd, %xa, %xb;", 'x', {{~std::uint64_t{0}, 1, 0, 1}});
}

TEST(IntegerTest, CarriesThroughChains) {
  runCases("add.cc.u32 %d, %a, %b; addc.u32 %d, %c, 0;", 'd',
           {{0xffffffff, 1, 5, 6}, {0xfffffffe, 1, 5, 5}});
  runCases("sub.cc.u32 %d, %a, %b; subc.u32 %d, %c, 0;", 'd', {{0, 1, 5, 4}, {1, 1, 5, 5}});
  runCases("mad.lo.cc.u32 %d, %a, %b, %c; madc.hi.u32 %d, %a, %b, 7;", 'd',
           {{0xffffffff, 2, 2, 9}, {0xffffffff, 2, 1, 8}});
}

TEST(BitsTest, ClampsShiftCounts) {
  runCases("shl.b32 %d, %a, %b;", 'd',
           {{1, 31, 0, 0x80000000}, {1, 32, 0, 0}, {1, 0xffffffff, 0, 0}});
  runCases("shr.u32 %d, %a, %b;", 'd', {{0x80000000, 31, 0, 1}, {0x80000000, 32, 0, 0}});
  runCases("shr.s32 %d, %a, %b;", 'd', {{0x80000000, 32, 0, 0xffffffff}, {0x40000000, 100, 0, 0}});
  runCases("shl.b64 %xd, %xa, %b;", 'x', {{1, 63, 0, std::uint64_t{1} << 63}, {1, 64, 0, 0}});
  runCases("shr.s64 %xd, %xa, %b;", 'x', {{std::uint64_t{1} << 63, 64, 0, ~std::uint64_t{0}}});
  runCases("shl.b16 %hd, %ha, %b;", 'h', {{0xff, 8, 0, 0xff00}, {1, 16, 0, 0}});
  runCases("shr.s16 %hd, %ha, %b;", 'h', {{0x8000, 20, 0, 0xffff}});
  runCases("shf.l.wrap.b32 %d, %a, %b, %c;", 'd', {{0x80000000, 1, 1, 3}, {5, 6, 32, 6}});
  runCases("shf.l.clamp.b32 %d, %a, %b, %c;", 'd', {{5, 6, 40, 5}});
  runCases("shf.r.wrap.b32 %d, %a, %b, %c;", 'd', {{2, 1, 1, 0x80000001}, {5, 6, 32, 5}});
  runCases("shf.r.clamp.b32 %d, %a, %b, %c;", 'd', {{5, 6, 40, 6}});
}

TEST(BitsTest, ExtractsAndInsertsFields) {
  runCases(
      "bfe.u32 %d, %a, %b, %c;", 'd',
      {{0xabcdef12, 8, 8, 0xef}, {0xabcdef12, 8, 0, 0}, {0xabcdef12, 28, 8, 0xa}, {1, 40, 8, 0}});
  runCases("bfe.s32 %d, %a, %b, %c;", 'd',
           {{0xabcdef12, 8, 8, 0xffffffef},
            {0xabcdef12, 28, 8, 0xfffffffa},
            {0x80000000, 40, 8, 0xffffffff},
            {0x7fffffff, 0, 32, 0x7fffffff}});
  runCases("bfe.u64 %xd, %xa, %b, %c;", 'x', {{0x123456789abcdef0, 60, 8, 1}});
  runCases("bfi.b32 %d, %a, %b, %c, 8;", 'd',
           {{0xff, 0, 4, 0xff0}, {0xff, 0x11111111, 28, 0xf1111111}, {0xff, 7, 32, 7}});
  runCases("bfi.b64 %xd, %xa, %xb, %c, 16;", 'x', {{0xffff, 0, 48, 0xffff000000000000}});
}

TEST(BitsTest, CountsAndReverses) {
  runCases("popc.b32 %d, %a;", 'd', {{0xf0f0, 0, 0, 8}});
  runCases("popc.b64 %d, %xa;", 'd', {{~std::uint64_t{0}, 0, 0, 64}});
  runCases("clz.b32 %d, %a;", 'd', {{0, 0, 0, 32}, {1, 0, 0, 31}});
  runCases("clz.b64 %d, %xa;", 'd', {{0, 0, 0, 64}, {1, 0, 0, 63}});
  runCases("brev.b32 %d, %a;", 'd', {{1, 0, 0, 0x80000000}, {0x12345678, 0, 0, 0x1e6a2c48}});
  runCases("brev.b64 %xd, %xa;", 'x', {{1, 0, 0, std::uint64_t{1} << 63}});
  runCases("bfind.u32 %d, %a;", 'd', {{0x100, 0, 0, 8}, {0, 0, 0, 0xffffffff}});
  runCases("bfind.s32 %d, %a;", 'd', {{0xffffff00, 0, 0, 7}, {0xffffffff, 0, 0, 0xffffffff}});
  runCases("bfind.shiftamt.u32 %d, %a;", 'd', {{0x100, 0, 0, 23}});
}

TEST(BitsTest, PermutesBytes) {
  runCases("prmt.b32 %d, %a, %b, %c;", 'd',
           {{0x33221100, 0x77665544, 0x3210, 0x33221100},
            {0x33221100, 0x77665544, 0x7654, 0x77665544},
            {0x33221180, 0x77665544, 0x8889, 0xffffff00},
            {0x33221100, 0x77665544, 0x0426, 0x00442266}});
  runCases("prmt.b32.f4e %d, %a, %b, %c;", 'd', {{0x33221100, 0x77665544, 1, 0x44332211}});
  runCases("prmt.b32.b4e %d, %a, %b, %c;", 'd', {{0x33221100, 0x77665544, 1, 0x66770011}});
  runCases("prmt.b32.rc8 %d, %a, %b, %c;", 'd', {{0x33221100, 0, 2, 0x22222222}});
  runCases("prmt.b32.ecl %d, %a, %b, %c;", 'd', {{0x33221100, 0, 2, 0x33222222}});
  runCases("prmt.b32.ecr %d, %a, %b, %c;", 'd', {{0x33221100, 0, 1, 0x11111100}});
  runCases("prmt.b32.rc16 %d, %a, %b, %c;", 'd', {{0x33221100, 0, 1, 0x33223322}});
}

TEST(BitsTest, LooksUpThreeInputLogic) {
  const std::uint64_t a = 0xff00ff00, b = 0xf0f0f0f0, c = 0xcccccccc;
  runCases("lop3.b32 %d, %a, %b, %c, 0xc0;", 'd', {{a, b, c, a & b}});
  runCases("lop3.b32 %d, %a, %b, %c, 0x96;", 'd', {{a, b, c, a ^ b ^ c}});
  runCases("lop3.b32 %d, %a, %b, %c, 0xca;", 'd', {{a, b, c, (a & b) | (~a & 0xffffffff & c)}});
  runCases("lop3.b32 %d, %a, %b, %c, 0x01;", 'd', {{a, b, c, ~(a | b | c) & 0xffffffff}});
  runCases("cnot.b32 %d, %a;", 'd', {{0, 0, 0, 1}, {5, 0, 0, 0}});
  runCases("not.b64 %xd, %xa;", 'x', {{0, 0, 0, ~std::uint64_t{0}}});
}

TEST(MoveTest, PacksAndUnpacks) {
  runCases("mov.b32 %d, {%ha, %hb};", 'd', {{0x1234, 0xabcd, 0, 0xabcd1234}});
  runCases("mov.b64 %xd, {%a, %b};", 'x', {{1, 2, 0, 0x200000001}});
  runCases("mov.b32 {%ha, %hd}, %b;", 'h', {{0, 0xabcd1234, 0, 0xabcd}});
  runCases("mov.b64 {%d, %e}, %xa;", 'd', {{0x200000001, 0, 0, 1}});
  runCases("mov.b64 {%e, %d}, %xa;", 'd', {{0x200000001, 0, 0, 2}});
  runCases("mov.b64 %xd, {%ha, %hb, %hc, %ha};", 'x', {{1, 2, 3, 0x0001000300020001}});
}

TEST(CompareTest, HandlesSignsAndNaN) {
  constexpr std::uint64_t kNan = 0x7fc00000, kOne = 0x3f800000, kMinusZero = 0x80000000;
  runCases("setp.lt.s32 %p, %a, %b;", 'p', {{0xffffffff, 0, 0, 1}, {1, 0, 0, 0}});
  runCases("setp.lt.u32 %p, %a, %b;", 'p', {{0xffffffff, 0, 0, 0}});
  runCases("setp.lo.u32 %p, %a, %b;", 'p', {{0, 0xffffffff, 0, 1}});
  runCases("setp.eq.f32 %p, %fa, %fb;", 'p', {{0, kMinusZero, 0, 1}, {kNan, kNan, 0, 0}});
  runCases("setp.ne.f32 %p, %fa, %fb;", 'p', {{kNan, kOne, 0, 0}, {kOne, 0, 0, 1}});
  runCases("setp.neu.f32 %p, %fa, %fb;", 'p', {{kNan, kOne, 0, 1}});
  runCases("setp.ltu.f32 %p, %fa, %fb;", 'p', {{kNan, kOne, 0, 1}, {kOne, 0, 0, 0}});
  runCases("setp.num.f32 %p, %fa, %fb;", 'p', {{kNan, kOne, 0, 0}, {kOne, kOne, 0, 1}});
  runCases("setp.nan.f32 %p, %fa, %fb;", 'p', {{kNan, kOne, 0, 1}});
  runCases("setp.gt.ftz.f32 %p, %fa, %fb;", 'p', {{1, 0, 0, 0}});
  runCases("setp.gt.f32 %p, %fa, %fb;", 'p', {{1, 0, 0, 1}});
  runCases("setp.lt.f16 %p, %ha, %hb;", 'p', {{0xbc00, 0x3c00, 0, 1}, {0x7e00, 0, 0, 0}});
  runCases("setp.eq.s32 %q, %b, %c; setp.lt.and.s32 %p|%q, %a, %b, %q;", 'p',
           {{1, 2, 2, 1}, {1, 2, 3, 0}});
  runCases("setp.eq.s32 %q, %b, %c; setp.lt.or.s32 %p, %a, %b, !%q;", 'p',
           {{3, 2, 2, 0}, {3, 2, 1, 1}});
  runCases("set.lt.u32.f32 %d, %fa, %fb;", 'd', {{0, kOne, 0, 0xffffffff}, {kOne, 0, 0, 0}});
  runCases("set.lt.f32.s32 %fd, %a, %b;", 'f', {{0, 1, 0, kOne}});
  runCases("setp.ne.s32 %p, %c, 0; selp.b32 %d, %a, %b, %p;", 'd', {{1, 2, 1, 1}, {1, 2, 0, 2}});
  runCases("slct.b32.s32 %d, %a, %b, %c;", 'd', {{1, 2, 0, 1}, {1, 2, 0xffffffff, 2}});
  runCases("slct.b32.f32 %d, %a, %b, %fc;", 'd', {{1, 2, kMinusZero, 1}, {1, 2, kNan, 2}});
  runCases("testp.subnormal.f32 %p, %fa;", 'p', {{1, 0, 0, 1}, {kOne, 0, 0, 0}});
  runCases("testp.notanumber.f32 %p, %fa;", 'p', {{kNan, 0, 0, 1}, {kOne, 0, 0, 0}});
}

} // namespace fp8jit::emulator::testing
