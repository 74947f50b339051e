// Whole small kernels: loads, arithmetic, loops, barriers, and the counters they leave.
#include "tests/emulator/exec/kernel_runner.h"

namespace fp8jit::emulator::testing {

TEST(RunGridTest, AddsTwoVectorsOverSeveralBlocks) {
  KernelRunner runner;
  std::vector<float> a(200), b(200);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i);
    b[i] = 0.5F;
  }
  const std::uint64_t out = runner.memory.allocate(200 * sizeof(float));
  const std::string text = kernelText(R"(
    .reg .pred %p; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .b64 %rd<5>;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    setp.ge.s32 %p, %r4, 200;
    @%p bra DONE;
    mul.wide.s32 %rd1, %r4, 4;
    add.s64 %rd2, %pa, %rd1;
    add.s64 %rd3, %pb, %rd1;
    add.s64 %rd4, %po, %rd1;
    ld.global.f32 %f1, [%rd2];
    ld.global.f32 %f2, [%rd3];
    add.f32 %f3, %f1, %f2;
    st.global.f32 [%rd4], %f3;
DONE:)");

  const LaunchResult result =
      runner.run(text, {runner.upload(a), runner.upload(b), out}, {.x = 64}, {.x = 4});

  EXPECT_EQ(result.fault, Fault::None) << result.report;
  const std::vector<float> values = runner.download<float>(out, 200);
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(values[i], a[i] + b[i]) << i;
  }
  EXPECT_EQ(result.counters.blocksExecuted, 4U);
  EXPECT_EQ(result.counters.globalLoadSectors, 2U * 25U);
  EXPECT_EQ(result.counters.globalStoreSectors, 25U);
  EXPECT_GT(result.modelledNs, 0.0);
}

TEST(RunGridTest, ReversesThroughSharedMemory) {
  KernelRunner runner;
  std::vector<std::uint32_t> a(128);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<std::uint32_t>(i * 3);
  }
  const std::uint64_t out = runner.memory.allocate(128 * 4);
  const std::string text = kernelText(R"(
    .reg .b32 %r<8>; .reg .b64 %rd<4>;
    .shared .align 4 .b8 buffer[512];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd1, %r1, 4;
    add.s64 %rd2, %pa, %rd1;
    ld.global.u32 %r2, [%rd2];
    mov.u32 %r3, buffer;
    shl.b32 %r4, %r1, 2;
    add.s32 %r5, %r3, %r4;
    st.shared.u32 [%r5], %r2;
    bar.sync 0;
    sub.s32 %r6, 127, %r1;
    shl.b32 %r6, %r6, 2;
    add.s32 %r6, %r3, %r6;
    ld.shared.u32 %r7, [%r6];
    add.s64 %rd3, %po, %rd1;
    st.global.u32 [%rd3], %r7;)");

  const LaunchResult result = runner.run(text, {runner.upload(a), 0, out}, {.x = 128});

  EXPECT_EQ(result.fault, Fault::None) << result.report;
  const std::vector<std::uint32_t> values = runner.download<std::uint32_t>(out, 128);
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(values[i], a[127 - i]) << i;
  }
  EXPECT_EQ(result.counters.barrierWaits, 4U);
  EXPECT_EQ(result.counters.sharedWavefronts, 8U);
  EXPECT_EQ(result.counters.sharedBankConflicts, 0U);
}

} // namespace fp8jit::emulator::testing
