// Nested scopes, labels, branch tables, calls, module variables, skipped directives.
#include "tests/emulator/ptx/ptx_support.h"

#include <gmock/gmock.h>

namespace fp8jit::emulator {
namespace {

using testing::decodeKernel;
using ::testing::HasSubstr;
using testing::kBodyLine;
using testing::operandOf;

constexpr const char *kHeader = ".version 9.0\n.target sm_89\n.address_size 64\n";

Module load(const std::string &text) {
  Module module;
  PtxError error;
  EXPECT_TRUE(loadModule(kHeader + text, "89", module, error))
      << text << "\nline " << error.line << ": " << error.message;
  return module;
}

TEST(ScopeTest, InnerRegistersHideOuterOnes) {
  const Kernel kernel = decodeKernel("mov.u32 %r1, 1;\n"
                                     "{ .reg .b32 %r1; mov.u32 %r1, 2; { mov.u32 %r1, 3; } }\n"
                                     "mov.u32 %r1, 4;");

  const std::uint32_t outer = operandOf(kernel, kernel.code[0], 0);
  const std::uint32_t inner = operandOf(kernel, kernel.code[1], 0);
  EXPECT_NE(outer, inner);
  EXPECT_EQ(operandOf(kernel, kernel.code[2], 0), inner);
  EXPECT_EQ(operandOf(kernel, kernel.code[3], 0), outer);
}

TEST(ScopeTest, LabelsMayRepeatInSiblings) {
  const Kernel kernel = decodeKernel("{ .reg .pred p; WAIT: setp.eq.u32 p, %r1, 0; @p bra WAIT; }\n"
                                     "{ .reg .pred p; WAIT: setp.eq.u32 p, %r2, 0; @p bra WAIT; }");

  EXPECT_EQ(kernel.code[1].target, 0U);
  EXPECT_EQ(kernel.code[3].target, 2U);
  EXPECT_NE(kernel.code[1].guard, kernel.code[3].guard);
}

TEST(ScopeTest, InnermostLabelWinsAlsoWhenItComesLater) {
  const Kernel kernel = decodeKernel("L: mov.u32 %r1, 1;\n"
                                     "{ bra L; mov.u32 %r1, 2; L: mov.u32 %r1, 3; }\n"
                                     "{ bra L; }\n"
                                     "bra END;\n"
                                     "END:");

  EXPECT_EQ(kernel.code[1].target, 3U);
  EXPECT_EQ(kernel.code[4].target, 0U);
  EXPECT_EQ(kernel.code[5].target, 6U); // the ret that ends every kernel
  EXPECT_EQ(kernel.code[6].op, Op::Ret);
}

TEST(ScopeTest, SkipsDirectivesAndKeepsLines) {
  const Kernel kernel = decodeKernel(".loc 1 7 3, function_name $L1, inlined_at 1 2 3\n"
                                     ".pragma \"nounroll\";\n"
                                     "// comment\n/* two\nlines */ mov.u32 %r1, 1;\n"
                                     "add.u32 %r1,\n%r1, 2;");

  EXPECT_EQ(kernel.code[0].line, kBodyLine + 4);
  EXPECT_EQ(kernel.code[1].line, kBodyLine + 5);
}

TEST(ScopeTest, ReadsBranchTables) {
  const Kernel kernel = decodeKernel("T: .branchtargets A, B, A;\n"
                                     "brx.idx %r1, T;\n"
                                     "A: mov.u32 %r1, 1;\nB: mov.u32 %r1, 2;");

  EXPECT_EQ(kernel.code[0].op, Op::BrxIdx);
  EXPECT_EQ(kernel.code[0].immediate, 0);
  EXPECT_EQ(kernel.code[0].immediate2, 3);
  EXPECT_EQ(kernel.branchTargets, (std::vector<std::uint32_t>{1, 2, 1}));
}

TEST(ScopeTest, SpacesAreOptionalAroundPunctuation) {
  const Kernel kernel = decodeKernel("{.reg.b32 low,high;mov.b64{low,high},%rd1;"
                                     "mov.b64 %rd2,{high,low};}");

  EXPECT_EQ(kernel.code[0].op, Op::MovUnpack);
  EXPECT_EQ(kernel.code[1].op, Op::MovPack);
}

constexpr const char *kCallee =
    ".func (.param .b32 result) twice(.param .b32 a)\n"
    "{ .reg .b32 %r<3>; .reg .pred %p<2>;\n"
    "ld.param.u32 %r1, [a]; setp.eq.u32 %p1, %r1, 0; @%p1 bra ZERO; add.u32 %r2, %r1, %r1;\n"
    "st.param.b32 [result], %r2; ret;\nZERO: st.param.b32 [result], %r1; ret; }\n";

constexpr const char *kCall = "{ .param .b32 x; .param .b32 y; st.param.b32 [x], 5;\n"
                              "call.uni (y), twice, (x); ld.param.b32 %r1, [y]; }\n";

TEST(CallTest, ExpandsTheBodyAndJumpsBehindIt) {
  const Module module =
      load(std::string(kCallee) + ".visible .entry k() { .reg .b32 %r<3>;\n" + kCall + "ret; }");
  const Kernel &kernel = module.kernels.at(0);

  // st x; ld a, setp, bra, add, st, bra end, st, bra end; ld y; ret; ret
  ASSERT_EQ(kernel.code.size(), 12U);
  EXPECT_EQ(kernel.code[0].op, Op::St);
  EXPECT_EQ(kernel.code[0].space, Space::Local);
  EXPECT_EQ(kernel.code[1].op, Op::Ld);
  EXPECT_EQ(kernel.code[1].space, Space::Local);
  EXPECT_EQ(kernel.code[3].target, 7U);
  EXPECT_EQ(kernel.code[6].op, Op::Bra);
  EXPECT_EQ(kernel.code[6].target, 9U);
  EXPECT_EQ(kernel.code[8].target, 9U);
  EXPECT_EQ(kernel.code[9].op, Op::Ld);
  EXPECT_EQ(kernel.localBytes, 8U);
  // the parameter is written and read at one address
  EXPECT_EQ(operandOf(kernel, kernel.code[0], 0), operandOf(kernel, kernel.code[1], 1));
}

TEST(CallTest, EachCallHasRegistersOfItsOwn) {
  Module module;
  PtxError error;
  const std::string text = kHeader + std::string(kCallee) +
                           ".visible .entry k() { .reg .b32 %r<3>;\n" + kCall + kCall + "ret; }";
  ASSERT_TRUE(loadModule(text, "89", {.shareSlots = false}, module, error)) << error.message;
  const Kernel &kernel = module.kernels.at(0);

  EXPECT_NE(operandOf(kernel, kernel.code[1], 0), operandOf(kernel, kernel.code[11], 0));
  EXPECT_EQ(kernel.localBytes, 16U);
}

TEST(CallTest, GuardedCallsAreJumpedOver) {
  const Module module =
      load(std::string(kCallee) + ".visible .entry k() { .reg .b32 %r<3>; .reg .pred %p<2>;\n"
                                  "{ .param .b32 x; .param .b32 y;\n"
                                  "@%p1 call (y), twice, (x); }\nret; }");
  const Kernel &kernel = module.kernels.at(0);

  EXPECT_EQ(kernel.code[0].op, Op::Bra);
  EXPECT_TRUE(kernel.code[0].guardNegate);
  EXPECT_EQ(kernel.code[0].target, 9U);
}

TEST(CallTest, RefusesWhatCannotBeExpanded) {
  const auto errorOf = [](const std::string &text) { return testing::loadError(kHeader + text); };
  const std::string kernel = ".visible .entry k() { .reg .b32 %r<3>;\n" + std::string(kCall) + "}";

  EXPECT_THAT(errorOf(".extern .func (.param .b32 r) twice(.param .b32 a);\n" + kernel).message,
              HasSubstr("has no body"));
  EXPECT_EQ(errorOf(".extern .func (.param .b32 r) twice(.param .b32 a);\n" + kernel).line, 7U);
  EXPECT_THAT(errorOf(".func twice(.param .b32 a) { ret; }\n" + kernel).message,
              HasSubstr("with 1 arguments, 0 expected"));
  EXPECT_THAT(errorOf(".func (.param .b64 r) twice(.param .b32 a) { ret; }\n" + kernel).message,
              HasSubstr("is not a .param variable of its size"));
}

TEST(ModuleTest, ReadsInitialValues) {
  const Module module = load(".global .align 8 .u16 a[2][2] = {{1, -1}, {0x1234}};\n"
                             ".const .f32 b[] = {0f3F800000, 2.0};\n"
                             ".global .u64 c[3] = {0, generic(a)+4, b};\n"
                             ".global .f64 d = 0d3FF0000000000000, e;\n"
                             ".global .v4 .u32 f;\n"
                             ".visible .entry k() { ret; }");

  ASSERT_EQ(module.globals.size(), 6U);
  EXPECT_EQ(module.globals[0].sizeBytes, 8U);
  EXPECT_EQ(module.globals[0].align, 8U);
  EXPECT_EQ(module.globals[0].initial, (std::vector<std::uint8_t>{1, 0, 0xff, 0xff, 0x34, 0x12}));
  EXPECT_EQ(module.globals[1].sizeBytes, 8U);
  EXPECT_TRUE(module.globals[1].isConst);
  EXPECT_EQ(module.globals[1].initial,
            (std::vector<std::uint8_t>{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}));
  ASSERT_EQ(module.globals[2].relocations.size(), 2U);
  EXPECT_EQ(module.globals[2].relocations[0].offset, 8U);
  EXPECT_EQ(module.globals[2].relocations[0].global, 0U);
  EXPECT_EQ(module.globals[2].relocations[0].addend, 4);
  EXPECT_EQ(module.globals[2].relocations[1].offset, 16U);
  EXPECT_EQ(module.globals[2].relocations[1].global, 1U);
  EXPECT_EQ(module.globals[4].name, "e");
  EXPECT_EQ(module.globals[5].sizeBytes, 16U);
  EXPECT_EQ(module.globals[5].align, 16U);
}

TEST(ModuleTest, ReadsLaunchDirectives) {
  const Module module =
      load(".visible .entry a() .maxntid 64, 2, 1 .minnctapersm 3 .maxnreg 96 { }\n"
           ".visible .entry b() .reqntid 32, 4 { ret; }\n.entry c() { }");

  EXPECT_EQ(module.kernels[0].maxThreads, 128U);
  EXPECT_EQ(module.kernels[0].minBlocksPerSm, 3U);
  EXPECT_EQ(module.kernels[0].maxRegisters, 96U);
  EXPECT_EQ(module.kernels[1].maxThreads, 128U);
  EXPECT_EQ(module.kernels[1].requiredThreads[1], 4U);
  EXPECT_EQ(module.kernels[2].maxThreads, 0U);
}

TEST(ModuleTest, PlacesModuleSharedMemoryInTheKernelsThatNameIt) {
  const Module module = load(".shared .align 4 .b8 a[20];\n.shared .align 16 .b8 b[32];\n"
                             ".visible .entry none() { ret; }\n"
                             ".visible .entry one() { .reg .b32 %r<2>; mov.u32 %r1, b; }\n"
                             ".visible .entry both() { .reg .b32 %r<3>;\n"
                             "mov.u32 %r1, a; mov.u32 %r2, b; mov.u32 %r1, a; }");

  EXPECT_EQ(module.kernels[0].staticSharedBytes, 0U);
  EXPECT_EQ(module.kernels[1].staticSharedBytes, 32U);
  EXPECT_EQ(module.kernels[2].staticSharedBytes, 64U); // a, padding to 32, b
}

} // namespace
} // namespace fp8jit::emulator
