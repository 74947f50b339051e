// Refusals: each names the line and says what was found.
#include "tests/emulator/ptx/ptx_support.h"

#include <gmock/gmock.h>

namespace fp8jit::emulator {
namespace {

using testing::bodyError;
using ::testing::HasSubstr;
using testing::kBodyLine;
using testing::loadError;

struct ErrorCase {
  const char *body;
  const char *expected; ///< part of the message
};

void expectRefused(const ErrorCase &test) {
  SCOPED_TRACE(test.body);
  // A line with a good statement in front moves the expected line along.
  const PtxError error = bodyError("mov.u32 %r1, 1;\n" + std::string(test.body));

  EXPECT_EQ(error.line, kBodyLine + 1);
  EXPECT_THAT(error.message, HasSubstr(test.expected));
}

TEST(PtxErrorTest, RefusesUnknownAndUnsupportedInstructions) {
  const ErrorCase kCases[] = {
      {"frobnicate.u32 %r1, %r2;", "unknown instruction \"frobnicate.u32\""},
      {"add.u13 %r1, %r2, %r3;", "no form of add has this combination"},
      {"add.rq.f32 %f1, %f2, %f3;", "no form of add has this combination"},
      {"add.ftz.ftz.f32 %f1, %f2, %f3;", "no form of add has this combination"},
      {"cvt.rn.e4m3x2.f32 %h1, %f1, %f2;", "no form of cvt has this combination"},
      {"set.eq.f16x2.f32 %r1, %f2, %f3;", "no form of set has this combination"},
      {"vadd4.u32.u32.u32 %r1, %r2, %r3, %r4;", "video instructions are not part"},
      {"atom.global.add.f16 %h1, [%rd1], %h2;", "no form of atom has this combination"},
      {"cvt.f32.s32 %f1, %r1;", "no form of cvt has this combination"}, // needs a rounding
      {"wgmma.fence.sync.aligned;", "needs target sm_90a, found sm_89"},
      {"setmaxnreg.inc.sync.aligned.u32 64;",
       "needs target sm_90a or newer with architecture-specific features, found sm_89"},
      {"tcgen05.fence::before_thread_sync;", "tensor memory instructions"},
      {"mbarrier.expect_tx.shared.b64 [%r1], 1;", "needs target sm_90 or newer"},
      {"cp.async.bulk.commit_group;", "needs target sm_90 or newer"},
      {"ld.shared::cluster.u32 %r1, [%r2];", "needs target sm_90 or newer"},
      {"fence.acq_rel.cluster;", "needs target sm_90 or newer"},
      {"add.bf16 %h1, %h2, %h3;", "needs target sm_90 or newer, found sm_89"},
  };
  for (const ErrorCase &test : kCases) {
    expectRefused(test);
  }
}

TEST(PtxErrorTest, NamesTheStatement) {
  EXPECT_THAT(bodyError("wgmma.fence.sync.aligned;").message,
              HasSubstr("in: wgmma.fence.sync.aligned"));
  EXPECT_THAT(bodyError("@%p1 add.f32 %f1,\n %f2, %rd3;").message,
              HasSubstr("in: @%p1 add.f32 %f1, %f2, %rd3"));
}

TEST(PtxErrorTest, RefusesWrongOperands) {
  const ErrorCase kCases[] = {
      {"add.s32 %r1, %r2;", "expected 3 operands, found 2"},
      {"add.s32 %r1, %r2, %r3, %r4;", "expected 3 operands, found 4"},
      {"add.s32 %r1, %r2, %rd3;", "expected .s32, found register \"%rd3\" of type .b64"},
      {"add.s32 %rd1, %r2, %r3;", "expected .s32, found register \"%rd1\""},
      {"add.s32 %r1, %r2, %f3;", "expected .s32, found register \"%f3\" of type .f32"},
      {"add.f32 %f1, %f2, 1;", "expected a floating-point number"},
      {"add.s32 5, %r2, %r3;", "expected a register as destination"},
      {"add.s32 %r1, %r2, %p1;", "found register \"%p1\" of type .pred"},
      {"add.s32 %r1, %r2, nothing;", "unknown name \"nothing\""},
      {"add.s32 %r1, %r2, %q7;", "unknown register \"%q7\""},
      {"add.s32 %r1, %r2, %r10;", "unknown register \"%r10\""},
      {"add.s32 %r1, %r2, %r03;", "unknown register \"%r03\""},
      {"add.s32 %r1, %r2, !%r3;", "found a negation"},
      {"add.s32 %r1, %r2, [%r3];", "found an address"},
      {"add.s32 %r1|%p1, %r2, %r3;", "\"|\" is not allowed"},
      {"setp.eq.s32 %r1, %r2, %r3;", "expected a predicate"},
      {"selp.b32 %r1, %r2, %r3, !%p1;", "cannot be negated"},
      {"@%r1 ret;", "is not a predicate"},
      {"ld.global.u32 %r1, %rd1;", "expected an address in brackets"},
      {"ld.global.u32 %r1, [%h1];", "expected an address of 32 or 64 bits"},
      {"ld.global.u32 %r1, [tile];", "does not lie in the state space"},
      {"ld.global.u32 %h1, [%rd1];", "expected .u32"},
      {"ld.global.v2.u32 %r1, [%rd1];", "expected a vector of 2"},
      {"ld.global.v4.u64 {%rd1,%rd2,%rd3,%rd4}, [%rd5];", "32 bytes, at most 16"},
      {"ld.param.u64 %rd1, [k_1];", "outside parameter \"k_1\" of 4 bytes"},
      {"ld.param.u32 %r1, [k_2+22];", "outside parameter \"k_2\""},
      {"st.param.u32 [k_1], %r1;", "cannot be written"},
      {"mov.u32 %r1, table;", "needs 64 bits"},
      {"mov.b64 %rd1, {%r1, %r2, %r3};", "expected a vector of 2 or 4"},
      {"mov.u32 %r1, %clock64;", "expected .u32, found special register"},
      {"add.u32 %r1, %clock, 1;", "read by mov only"},
      {"cp.async.cg.shared.global [%r1], [%rd1], 8;", "immediate 8 is not 16"},
      {"cp.async.ca.shared.global [%r1], [%rd1], 5;", "immediate 5 is not 4, 8 or 16"},
      {"lop3.b32 %r1, %r2, %r3, %r4, 256;", "immediate 256 is not at most 255"},
      {"mov.u32 %r1, 0x1ffffffffffffffff;", "expected a number"},
      {"mov.f32 %f1, 0f3F80;", "expected a number"},
  };
  for (const ErrorCase &test : kCases) {
    expectRefused(test);
  }
}

TEST(PtxErrorTest, RefusesBrokenStatements) {
  const ErrorCase kCases[] = {
      {"bra NOWHERE;", "unknown label \"NOWHERE\""},
      {"L: L: ret;", "label \"L\" is defined twice"},
      {".reg .b32 %r<3>;", "declared twice"},
      {".reg .b32 a, a;", "declared twice"},
      {".reg .b129 q;", "unsupported register type"},
      {".reg .b32 %x<99999999>;", "a register count"},
      {".shared .b8 s[];", "has no size"},
      {".local .align 3 .b8 s[4];", "not a power of two"},
      {".tex .u64 t;", "unsupported directive"},
      {"add.s32 %r1, %r2 %r3;", "expected \";\", found \"%r3\""},
      {"add.s32 %r1, , %r3;", "expected an operand, found \",\""},
      {"ld.global.u32 %r1, [%rd1;", "expected \"]\""},
      {"mov.b64 {%r1, %r2 %rd1};", "expected \"}\""},
      {"mov.u32 %r1, #;", "unexpected character of code 35"},
      {"call printf, (%r1);", "call of unknown function"},
      {"call %rd1, (%r1);", "indirect calls"},
  };
  for (const ErrorCase &test : kCases) {
    expectRefused(test);
  }
}

TEST(PtxErrorTest, RefusesWrongHeaders) {
  const std::string kEntry = ".visible .entry k() { ret; }\n";

  EXPECT_THAT(loadError("").message, HasSubstr("expected .version first"));
  EXPECT_THAT(loadError(".target sm_89").message, HasSubstr("expected .version first"));
  EXPECT_THAT(loadError(".version 9\n.target sm_89").message, HasSubstr("expected a version"));
  EXPECT_THAT(loadError(".version 12.0\n.target sm_89").message, HasSubstr("newer than 9.1"));
  EXPECT_THAT(loadError(".version 9.0\n" + kEntry).message, HasSubstr("expected .target"));
  EXPECT_THAT(loadError(".version 9.0\n.target gfx90\n").message, HasSubstr("unknown target"));
  EXPECT_THAT(loadError(".version 9.0\n.target sm_89\n.address_size 32\n").message,
              HasSubstr("address size 32"));
  EXPECT_EQ(loadError(".version 9.0\n.target sm_90\n").line, 2U);
}

TEST(PtxErrorTest, ChecksTheTargetAgainstTheDevice) {
  struct TargetCase {
    const char *target, *arch;
    bool runs;
  };
  const TargetCase kCases[] = {{"sm_89", "89", true},      {"sm_80", "89", true},
                               {"sm_90", "89", false},     {"sm_89", "90a", true},
                               {"sm_90a", "90a", true},    {"sm_90a", "90", false},
                               {"sm_90a", "100a", false},  {"sm_100f", "103a", true},
                               {"sm_100f", "120a", false}, {"sm_120a", "120a", true}};
  for (const TargetCase &test : kCases) {
    Module module;
    PtxError error;
    const std::string text =
        ".version 9.0\n.target " + std::string(test.target) + "\n.visible .entry k() { ret; }\n";
    EXPECT_EQ(loadModule(text, test.arch, module, error), test.runs)
        << test.target << " on " << test.arch << ": " << error.message;
  }
}

TEST(PtxErrorTest, RefusesBrokenModules) {
  const std::string kHeader = ".version 9.0\n.target sm_89\n.address_size 64\n";
  struct ModuleCase {
    const char *text, *expected;
  };
  const ModuleCase kCases[] = {
      {".visible .entry k() { ret;", "block without an end"},
      {".visible .entry k() { ret; } }", "unsupported directive"},
      {".visible .entry k() { ret; }\n.visible .entry k() { ret; }", "defined twice"},
      {".visible .entry k(.param .u64) { ret; }", "expected a name"},
      {".visible .entry k(.param .b8 p[40000]) { ret; }", "32764 bytes of parameters"},
      {".visible .entry k() .unheardof { ret; }", "unsupported directive of a function"},
      {".visible .entry k() .reqnctapercluster 2 .maxclusterrank 8 { ret; }",
       ".maxclusterrank does not go with a cluster size"},
      {".visible .entry k() .blocksareclusters { ret; }", "needs .reqntid"},
      {".global .u32 a; .global .u32 a;", "declared twice"},
      {".global .u32 a[2] = {1, 2, 3};", "more initial values"},
      {".global .u32 a = b;", "needs elements of 64 bits"},
      {".global .u64 a = b;", "which is no global variable"},
      {".global .u32 a[];", "has no size"},
      {".extern .global .u32 a;", "is extern"},
      {".global .f32 a = 1;", "expected an initial value of type .f32"},
      {"/* no end", "comment without an end"},
      {".file 1 \"no end", "string without an end"},
  };
  for (const ModuleCase &test : kCases) {
    const PtxError error = loadError(kHeader + test.text);
    EXPECT_THAT(error.message, HasSubstr(test.expected)) << test.text;
    EXPECT_GE(error.line, 4U) << test.text;
  }
}

} // namespace
} // namespace fp8jit::emulator
