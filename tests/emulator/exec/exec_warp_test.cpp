// Divergence, warp collectives, barriers with reduction, atomics, asynchronous copies, ldmatrix.
#include "tests/emulator/exec/lane_program.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace fp8jit::emulator::testing {
namespace {

/// Runs `line` in one warp with %a = %tid.x and returns %d of every lane.
std::vector<std::uint32_t> runWarpLine(const std::string &line) {
  std::vector<LaneCase> cases(32);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    cases[i].a = i;
    cases[i].b = i * i;
  }
  const std::vector<std::uint64_t> wide = runLine(line, 'd', cases);
  return {wide.begin(), wide.end()};
}

TEST(DivergenceTest, LoopsWithDifferentTripCountsReconverge) {
  const auto values = runWarpLine("LOOP:\nsetp.ge.u32 %p, %e, %a;\n@%p bra DONE;\n"
                                  "add.u32 %e, %e, 1;\nbra LOOP;\nDONE:\n"
                                  "activemask.b32 %d;\nxor.b32 %d, %d, %e;");

  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(values[lane], 0xffffffffU ^ lane);
  }
}

TEST(DivergenceTest, BothArmsOfABranchRun) {
  const auto values =
      runWarpLine("and.b32 %e, %a, 1;\nsetp.eq.u32 %p, %e, 0;\n@%p bra EVEN;\n"
                  "add.u32 %d, %a, 100;\nbra DONE;\nEVEN:\nadd.u32 %d, %a, 200;\nDONE:\n");

  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(values[lane], lane + (lane % 2 != 0 ? 100 : 200));
  }
}

TEST(DivergenceTest, LanesThatSpinOnOthersMakeProgress) {
  KernelRunner runner;
  const std::uint64_t flag = runner.upload(std::vector<std::uint32_t>(1, 0));
  const std::uint64_t out = runner.upload(std::vector<std::uint32_t>(1, 0));
  // Each lane takes the lock in turn: the spinning lanes stand at a lower pc than its holder.
  const std::string text = kernelText(R"(.reg .pred %p; .reg .b32 %r<4>;
LOCK:
atom.global.cas.b32 %r1, [%pa], 0, 1;
setp.ne.u32 %p, %r1, 0;
@%p bra LOCK;
ld.volatile.global.u32 %r2, [%po];
add.u32 %r2, %r2, 1;
st.volatile.global.u32 [%po], %r2;
atom.global.exch.b32 %r3, [%pa], 0;)");

  const LaunchResult result = runner.run(text, {flag, 0, out});

  EXPECT_EQ(result.fault, Fault::None) << result.report;
  EXPECT_EQ(runner.download<std::uint32_t>(out, 1)[0], 32U);
}

TEST(CollectiveTest, ShufflesInEveryMode) {
  const auto up = runWarpLine("shfl.sync.up.b32 %d, %a, 3, 0, -1;");
  const auto down = runWarpLine("shfl.sync.down.b32 %d, %a, 5, 31, -1;");
  const auto butterfly = runWarpLine("shfl.sync.bfly.b32 %d, %a, 12, 31, -1;");
  const auto broadcast = runWarpLine("shfl.sync.idx.b32 %d, %b, 7, 31, -1;");
  const auto segments = runWarpLine("shfl.sync.idx.b32 %d, %a, 2, 0x181f, -1;"); // width 8
  const auto valid = runWarpLine("shfl.sync.down.b32 %e|%p, %a, 5, 31, -1; selp.b32 %d, 1, 0, %p;");

  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(up[lane], lane >= 3 ? lane - 3 : lane);
    EXPECT_EQ(down[lane], lane + 5 < 32 ? lane + 5 : lane);
    EXPECT_EQ(butterfly[lane], lane ^ 12U);
    EXPECT_EQ(broadcast[lane], 49U);
    EXPECT_EQ(segments[lane], (lane & 24U) + 2);
    EXPECT_EQ(valid[lane], lane + 5 < 32 ? 1U : 0U);
  }
}

