// Kernels that break one rule of wgmma each, and what is reported at which line. The unbroken twins
// of all of them pass (wgmma_test.cpp).
#include "tests/emulator/exec/wgmma_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace fp8jit::emulator::testing {
namespace {

const WgmmaCase kPlain{.shape = {.m = 64, .n = 16}, .steps = 2};
const WgmmaCase kRegistersA{.shape = {.m = 64, .n = 16}, .steps = 2, .registersA = true};

/// One broken kernel.
struct BrokenCase {
  const char *name;
  const WgmmaCase *kernel;
  std::function<void(WgmmaKernel &)> breakIt;
  const char *reportedLine; ///< the first line that contains it is in the report
  const char *reportedText;
};

void PrintTo(const BrokenCase &c, std::ostream *out) {
  *out << c.name;
}

class WgmmaRuleTest : public ::testing::TestWithParam<BrokenCase> {};

} // namespace

/// Puts `text` before the second wgmma.
static void insertBeforeSecond(WgmmaKernel &kernel, const std::string &text) {
  kernel.multiply.insert(kernel.multiply.find("add.u64 %da"), text);
}

/// Adds to the descriptor of B before the first wgmma.
static std::function<void(WgmmaKernel &)> addToB(const std::string &amount) {
  return [amount](WgmmaKernel &kernel) {
    kernel.multiply.insert(0, "add.u64 %db, %db, " + amount + ";\n");
  };
}

static std::vector<BrokenCase> brokenCases() {
  constexpr const char *kFirst = "wgmma.mma_async";
  return {
      {"NoFence", &kPlain, [](WgmmaKernel &k) { k.fence.clear(); }, kFirst,
       "needs a wgmma.fence before it"},
      {"AccumulatorWrittenAfterTheFence", &kPlain,
       [](WgmmaKernel &k) { k.fence += "mov.b32 %d5, 0;\n"; }, kFirst,
       "accessed after the latest wgmma.fence"},
      {"RegisterOfAReadAfterTheFence", &kRegistersA,
       [](WgmmaKernel &k) { k.fence += "mov.b32 %x1, %ra0_2;\n"; }, kFirst,
       "accessed after the latest wgmma.fence"},
      {"NoWait", &kPlain, [](WgmmaKernel &k) { k.wait.clear(); }, "st.global.b32 [%pOut+0], %d0",
       "reads a register that the wgmma"},
      {"WaitForTooFew", &kPlain,
       [](WgmmaKernel &k) { k.wait = "wgmma.wait_group.sync.aligned 1;\n"; },
       "st.global.b32 [%pOut+0], %d0", "reads a register that the wgmma"},
      {"NoCommit", &kPlain, [](WgmmaKernel &k) { k.commit.clear(); },
       "st.global.b32 [%pOut+0], %d0", "reads a register that the wgmma"},
      {"RegisterOfAWrittenTooEarly", &kRegistersA,
       [](WgmmaKernel &k) { k.commit += "mov.b32 %ra1_3, 0; // early\n"; }, "// early",
       "writes a register that the wgmma"},
      {"OtherShapeOnTheSameAccumulators", &kPlain,
       [](WgmmaKernel &k) {
         k.multiply += "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%d0, %d1, %d2, %d3}, "
                       "%da, %db, %pTrue, 1, 1;\n";
       },
       "m64n8k32", "without a wgmma.fence between them"},
      {"ExitWithoutWait", &kPlain,
       [](WgmmaKernel &k) {
         k.wait.clear();
         k.store.clear();
       },
       "ret;", "no wgmma.wait_group covers it"},
      {"DescriptorDiffersBetweenWarps", &kPlain,
       [](WgmmaKernel &k) {
         k.multiply.insert(0, "shr.u32 %x0, %tid, 4;\nand.b32 %x0, %x0, 2;\n"
                              "cvt.u64.u32 %wide, %x0;\nadd.u64 %db, %db, %wide;\n");
       },
       kFirst, "has another descriptor of B"},
      {"DescriptorDiffersBetweenLanes", &kPlain,
       [](WgmmaKernel &k) {
         k.multiply.insert(0, "and.b32 %x0, %tid, 2;\ncvt.u64.u32 %wide, %x0;\n"
                              "add.u64 %da, %da, %wide;\n");
       },
       kFirst, "different descriptors of A in the lanes"},
      {"ScaleDiffersBetweenLanes", &kPlain,
       [](WgmmaKernel &k) {
         k.multiply.insert(0, "and.b32 %x0, %tid, 1;\n"
                              "setp.ne.u32 %pFalse, %x0, 0;\n");
       },
       kFirst, "different values of scale-d"},
      {"ScaleDiffersBetweenWarps", &kPlain,
       [](WgmmaKernel &k) { k.multiply.insert(0, "setp.lt.u32 %pFalse, %tid, 64;\n"); }, kFirst,
       "another scale-d"},
      {"OneWarpLeavesBefore", &kPlain,
       [](WgmmaKernel &k) {
         k.publish.insert(0, "setp.ge.u32 %pTest, %tid, 96;\n@%pTest bra LEAVE;\n");
         k.store += "LEAVE:\n";
       },
       kFirst, "needs the four warps of the warp group, but warp 3 has exited"},
      {"OneWarpLeavesAfter", &kPlain,
       [](WgmmaKernel &k) {
         k.publish += "setp.ge.u32 %pTest, %tid, 96;\n@%pTest bra LEAVE;\n";
         k.store += "LEAVE:\nbar.sync 0;\n";
       },
       "ret;", "that another warp of the warp group executed"},
      {"HalfAWarpLeaves", &kPlain,
       [](WgmmaKernel &k) {
         k.publish += "setp.ge.u32 %pTest, %tid, 112;\n@%pTest bra LEAVE;\n";
         k.store += "LEAVE:\n";
       },
       "wgmma.fence", "needs all 32 threads of its warp"},
      {"OperandsWithoutProxyFence", &kPlain, [](WgmmaKernel &k) { k.publish = "bar.sync 0;\n"; },
       kFirst, "fence.proxy.async"},
      {"OperandOverwrittenBeforeTheWait", &kPlain,
       [](WgmmaKernel &k) { k.commit += "st.shared.b32 [%at+8192], %tid; // early\n"; }, "// early",
       "wgmma.wait_group"},
      {"ReservedBits", &kPlain, addToB("0x0010000000000000"), kFirst, "reserved bits are not zero"},
      {"BaseOffset", &kPlain, addToB("0x0002000000000000"), kFirst, "a base offset other than 0"},
      {"TileInsideItsPattern", &kPlain, addToB("8"), kFirst,
       "does not start in the first row of its swizzle pattern"},
      {"OutsideSharedMemory", &kPlain, addToB("64"), kFirst, "reads matrix B at shared address"},
      {"UnwrittenSharedMemory", &kPlain,
       [](WgmmaKernel &k) { k.fill.insert(k.fill.rfind("st.shared"), "@%pFalse "); }, kFirst,
       "where shared memory was never written"},
  };
}

