// Kernels with one planted error each, reported with the line at fault, and their corrected twins.
#include "tests/emulator/exec/kernel_runner.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <ostream>

namespace fp8jit::emulator::testing {
namespace {

using ::testing::HasSubstr;

/// The number of the line of `text` that holds `marker`.
std::string lineOf(const std::string &text, const std::string &marker) {
  const std::size_t at = text.find(marker);
  EXPECT_NE(at, std::string::npos) << marker;
  return "PTX line " +
         std::to_string(1 + std::count(text.begin(), text.begin() + static_cast<long>(at), '\n'));
}

struct Planted {
  std::string name, body, marker; ///< marker: text of the instruction at fault
  Fault fault;
  std::string says;
  std::uint32_t threads = 64;
};

/// Names the case in listings, in place of its bytes.
void PrintTo(const Planted &planted, std::ostream *out) {
  *out << planted.name;
}

const std::string kDeclare = ".reg .pred %p, %q; .reg .b32 %r<12>; .reg .b64 %rd<8>;\n"
                             ".shared .align 16 .b8 tile[1024];\n"
                             "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd1, %r1, 4;\n"
                             "add.s64 %rd2, %pa, %rd1;\nadd.s64 %rd3, %po, %rd1;\n"
                             "shl.b32 %r2, %r1, 2;\nmov.u32 %r3, tile;\nadd.s32 %r4, %r3, %r2;\n";

/// %pa: 64 written words; %pb: 64 words never written; %po: 64 words to write.
LaunchResult runBody(KernelRunner &runner, const std::string &body, std::uint32_t threads) {
  const std::vector<std::uint32_t> values(64, 7);
  const std::uint64_t input = runner.upload(values);
  const std::uint64_t unwritten = runner.memory.allocate(256);
  const std::uint64_t output = runner.memory.allocate(256);
  return runner.run(kernelText(kDeclare + body), {input, unwritten, output}, {.x = threads});
}

class PlantedErrorTest : public ::testing::TestWithParam<Planted> {};

TEST_P(PlantedErrorTest, IsReportedWithItsLine) {
  const Planted &planted = GetParam();
  KernelRunner runner;

  const LaunchResult result = runBody(runner, planted.body, planted.threads);

  EXPECT_EQ(result.fault, planted.fault) << result.report;
  EXPECT_THAT(result.report,
              HasSubstr(lineOf(kernelText(kDeclare + planted.body), planted.marker)));
  EXPECT_THAT(result.report, HasSubstr(planted.says));
  EXPECT_THAT(result.report, HasSubstr("kernel k"));
}

const Planted kPlanted[] = {
    {"ReadsPastTheEnd", "ld.global.u32 %r5, [%rd2+4];\nst.global.u32 [%rd3], %r5;",
     "ld.global.u32 %r5", Fault::IllegalAddress, "thread (63,0,0)"},
    {"ReadsBeforeTheBegin", "ld.global.u32 %r5, [%rd2+-4];\nst.global.u32 [%rd3], %r5;",
     "ld.global.u32 %r5", Fault::IllegalAddress, "4 bytes before the 256-byte allocation"},
    {"ReadsNull", "mov.b64 %rd4, 0;\nld.global.u32 %r5, [%rd4];\nst.global.u32 [%rd3], %r5;",
     "ld.global.u32 %r5", Fault::IllegalAddress, "reads 4 bytes at 0x0"},
    {"VectorReachesPastTheEnd",
     "mul.wide.u32 %rd5, %r1, 16;\nadd.s64 %rd5, %pa, %rd5;\n"
     "ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%rd5];\nst.global.u32 [%rd3], %r5;",
     "ld.global.v4.u32", Fault::IllegalAddress, "thread (16,0,0)"},
    {"MisalignedVector", "ld.global.v2.u32 {%r5, %r6}, [%rd2];\nst.global.u32 [%rd3], %r5;",
     "ld.global.v2.u32", Fault::MisalignedAddress, "not a multiple of 8"},
    {"MisalignedShared", "add.s32 %r4, %r4, 2;\nst.shared.u32 [%r4], %r1;", "st.shared.u32",
     Fault::MisalignedAddress, "shared offset 0x2"},
    {"SharedPastTheEnd", "st.shared.u32 [%r4+1000], %r1;", "st.shared.u32 [%r4+1000]",
     Fault::IllegalAddress, "outside the 1024 bytes"},
    {"ReadsGlobalNeverWritten",
     "add.s64 %rd4, %pb, %rd1;\nld.global.u32 %r5, [%rd4];\nst.global.u32 [%rd3], %r5;",
     "ld.global.u32 %r5", Fault::UninitializedRead, "byte 0 was never written"},
    {"ReadsSharedNeverWritten", "ld.shared.u32 %r5, [%r4];\nst.global.u32 [%rd3], %r5;",
     "ld.shared.u32 %r5", Fault::UninitializedRead, "thread (0,0,0)"},
    {"ReadsSharedPartlyWritten",
     "st.shared.u8 [%r4], %r1;\nld.shared.u32 %r5, [%r4];\nst.global.u32 [%rd3], %r5;",
     "ld.shared.u32 %r5", Fault::UninitializedRead, "byte 1 was never written"},
    {"WaitsForAWarpThatSkipsTheBarrier",
     "setp.ge.u32 %p, %r1, 32;\n@%p bra SKIP;\nbar.sync 1, 64;\nSKIP:\n", "bar.sync 1, 64",
     Fault::Deadlock, "32 of 64 threads"},
    {"DivergentBarrier",
     "and.b32 %r5, %r1, 1;\nsetp.eq.u32 %p, %r5, 0;\n@%p bra SKIP;\nbar.sync 0;\n"
     "SKIP:\nst.global.u32 [%rd3], %r1;",
     "bar.sync 0", Fault::IllegalInstruction, "aligned"},
    {"DifferentCountsAtOneBarrier",
     "setp.ge.u32 %p, %r1, 32;\n@%p bra OTHER;\nbar.sync 1, 64;\nbra DONE;\n"
     "OTHER:\nbar.sync 1, 96;\nDONE:\n",
     "bar.sync 1, 96", Fault::IllegalInstruction, "its open phase expects 64"},
    {"BarrierNumberOutOfRange", "mov.u32 %r5, 16;\nbar.sync %r5;", "bar.sync %r5",
     Fault::IllegalInstruction, "0 to 15"},
    {"ShuffleWithoutItself",
     "shfl.sync.bfly.b32 %r5, %r1, 1, 31, 0xfffffffe;\nst.global.u32 [%rd3], %r5;", "shfl.sync",
     Fault::IllegalInstruction, "lane 0"},
    {"ShuffleMembersThatNeverCome",
     "and.b32 %r5, %r1, 1;\nsetp.eq.u32 %p, %r5, 0;\n@%p bra LOOP;\n"
     "shfl.sync.bfly.b32 %r5, %r1, 1, 31, -1;\nst.global.u32 [%rd3], %r5;\nbra DONE;\n"
     "LOOP:\nbar.warp.sync -1;\nDONE:\n",
     "shfl.sync", Fault::IllegalInstruction, "never arrive"},
    {"Trap", "trap;", "trap;", Fault::Trap, "trap"},
    {"UnwaitedCopy",
     "cp.async.ca.shared.global [%r4], [%rd2], 4;\ncp.async.commit_group;\n"
     "ld.shared.u32 %r5, [%r4];\nst.global.u32 [%rd3], %r5;\ncp.async.wait_all;",
     "ld.shared.u32 %r5", Fault::UninitializedRead, "never written"},
    {"WaitThatLeavesOneGroupTooMany",
     "cp.async.ca.shared.global [%r4], [%rd2], 4;\ncp.async.commit_group;\n"
     "cp.async.wait_group 1;\nld.shared.u32 %r5, [%r4];\nst.global.u32 [%rd3], %r5;\n"
     "cp.async.wait_all;",
     "ld.shared.u32 %r5", Fault::UninitializedRead, "never written"},
    {"MisalignedCopy", "cp.async.cg.shared.global [%r3], [%rd2], 16;\ncp.async.wait_all;",
     "cp.async.cg", Fault::MisalignedAddress, "not a multiple of 16"},
    {"CopyNeverWaitedFor", "cp.async.ca.shared.global [%r4], [%rd2], 4;", "cp.async.ca",
     Fault::IllegalInstruction, "never waited for"},
    {"CopyFromNeverWritten",
     "add.s64 %rd4, %pb, %rd1;\ncp.async.ca.shared.global [%r4], [%rd4], 4;\ncp.async.wait_all;",
     "cp.async.ca", Fault::UninitializedRead, "never written"},
};

INSTANTIATE_TEST_SUITE_P(All, PlantedErrorTest, ::testing::ValuesIn(kPlanted),
                         [](const auto &tested) { return tested.param.name; });

/// Bodies that do it right; each is the twin of a planted error.
struct Corrected {
  std::string name, body;
};

void PrintTo(const Corrected &corrected, std::ostream *out) {
  *out << corrected.name;
}

class CorrectedTwinTest : public ::testing::TestWithParam<Corrected> {};

TEST_P(CorrectedTwinTest, RunsWithoutFinding) {
  KernelRunner runner;

  const LaunchResult result = runBody(runner, GetParam().body, 64);

  EXPECT_EQ(result.fault, Fault::None) << result.report;
  EXPECT_EQ(result.report, "");
}

const Corrected kCorrected[] = {
    {"ReadsInside", "ld.global.u32 %r5, [%rd2];\nst.global.u32 [%rd3], %r5;"},
    {"GuardedVector", "setp.ge.u32 %p, %r1, 16;\n@%p bra DONE;\nmul.wide.u32 %rd5, %r1, 16;\n"
                      "add.s64 %rd5, %pa, %rd5;\nld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%rd5];\n"
                      "st.global.u32 [%rd3], %r5;\nDONE:\n"},
    {"SharedWrittenFirst",
     "st.shared.u32 [%r4], %r1;\nld.shared.u32 %r5, [%r4];\nst.global.u32 [%rd3], %r5;"},
    {"BarrierOfTheRightCount", "setp.ge.u32 %p, %r1, 32;\n@%p bra SKIP;\nbar.sync 1, 32;\nSKIP:\n"},
    {"ArriveAndSync", "setp.ge.u32 %p, %r1, 32;\n@%p bra OTHER;\nbar.arrive 1, 64;\nbra DONE;\n"
                      "OTHER:\nbar.sync 1, 64;\nDONE:\n"},
    {"EarlyExitBeforeABarrier",
     "setp.ge.u32 %p, %r1, 40;\n@%p bra DONE;\nst.shared.u32 [%r4], %r1;\nbar.sync 0;\n"
     "ld.shared.u32 %r5, [%r3];\nst.global.u32 [%rd3], %r5;\nDONE:\n"},
    {"ReconvergesBeforeTheBarrier", "and.b32 %r5, %r1, 1;\nsetp.eq.u32 %p, %r5, 0;\n@%p bra SKIP;\n"
                                    "st.global.u32 [%rd3], %r1;\nSKIP:\nbar.sync 0;"},
    {"WaitedCopy", "cp.async.ca.shared.global [%r4], [%rd2], 4;\ncp.async.commit_group;\n"
                   "cp.async.wait_group 0;\nld.shared.u32 %r5, [%r4];\nst.global.u32 [%rd3], %r5;"},
    {"CopyOfNothingFromNowhere",
     "mov.b64 %rd4, 0;\nmov.u32 %r6, 0;\ncp.async.ca.shared.global [%r4], [%rd4], 4, %r6;\n"
     "cp.async.wait_all;\nld.shared.u32 %r5, [%r4];\nst.global.u32 [%rd3], %r5;"},
};

INSTANTIATE_TEST_SUITE_P(All, CorrectedTwinTest, ::testing::ValuesIn(kCorrected),
                         [](const auto &tested) { return tested.param.name; });

TEST(FaultTest, NamesFreedMemory) {
  KernelRunner runner;
  const std::uint64_t freed = runner.upload(std::vector<std::uint32_t>(64, 1));
  ASSERT_TRUE(runner.memory.release(freed));

  const LaunchResult result =
      runner.run(kernelText(".reg .b32 %r1;\nld.global.u32 %r1, [%pa];"), {freed, 0, 0});

  EXPECT_EQ(result.fault, Fault::IllegalAddress);
  EXPECT_THAT(result.report, HasSubstr("the freed 256-byte allocation"));
}

TEST(FaultTest, GivesUpAnEndlessLoop) {
  KernelRunner runner;
  runner.request.instructionBudget = 100000;

  const LaunchResult result = runner.run(kernelText("LOOP:\nbra LOOP;"), {0, 0, 0});

  EXPECT_EQ(result.fault, Fault::Budget);
  EXPECT_THAT(result.report, HasSubstr("instruction budget"));
}

TEST(FaultTest, ReportModeGoesOnAfterAFinding) {
  KernelRunner runner;
  runner.request.strictness = EmulatorStrictness::Report;

  const LaunchResult result =
      runBody(runner, "ld.shared.u32 %r5, [%r4];\nst.global.u32 [%rd3], %r1;", 64);

  EXPECT_EQ(result.fault, Fault::None);
  EXPECT_THAT(result.report, HasSubstr("never written"));
}

TEST(FaultTest, ReportModeStopsWhereHardwareWould) {
  KernelRunner runner;
  runner.request.strictness = EmulatorStrictness::Report;

  const LaunchResult result = runBody(runner, "ld.global.u32 %r5, [%rd2+4];", 64);

  EXPECT_EQ(result.fault, Fault::IllegalAddress);
}

} // namespace
} // namespace fp8jit::emulator::testing