TEST(CollectiveTest, VotesReducesAndMatches) {
  const auto ballot = runWarpLine("setp.lt.u32 %p, %a, 5; vote.sync.ballot.b32 %d, %p, -1;");
  const auto any =
      runWarpLine("setp.eq.u32 %p, %a, 5; vote.sync.any.pred %q, %p, -1; selp.b32 %d, 1, 0, %q;");
  const auto all =
      runWarpLine("setp.eq.u32 %p, %a, 5; vote.sync.all.pred %q, %p, -1; selp.b32 %d, 1, 0, %q;");
  const auto sum = runWarpLine("redux.sync.add.u32 %d, %a, -1;");
  const auto greatest = runWarpLine("neg.s32 %e, %a; redux.sync.max.s32 %d, %e, -1;");
  const auto match = runWarpLine("and.b32 %e, %a, 3; match.any.sync.b32 %d, %e, -1;");
  const auto pairs = runWarpLine("mov.u32 %e, 3; and.b32 %t, %a, 30; shl.b32 %e, %e, %t; "
                                 "redux.sync.add.u32 %d, %a, %e;");

  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(ballot[lane], 0x1fU);
    EXPECT_EQ(any[lane], 1U);
    EXPECT_EQ(all[lane], 0U);
    EXPECT_EQ(sum[lane], 496U);
    EXPECT_EQ(greatest[lane], 0U);
    EXPECT_EQ(match[lane], 0x11111111U << (lane % 4));
    EXPECT_EQ(pairs[lane], (lane & 30U) * 2 + 1) << "each pair with a mask of its own";
  }
}

TEST(CollectiveTest, BarrierReductionsCountThreads) {
  KernelRunner runner;
  const std::uint64_t out = runner.memory.allocate(96 * 4);
  const std::string text = kernelText(R"(.reg .pred %p, %q; .reg .b32 %r<5>; .reg .b64 %rd<3>;
mov.u32 %r1, %tid.x;
setp.lt.u32 %p, %r1, 37;
bar.red.popc.u32 %r2, 0, %p;
bar.red.or.pred %q, 0, %p;
selp.u32 %r3, 1000, 0, %q;
add.u32 %r2, %r2, %r3;
bar.red.and.pred %q, 0, %p;
selp.u32 %r3, 5000, 0, %q;
add.u32 %r2, %r2, %r3;
mul.wide.u32 %rd1, %r1, 4;
add.s64 %rd2, %po, %rd1;
st.global.u32 [%rd2], %r2;)");

  const LaunchResult result = runner.run(text, {0, 0, out}, {.x = 96});

  EXPECT_EQ(result.fault, Fault::None) << result.report;
  for (const std::uint32_t value : runner.download<std::uint32_t>(out, 96)) {
    EXPECT_EQ(value, 1037U);
  }
}

TEST(AtomicTest, AllThreadsOfAllBlocksCount) {
  KernelRunner runner;
  const std::uint64_t counters = runner.upload(std::vector<std::uint32_t>(8, 0));
  const std::string text = kernelText(R"(.reg .b32 %r<4>; .reg .f32 %f1;
mov.u32 %r1, %tid.x;
red.global.add.u32 [%pa], 1;
mov.f32 %f1, 0f3F000000;
red.global.add.f32 [%pa+4], %f1;
red.global.max.u32 [%pa+8], %r1;
atom.global.inc.u32 %r2, [%pa+12], 9;
red.global.or.b32 [%pa+16], %r1;
neg.s32 %r3, %r1;
red.global.min.s32 [%pa+20], %r3;)");

  const LaunchResult result = runner.run(text, {counters, 0, 0}, {.x = 128}, {.x = 3});

  EXPECT_EQ(result.fault, Fault::None) << result.report;
  const auto values = runner.download<std::uint32_t>(counters, 8);
  EXPECT_EQ(values[0], 384U);
  EXPECT_EQ(std::bit_cast<float>(values[1]), 192.0F);
  EXPECT_EQ(values[2], 127U);
  EXPECT_EQ(values[3], 384U % 10U);
  EXPECT_EQ(values[4], 127U);
  EXPECT_EQ(values[5], static_cast<std::uint32_t>(-127));
}

