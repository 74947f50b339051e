// Kernels with one missing barrier, wait or fence each, reported with both lines, and their
// corrected twins.
#include "tests/emulator/exec/kernel_runner.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <ostream>

namespace fp8jit::emulator::testing {
namespace {

using ::testing::HasSubstr;

const std::string kRaceDeclare =
    ".reg .pred %p, %q; .reg .b16 %h; .reg .b32 %r<12>; .reg .b64 %rd<8>;\n"
    ".shared .align 16 .b8 tile[4096];\n"
    "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd1, %r1, 4;\nadd.s64 %rd2, %pa, %rd1;\n"
    "add.s64 %rd3, %po, %rd1;\nshl.b32 %r2, %r1, 2;\nmov.u32 %r3, tile;\nadd.s32 %r4, %r3, %r2;\n"
    // %r5: the word of the thread 32 further on, of 128
    "add.s32 %r5, %r1, 32;\nand.b32 %r5, %r5, 127;\nshl.b32 %r5, %r5, 2;\nadd.s32 %r5, %r3, %r5;\n"
    "mov.u16 %h, 1;\nst.shared.u32 [%r4], 0;\nbar.sync 0;\n";

/// Two accesses that race where EDGE in `body` is `wrong`, and are in order where it is `right`.
struct RaceCase {
  std::string name, body, wrong, right;
  std::string first, second; ///< texts of the instructions that a report names, in any order
  std::string says;
};

void PrintTo(const RaceCase &tested, std::ostream *out) {
  *out << tested.name;
}

std::string withEdge(const RaceCase &tested, const std::string &edge) {
  std::string body = tested.body;
  return body.replace(body.find("EDGE"), 4, edge);
}

std::string raceLine(const std::string &text, const std::string &marker) {
  const std::size_t at = text.find(marker);
  EXPECT_NE(at, std::string::npos) << marker;
  return "PTX line " +
         std::to_string(1 + std::count(text.begin(), text.begin() + static_cast<long>(at), '\n')) +
         ": ";
}

/// 128 threads; %pa: 128 words, %pb: a counter of zero, %po: 128 words to write.
LaunchResult runRace(KernelRunner &runner, const std::string &body) {
  const std::uint64_t input = runner.upload(std::vector<std::uint32_t>(128, 7));
  const std::uint64_t counter = runner.upload(std::vector<std::uint32_t>(1, 0));
  const std::uint64_t output = runner.memory.allocate(512);
  return runner.run(kernelText(kRaceDeclare + body), {input, counter, output}, {.x = 128});
}

class RaceKernelTest : public ::testing::TestWithParam<RaceCase> {};

TEST_P(RaceKernelTest, IsReportedWithBothLines) {
  const RaceCase &tested = GetParam();
  const std::string body = withEdge(tested, tested.wrong);
  KernelRunner runner;

  const LaunchResult result = runRace(runner, body);

  const std::string text = kernelText(kRaceDeclare + body);
  EXPECT_EQ(result.fault, Fault::DataRace) << result.report;
  EXPECT_THAT(result.report, HasSubstr("kernel k, block (0,0,0), thread ("));
  EXPECT_THAT(result.report, HasSubstr(raceLine(text, tested.first)));
  EXPECT_THAT(result.report, HasSubstr(raceLine(text, tested.second)));
  EXPECT_THAT(result.report, HasSubstr(tested.says));
}

TEST_P(RaceKernelTest, ItsTwinWithTheEdgeIsAccepted) {
  const RaceCase &tested = GetParam();
  KernelRunner runner;

  const LaunchResult result = runRace(runner, withEdge(tested, tested.right));

  EXPECT_EQ(result.fault, Fault::None) << result.report;
  EXPECT_EQ(result.report, "");
}

TEST_P(RaceKernelTest, IsNotReportedWhereTheChecksAreOff) {
  const RaceCase &tested = GetParam();
  KernelRunner runner;
  runner.request.raceChecks = RaceChecks::Off;

  const LaunchResult result = runRace(runner, withEdge(tested, tested.wrong));

  EXPECT_NE(result.fault, Fault::DataRace) << result.report;
}

const RaceCase kRaceCases[] = {
    {"StoreThenLoad",
     "st.shared.u32 [%r4], %r1;\nEDGE\nld.shared.u32 %r6, [%r5];\nst.global.u32 [%rd3], %r6;", "",
     "bar.sync 0;", "st.shared.u32 [%r4], %r1", "ld.shared.u32 %r6", "no barrier orders the two"},
    {"StoreOverWhatIsRead",
     "st.shared.u32 [%r4], %r1;\nbar.sync 0;\nld.shared.u32 %r6, [%r5];\nEDGE\n"
     "st.shared.u32 [%r4], %r6;\n",
     "", "bar.sync 0;", "ld.shared.u32 %r6", "st.shared.u32 [%r4], %r6", "read by"},
    {"StoreOverAStore",
     "setp.lt.u32 %p, %r1, 32;\nsetp.ge.u32 %q, %r1, 96;\n@%p st.shared.u32 [%r4], %r1;\nEDGE\n"
     "@%q st.shared.u32 [%r5], %r1;",
     "", "bar.sync 0;", "@%p st.shared", "@%q st.shared", "written by warp"},
    {"RingOfTwoStages", // the barrier at the end of a turn
     "mov.u32 %r7, 0;\nLOOP:\nand.b32 %r8, %r7, 512;\nadd.s32 %r9, %r4, %r8;\n"
     "add.s32 %r10, %r5, %r8;\nst.shared.u32 [%r9], %r1;\nbar.sync 1, 128;\n"
     "ld.shared.u32 %r6, [%r10];\nEDGE\nadd.s32 %r7, %r7, 512;\nsetp.lt.u32 %p, %r7, 2048;\n"
     "@%p bra LOOP;\nst.shared.u32 [%r9], %r6;",
     "", "bar.sync 2, 128;", "ld.shared.u32 %r6", "st.shared.u32 [%r9], %r6", "no barrier"},
    {"NamedBarrierOfOneGroupOnly", // warps 0 and 1 write, 2 and 3 read
     "setp.ge.u32 %p, %r1, 64;\n@%p bra OTHER;\nst.shared.u32 [%r4], %r1;\nbar.sync 1, 64;\n"
     "bar.arrive 2, 128;\nbra DONE;\nOTHER:\nEDGE\nld.shared.u32 %r6, [%r4+-256];\n"
     "st.global.u32 [%rd3], %r6;\nbar.sync 3, 64;\nDONE:\n",
     "bar.arrive 2, 128;", "bar.sync 2, 128;", "st.shared.u32 [%r4], %r1", "ld.shared.u32 %r6",
     "no barrier"},
    {"CopyWithoutBarrier",
     "cp.async.ca.shared.global [%r4], [%rd2], 4;\ncp.async.wait_all;\nEDGE\n"
     "ld.shared.u32 %r6, [%r5];\nst.global.u32 [%rd3], %r6;",
     "", "bar.sync 0;", "cp.async.ca.shared", "ld.shared.u32 %r6", "no "},
    {"CopyOverWhatIsRead",
     "ld.shared.u32 %r6, [%r5];\nEDGE\ncp.async.ca.shared.global [%r4], [%rd2], 4;\n"
     "cp.async.wait_all;",
     "", "bar.sync 0;", "ld.shared.u32 %r6", "cp.async.ca.shared", "shared offset"},
    {"MatrixLoad",
     "st.shared.u32 [%r4], %r1;\nEDGE\nand.b32 %r7, %r1, 31;\nshl.b32 %r7, %r7, 4;\n"
     "add.s32 %r7, %r3, %r7;\n"
     "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r6, %r8, %r9, %r10}, [%r7];\n"
     "st.global.u32 [%rd3], %r6;",
     "", "bar.sync 0;", "st.shared.u32 [%r4], %r1", "ldmatrix", "no barrier"},
    {"BytesOfAWord", // the bytes of each warp are its own; the words that others load are not
     "add.s32 %r7, %r3, %r1;\nst.shared.u8 [%r7], %h;\nld.shared.u8 %h, [%r7];\nEDGE\n"
     "ld.shared.u32 %r6, [%r5];\nst.global.u32 [%rd3], %r6;",
     "", "bar.sync 0;", "st.shared.u8", "ld.shared.u32 %r6", "no barrier"},
    {"AtomicThenLoad",
     "atom.shared.add.u32 %r6, [%r3], 1;\nEDGE\nld.shared.u32 %r6, [%r3];\n"
     "st.global.u32 [%rd3], %r6;",
     "", "bar.sync 0;", "atom.shared", "ld.shared.u32 %r6", "shared offset 0x0"},
    {"LastToCountWithoutFence", // the last warp to count reads what the others wrote
     "st.shared.u32 [%r4], %r1;\nEDGE\nand.b32 %r7, %r1, 31;\nsetp.ne.u32 %p, %r7, 0;\n"
     "mov.u32 %r6, 0;\n@!%p atom.global.add.u32 %r6, [%pb], 1;\nmembar.cta;\n"
     "setp.ne.u32 %q, %r6, 3;\n@%q bra DONE;\nld.shared.u32 %r8, [%r5];\n"
     "st.global.u32 [%rd3], %r8;\nDONE:\n",
     "", "membar.cta;", "st.shared.u32 [%r4], %r1", "ld.shared.u32 %r8", "no barrier"},
};

INSTANTIATE_TEST_SUITE_P(All, RaceKernelTest, ::testing::ValuesIn(kRaceCases),
                         [](const auto &tested) { return tested.param.name; });

TEST(RaceReportTest, ListsEachPairOfLinesOnce) {
  KernelRunner runner;
  runner.request.strictness = EmulatorStrictness::Report;
  runner.request.raceChecks = RaceChecks::On;

  const LaunchResult result = runRace(
      runner, "st.shared.u32 [%r4], %r1;\nld.shared.u32 %r6, [%r5];\nst.global.u32 [%rd3], %r6;");

  EXPECT_EQ(result.fault, Fault::None);
  const std::string pair = "no barrier orders the two";
  const std::size_t first = result.report.find(pair);
  EXPECT_NE(first, std::string::npos) << result.report;
  EXPECT_EQ(result.report.find(pair, first + 1), std::string::npos) << result.report;
}

TEST(RaceReportTest, AWarpMayReadWhatItsOwnLanesWrote) {
  KernelRunner runner;

  const LaunchResult result = runRace(
      runner, "st.shared.u32 [%r4], %r1;\nbar.warp.sync -1;\nxor.b32 %r7, %r2, 4;\n"
              "add.s32 %r7, %r7, %r3;\nld.shared.u32 %r6, [%r7];\nst.global.u32 [%rd3], %r6;");

  EXPECT_EQ(result.report, "");
}

} // namespace
} // namespace fp8jit::emulator::testing
