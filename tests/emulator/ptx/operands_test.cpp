// Operands: widths, immediates, special registers, addresses, predicates.
#include "tests/emulator/ptx/ptx_support.h"

#include <gtest/gtest.h>

namespace fp8jit::emulator {
namespace {

using testing::constantIn;
using testing::decodeKernel;
using testing::operandOf;
using testing::sharedOffsetIn;

/// The bits of the constant that is the last operand of `text`.
std::uint64_t lastConstant(const std::string &text) {
  const Kernel kernel = decodeKernel(text);
  return kernel.operands.empty() ? 0 : constantIn(kernel, kernel.operands.back());
}

TEST(OperandTest, ReadsLiterals) {
  EXPECT_EQ(lastConstant("mov.u32 %r1, 42;"), 42U);
  EXPECT_EQ(lastConstant("mov.u32 %r1, -1;"), 0xffffffffU);
  EXPECT_EQ(lastConstant("mov.u32 %r1, 0xDEADbeef;"), 0xdeadbeefU);
  EXPECT_EQ(lastConstant("mov.u32 %r1, 0x10U;"), 16U);
  EXPECT_EQ(lastConstant("mov.u32 %r1, 010;"), 8U);
  EXPECT_EQ(lastConstant("mov.u32 %r1, 0b101;"), 5U);
  EXPECT_EQ(lastConstant("mov.u16 %h1, -2;"), 0xfffeU);
  EXPECT_EQ(lastConstant("mov.u64 %rd1, -2;"), 0xfffffffffffffffeU);
  EXPECT_EQ(lastConstant("mov.u64 %rd1, 0xfedcba9876543210;"), 0xfedcba9876543210U);
  EXPECT_EQ(lastConstant("mov.f32 %f1, 0f3F800000;"), 0x3f800000U);
  EXPECT_EQ(lastConstant("mov.f32 %f1, -0f3F800000;"), 0xbf800000U);
  EXPECT_EQ(lastConstant("mov.f32 %f1, 0fFFC00001;"), 0xffc00001U);
  EXPECT_EQ(lastConstant("mov.f32 %f1, 1.5;"), 0x3fc00000U);
  EXPECT_EQ(lastConstant("mov.b32 %r1, 0f40000000;"), 0x40000000U);
  EXPECT_EQ(lastConstant("mov.f64 %d1, 0d3FF0000000000000;"), 0x3ff0000000000000U);
  EXPECT_EQ(lastConstant("mov.f64 %d1, 1.0e1;"), 0x4024000000000000U);
  EXPECT_EQ(lastConstant("shl.b64 %rd1, %rd2, WARP_SZ;"), 32U);
}

TEST(OperandTest, SharesEqualConstantsOfOneWidth) {
  const Kernel kernel = decodeKernel("add.s32 %r1, %r2, 7; add.s32 %r3, %r4, 7;"
                                     "add.s64 %rd1, %rd2, 7;");

  EXPECT_EQ(kernel.constants.size(), 2U);
  EXPECT_EQ(kernel.operands[2], kernel.operands[5]);
}

TEST(OperandTest, FixedSlotsLieBehindTheRegistersWithoutOverlap) {
  const Kernel kernel =
      decodeKernel("add.s64 %rd1, %rd2, 7; mov.u32 %r1, %tid.x; mov.u64 %rd3, table;");

  std::vector<bool> isTaken(kernel.slotCount, false);
  const auto take = [&](std::uint32_t slot, bool is64) {
    for (std::uint32_t i = slot; i < slot + (is64 ? 2 : 1); ++i) {
      ASSERT_LT(i, kernel.slotCount);
      EXPECT_FALSE(isTaken[i]) << i;
      isTaken[i] = true;
    }
  };
  take(kernel.constants.at(0).slot, kernel.constants.at(0).is64);
  take(kernel.specials.at(0).slot, kernel.specials.at(0).is64);
  take(kernel.symbols.at(0).slot, true);
  take(operandOf(kernel, kernel.code[0], 0), true);
  take(operandOf(kernel, kernel.code[0], 1), true);
  take(operandOf(kernel, kernel.code[1], 0), false);
  take(operandOf(kernel, kernel.code[2], 0), true);
}

TEST(OperandTest, NotesTheLaneWidths) {
  const Kernel wide = decodeKernel("ld.global.s8 %rd2, [%rd1];");
  const Kernel narrow = decodeKernel("st.global.u8 [%rd1], %rd2;");
  const Kernel convert = decodeKernel("cvt.u32.u64 %r1, %rd1;");
  const Kernel multiply = decodeKernel("mul.wide.u32 %rd1, %r1, 4;");

  EXPECT_EQ(wide.code[0].dstBits, 64);
  EXPECT_EQ(narrow.code[0].srcBits, 64);
  EXPECT_EQ(convert.code[0].dstBits, 32);
  EXPECT_EQ(convert.code[0].srcBits, 64);
  EXPECT_EQ(multiply.code[0].dstBits, 64);
  EXPECT_EQ(multiply.code[0].srcBits, 32);
}

TEST(OperandTest, RegistersOf128BitsAreTwo) {
  const std::string registers = ".reg .b128 %q<3>; ";
  const Kernel pack = decodeKernel(registers + "@%p1 mov.b128 %q1, {%rd1, %rd2};");
  const Kernel load = decodeKernel(registers + "ld.global.b128 %q1, [%rd1];");
  const Kernel unpack = decodeKernel(registers + "mov.b128 {%rd1, %rd2}, %q1;");
  const Kernel swap =
      decodeKernel(registers + "atom.global.cas.b128 %q0, [%rd1], %q1, %q2;", "sm_90");

  ASSERT_EQ(pack.code.size(), 3U);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(pack.code[i].op, Op::Mov);
    EXPECT_EQ(pack.code[i].type, Type::B64);
    EXPECT_EQ(pack.code[i].guard, 1U);
    EXPECT_EQ(unpack.code[i].numSrc, 1);
  }
  EXPECT_NE(operandOf(pack, pack.code[0], 0), operandOf(pack, pack.code[1], 0));
  EXPECT_NE(operandOf(pack, pack.code[0], 1), operandOf(pack, pack.code[1], 1));
  EXPECT_EQ(load.code[0].type, Type::B64);
  EXPECT_EQ(load.code[0].vector, 2);
  EXPECT_EQ(load.code[0].numDst, 2);
  EXPECT_EQ(swap.code[0].type, Type::B128);
  EXPECT_EQ(swap.code[0].numDst, 2);
  EXPECT_EQ(swap.code[0].numSrc, 5);
}

TEST(OperandTest, ReadsSpecialRegisters) {
  const Kernel kernel = decodeKernel("mad.lo.s32 %r1, %ctaid.y, %ntid.z, %laneid;");
  const Kernel clock = decodeKernel("mov.u64 %rd1, %clock64;");

  ASSERT_EQ(kernel.specials.size(), 3U);
  EXPECT_EQ(kernel.specials[0].special, Special::CtaidY);
  EXPECT_EQ(kernel.specials[1].special, Special::NtidZ);
  EXPECT_EQ(kernel.specials[2].special, Special::LaneId);
  EXPECT_EQ(operandOf(kernel, kernel.code[0], 1), kernel.specials[0].slot);
  EXPECT_TRUE(clock.specials.empty());
  EXPECT_EQ(clock.code[0].immediate, static_cast<std::int64_t>(Special::Clock64));
}

TEST(OperandTest, ReadsAddresses) {
  const Kernel global = decodeKernel("ld.global.u32 %r1, [%rd1+-16];");
  const Kernel shared = decodeKernel("ld.shared.u32 %r1, [%r2+12];");
  const Kernel variable = decodeKernel("ld.shared.u32 %r1, [tile+8];");
  const Kernel table = decodeKernel("ld.global.u8 %h1, [table+2];");
  const Kernel dynamic = decodeKernel("st.shared.u32 [dynamicBytes+4], %r1;");

  EXPECT_EQ(global.code[0].immediate, -16);
  EXPECT_EQ(global.code[0].addressBits, 1);
  EXPECT_EQ(shared.code[0].immediate, 12);
  EXPECT_EQ(shared.code[0].addressBits, 0);
  EXPECT_EQ(variable.code[0].immediate, 8);
  EXPECT_EQ(variable.code[0].addressBits, 0);
  EXPECT_EQ(sharedOffsetIn(variable, operandOf(variable, variable.code[0], 1)), 0U);
  EXPECT_EQ(table.code[0].immediate, 2);
  EXPECT_EQ(table.code[0].addressBits, 1);
  ASSERT_EQ(table.symbols.size(), 1U);
  EXPECT_EQ(table.symbols[0].global, 0U);
  EXPECT_EQ(operandOf(table, table.code[0], 1), table.symbols[0].slot);
  // 64 static bytes, rounded up to the alignment of 128
  EXPECT_EQ(dynamic.dynamicSharedOffset, 128U);
  EXPECT_EQ(sharedOffsetIn(dynamic, operandOf(dynamic, dynamic.code[0], 0)), 128U);
}

TEST(OperandTest, AddressOfAVariableIsAValue) {
  const Kernel kernel = decodeKernel("mov.u64 %rd1, table+4; mov.u32 %r1, dynamicBytes;"
                                     "mov.u64 %rd2, k_2;");

  ASSERT_EQ(kernel.symbols.size(), 1U);
  EXPECT_EQ(kernel.symbols[0].addend, 4);
  EXPECT_EQ(sharedOffsetIn(kernel, operandOf(kernel, kernel.code[1], 1)), 128U);
  EXPECT_EQ(constantIn(kernel, operandOf(kernel, kernel.code[2], 1)), 16U); // offset of k_2
}

TEST(OperandTest, ReadsParameterOffsets) {
  const Kernel kernel = decodeKernel("ld.param.u32 %r1, [k_1]; ld.param.f64 %d1, [k_2+16];");

  EXPECT_EQ(kernel.code[0].immediate, 8);
  EXPECT_EQ(kernel.code[1].immediate, 32);
  EXPECT_EQ(kernel.paramBytes, 40U);
}

TEST(OperandTest, ReadsGuardsAndPredicates) {
  const Kernel kernel = decodeKernel("@%p3 add.s32 %r1, %r2, %r3; @!%p4 ret;"
                                     "setp.lt.and.s32 _|%p2, %r1, %r2, !%p5;"
                                     "selp.b32 %r1, %r2, %r3, %p6;");

  EXPECT_EQ(kernel.code[0].guard, 3U);
  EXPECT_FALSE(kernel.code[0].guardNegate);
  EXPECT_EQ(kernel.code[1].guard, 4U);
  EXPECT_TRUE(kernel.code[1].guardNegate);
  EXPECT_EQ(operandOf(kernel, kernel.code[2], 0), 10U); // `_`: a predicate that nobody reads
  EXPECT_EQ(operandOf(kernel, kernel.code[2], 1), 2U);
  EXPECT_EQ(operandOf(kernel, kernel.code[2], 4), 5U);
  EXPECT_EQ(operandOf(kernel, kernel.code[3], 3), 6U);
}

TEST(OperandTest, ConstantPredicatesHaveTheirOwnPlaces) {
  const Kernel kernel = decodeKernel("mov.pred %p1, 0; setp.lt.and.s32 %p2, %r1, %r2, 1;");

  ASSERT_EQ(kernel.constantPredicates.size(), 2U);
  EXPECT_EQ(operandOf(kernel, kernel.code[0], 1), kernel.constantPredicates[0].index);
  EXPECT_FALSE(kernel.constantPredicates[0].value);
  EXPECT_TRUE(kernel.constantPredicates[1].value);
  EXPECT_EQ(kernel.constantPredicates[0].index, 10U); // behind %p0 to %p9
  EXPECT_EQ(kernel.predicateCount, 12U);
}

} // namespace
} // namespace fp8jit::emulator