TEST(AsyncCopyTest, FillsWithZeroBeyondTheSourceSize) {
  KernelRunner runner;
  std::vector<std::uint8_t> bytes(16);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{1});
  const std::uint64_t in = runner.upload(bytes);
  const std::uint64_t out = runner.memory.allocate(16 * 16);
  const std::string text = kernelText(R"(.reg .b32 %r<8>; .reg .b64 %rd<3>;
.shared .align 16 .b8 tile[256];
mov.u32 %r1, %tid.x;
mov.u32 %r2, tile;
shl.b32 %r3, %r1, 4;
add.s32 %r2, %r2, %r3;
cp.async.cg.shared.global [%r2], [%pa], 16, %r1;
cp.async.commit_group;
cp.async.wait_group 0;
ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r2];
mul.wide.u32 %rd1, %r1, 16;
add.s64 %rd2, %po, %rd1;
st.global.v4.b32 [%rd2], {%r4, %r5, %r6, %r7};)");

  const LaunchResult result = runner.run(text, {in, 0, out}, {.x = 16});

  EXPECT_EQ(result.fault, Fault::None) << result.report;
  const auto values = runner.download<std::uint8_t>(out, 256);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t byte = i % 16;
    EXPECT_EQ(values[i], byte < i / 16 ? bytes[byte] : 0) << i;
  }
}

TEST(MatrixTest, LoadsFragmentsWithAndWithoutTranspose) {
  KernelRunner runner;
  const std::uint64_t out = runner.memory.allocate(32 * 16);
  // Matrix i is row r = 8i + r of 8 16-bit elements with the value 256 i + 16 r + column.
  const std::string text =
      kernelText(R"(.reg .pred %p; .reg .b32 %r<12>; .reg .b16 %h<3>; .reg .b64 %rd<3>;
.shared .align 16 .b8 tile[512];
mov.u32 %r1, %tid.x;
mov.u32 %r2, tile;
shl.b32 %r3, %r1, 4;
add.s32 %r2, %r2, %r3;
shr.u32 %r4, %r1, 3;
shl.b32 %r4, %r4, 8;
and.b32 %r5, %r1, 7;
shl.b32 %r5, %r5, 4;
add.s32 %r4, %r4, %r5;
mov.u32 %r6, 0;
FILL:
add.s32 %r7, %r4, %r6;
cvt.u16.u32 %h1, %r7;
shl.b32 %r7, %r6, 1;
add.s32 %r7, %r2, %r7;
st.shared.u16 [%r7], %h1;
add.s32 %r6, %r6, 1;
setp.lt.u32 %p, %r6, 8;
@%p bra FILL;
bar.warp.sync -1;
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r8, %r9, %r10, %r11}, [%r2];
ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r6, %r7}, [%r2];
mul.wide.u32 %rd1, %r1, 16;
add.s64 %rd2, %po, %rd1;
st.global.v4.b32 [%rd2], {%r8, %r11, %r6, %r7};)");

  const LaunchResult result = runner.run(text, {0, 0, out});

  EXPECT_EQ(result.fault, Fault::None) << result.report;
  const auto values = runner.download<std::uint32_t>(out, 128);
  const auto element = [](std::uint32_t matrix, std::uint32_t row, std::uint32_t column) {
    return 256 * matrix + 16 * row + column;
  };
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t row = lane / 4, column = 2 * (lane % 4);
    for (const std::uint32_t matrix : {0U, 3U}) {
      EXPECT_EQ(values[4 * lane + (matrix == 0 ? 0 : 1)],
                element(matrix, row, column) | element(matrix, row, column + 1) << 16);
    }
    for (const std::uint32_t matrix : {0U, 1U}) {
      EXPECT_EQ(values[4 * lane + 2 + matrix],
                element(matrix, column, row) | element(matrix, column + 1, row) << 16);
    }
  }
}

TEST(SamplingTest, RunsFirstAndLastBlockAndScalesCounters) {
  KernelRunner runner;
  const std::uint64_t out = runner.upload(std::vector<std::uint32_t>(100, 0));
  const std::string text = kernelText(R"(.reg .b32 %r1; .reg .b64 %rd<3>;
mov.u32 %r1, %ctaid.x;
mul.wide.u32 %rd1, %r1, 4;
add.s64 %rd2, %po, %rd1;
st.global.u32 [%rd2], 1;)");
  runner.request.blockSample = 5;

  const LaunchResult result = runner.run(text, {0, 0, out}, {.x = 32}, {.x = 100});

  const auto values = runner.download<std::uint32_t>(out, 100);
  EXPECT_EQ(std::accumulate(values.begin(), values.end(), 0U), 5U);
  EXPECT_EQ(values.front(), 1U);
  EXPECT_EQ(values.back(), 1U);
  EXPECT_EQ(result.counters.blocksExecuted, 5U);
  EXPECT_EQ(result.counters.blocksTotal, 100U);
  EXPECT_EQ(result.counters.globalStoreSectors, 100U);
}

} // namespace
} // namespace fp8jit::emulator::testing