/// The kernel's last copy is unconditional here: 64 rows of A and 16 columns of B make 10 KiB,
/// whose last KiB only 64 threads copy; the guard of that line is replaced.
static void runBroken(const BrokenCase &c, AsyncMode mode, std::uint64_t seed) {
  const WgmmaOperandCodes codes(*c.kernel);
  WgmmaKernel kernel(*c.kernel);
  c.breakIt(kernel);
  const std::string text = kernel.text();
  LaunchRequest options;
  options.asyncMode = mode;
  options.seed = seed;

  const WgmmaRun run = runWgmma(*c.kernel, codes, text, options);

  ASSERT_NE(run.result.fault, Fault::None);
  EXPECT_THAT(run.result.report, ::testing::HasSubstr(c.reportedText));
  EXPECT_THAT(run.result.report,
              ::testing::HasSubstr("PTX line " + std::to_string(lineOf(text, c.reportedLine))));
}

TEST_P(WgmmaRuleTest, IsReportedWithItsLineInEveryMode) {
  runBroken(GetParam(), AsyncMode::Eager, 0);
  runBroken(GetParam(), AsyncMode::Lazy, 0);
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    runBroken(GetParam(), AsyncMode::Random, seed);
  }
}

INSTANTIATE_TEST_SUITE_P(Broken, WgmmaRuleTest, ::testing::ValuesIn(brokenCases()),
                         [](const auto &test) { return std::string(test.param.name); });

TEST(WgmmaRulesTest, NeedsFourWarps) {
  const WgmmaOperandCodes codes(kPlain);
  const std::string text = WgmmaKernel(kPlain).text();

  const WgmmaRun run = runWgmma(kPlain, codes, text, {}, 96);

  EXPECT_THAT(run.result.report, ::testing::HasSubstr("needs the four warps of a warp group"));
}

TEST(WgmmaRulesTest, FenceMakesTouchedRegistersUsableAgain) {
  const WgmmaOperandCodes codes(kRegistersA);
  WgmmaKernel kernel(kRegistersA);
  insertBeforeSecond(kernel, kernel.commit + kernel.wait +
                                 "mov.b32 %x0, %ra1_1;\n"
                                 "mov.b32 %x1, %d3;\n" +
                                 kernel.fence);

  const WgmmaRun run = runWgmma(kRegistersA, codes, kernel.text());

  EXPECT_EQ(run.result.fault, Fault::None) << run.result.report;
  EXPECT_EQ(run.accumulators, expectedAccumulators(kRegistersA, codes));
}

} // namespace fp8jit::emulator::testing
