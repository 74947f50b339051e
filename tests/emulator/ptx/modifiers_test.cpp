// Qualifiers that are not types: each must reach its field, and only its field.
#include "tests/emulator/ptx/ptx_support.h"

#include <gtest/gtest.h>

namespace fp8jit::emulator {
namespace {

using testing::decodeKernel;
using testing::operandOf;

Instruction decodeOne(const std::string &text) {
  const Kernel kernel = decodeKernel(text);
  EXPECT_FALSE(kernel.code.empty()) << text;
  return kernel.code.empty() ? Instruction{} : kernel.code[0];
}

TEST(ModifierTest, ReadsFlags) {
  struct FlagCase {
    const char *text;
    bool Modifiers::*member;
  };
  const FlagCase kCases[] = {
      {"add.ftz.f32 %f1, %f2, %f3;", &Modifiers::ftz},
      {"add.sat.s32 %r1, %r2, %r3;", &Modifiers::sat},
      {"cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;", &Modifiers::satfinite},
      {"cvt.rn.relu.bf16x2.f32 %r1, %f1, %f2;", &Modifiers::relu},
      {"max.NaN.f32 %f1, %f2, %f3;", &Modifiers::nan},
      {"max.xorsign.abs.f32 %f1, %f2, %f3;", &Modifiers::xorSignAbs},
      {"add.cc.u32 %r1, %r2, %r3;", &Modifiers::carryOut},
      {"addc.u32 %r1, %r2, %r3;", &Modifiers::carryIn},
      {"madc.lo.u32 %r1, %r2, %r3, %r4;", &Modifiers::carryIn},
      {"ld.global.nc.u32 %r1, [%rd1];", &Modifiers::noncoherent},
      {"ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r1}, [%r2];", &Modifiers::transpose},
      {"bra.uni L; L:", &Modifiers::uniform},
      {"bar.sync 0;", &Modifiers::aligned},
      {"barrier.sync.aligned 0;", &Modifiers::aligned},
      {"vote.sync.any.pred %p1, !%p2, -1;", &Modifiers::negateSource},
  };
  for (const FlagCase &test : kCases) {
    EXPECT_TRUE(decodeOne(test.text).mods.*test.member) << test.text;
  }
  EXPECT_FALSE(decodeOne("barrier.sync 0;").mods.aligned);
  EXPECT_FALSE(decodeOne("add.f32 %f1, %f2, %f3;").mods.ftz);
}

TEST(ModifierTest, ReadsRounding) {
  EXPECT_EQ(decodeOne("add.rz.f32 %f1, %f2, %f3;").mods.rounding, Rounding::Rz);
  EXPECT_EQ(decodeOne("add.f32 %f1, %f2, %f3;").mods.rounding, Rounding::None);
  EXPECT_EQ(decodeOne("fma.rp.f64 %d1, %d2, %d3, %d4;").mods.rounding, Rounding::Rp);
  EXPECT_EQ(decodeOne("cvt.rmi.s32.f32 %r1, %f1;").mods.rounding, Rounding::Rmi);
  EXPECT_EQ(decodeOne("cvt.rn.satfinite.e5m2x2.f32 %h1, %f1, %f2;").mods.rounding, Rounding::Rn);
}

TEST(ModifierTest, ReadsEveryComparison) {
  const std::pair<const char *, Compare> kCompares[] = {
      {"eq", Compare::Eq},   {"ne", Compare::Ne},   {"lt", Compare::Lt},   {"le", Compare::Le},
      {"gt", Compare::Gt},   {"ge", Compare::Ge},   {"lo", Compare::Lo},   {"ls", Compare::Ls},
      {"hi", Compare::Hi},   {"hs", Compare::Hs},   {"equ", Compare::Equ}, {"neu", Compare::Neu},
      {"ltu", Compare::Ltu}, {"leu", Compare::Leu}, {"gtu", Compare::Gtu}, {"geu", Compare::Geu},
      {"num", Compare::Num}, {"nan", Compare::Nan}};
  for (const auto &[name, compare] : kCompares) {
    const bool isInteger = compare >= Compare::Lo && compare <= Compare::Hs;
    const std::string text =
        std::string("setp.") + name + (isInteger ? ".u32 %p1, %r1, %r2;" : ".f32 %p1, %f1, %f2;");
    EXPECT_EQ(decodeOne(text).mods.compare, compare) << text;
  }
}

TEST(ModifierTest, ReadsBooleanAtomicAndShuffleModes) {
  EXPECT_EQ(decodeOne("setp.lt.xor.s32 %p1, %r1, %r2, %p3;").mods.boolOp, BoolOp::Xor);
  EXPECT_EQ(decodeOne("bar.red.popc.u32 %r1, 0, %p1;").mods.boolOp, BoolOp::Popc);
  EXPECT_EQ(decodeOne("bar.red.and.pred %p2, 0, %p1;").mods.boolOp, BoolOp::And);
  EXPECT_EQ(decodeOne("atom.global.exch.b64 %rd1, [%rd2], %rd3;").mods.atomic, AtomicOp::Exch);
  EXPECT_EQ(decodeOne("red.shared.inc.u32 [%r2], %r3;").mods.atomic, AtomicOp::Inc);
  EXPECT_EQ(decodeOne("redux.sync.xor.b32 %r1, %r2, -1;").mods.atomic, AtomicOp::Xor);
  EXPECT_EQ(decodeOne("shfl.sync.down.b32 %r1, %r2, 1, 31, -1;").mods.shuffle, ShuffleMode::Down);
}

TEST(ModifierTest, ReadsTheStateSpace) {
  EXPECT_EQ(decodeOne("ld.u32 %r1, [%rd1];").space, Space::Generic);
  EXPECT_EQ(decodeOne("ld.shared::cta.u32 %r1, [%rd1];").space, Space::Shared);
  EXPECT_EQ(decodeOne("ld.global.nc.u32 %r1, [%rd1];").space, Space::Global);
  EXPECT_EQ(decodeOne("st.local.u32 [%rd1], %r1;").space, Space::Local);
  EXPECT_EQ(decodeOne("cvta.to.shared.u64 %rd1, %rd2;").space, Space::Shared);
}

TEST(ModifierTest, ReadsMatrixShapeAndFormats) {
  const Instruction mma =
      decodeOne("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32 {%f1,%f2,%f3,%f4}, "
                "{%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f5,%f6,%f7,%f8};");

  EXPECT_EQ(mma.mods.m, 16);
  EXPECT_EQ(mma.mods.n, 8);
  EXPECT_EQ(mma.mods.k, 32);
  EXPECT_EQ(mma.mods.formatA, static_cast<std::uint8_t>(Type::E5M2x2));
  EXPECT_EQ(mma.mods.formatB, static_cast<std::uint8_t>(Type::E4M3x2));
  EXPECT_TRUE(mma.mods.aligned);
}

TEST(ModifierTest, ReadsCopySizesAndPlacesTheirOperands) {
  const Kernel withSize = decodeKernel("cp.async.cg.shared.global [%r1+32], [%rd1+-64], 16, %r2;");
  const Kernel plain = decodeKernel("cp.async.ca.shared.global [%r1], [%rd1], 4;");
  const Kernel ignored = decodeKernel("cp.async.ca.shared.global [%r1], [%rd1], 8, %p3;");

  EXPECT_EQ(withSize.code[0].mods.cpSize, 16);
  EXPECT_EQ(withSize.code[0].immediate, 32);
  EXPECT_EQ(withSize.code[0].immediate2, -64);
  EXPECT_EQ(withSize.code[0].addressBits, 2); // a 32-bit shared, a 64-bit global address
  EXPECT_NE(operandOf(withSize, withSize.code[0], 2), kNoSlot);
  EXPECT_EQ(operandOf(withSize, withSize.code[0], 3), kNoSlot);
  EXPECT_EQ(plain.code[0].mods.cpSize, 4);
  EXPECT_EQ(operandOf(plain, plain.code[0], 2), kNoSlot);
  EXPECT_EQ(operandOf(plain, plain.code[0], 3), kNoSlot);
  EXPECT_EQ(operandOf(ignored, ignored.code[0], 2), kNoSlot);
  EXPECT_EQ(operandOf(ignored, ignored.code[0], 3), 3U);
}

} // namespace
} // namespace fp8jit::emulator
