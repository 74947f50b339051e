// Global memory, address spaces, traffic counters and the time model.
#include "emulator/exec/time_model.h"
#include "tests/emulator/exec/kernel_runner.h"

#include <numeric>

namespace fp8jit::emulator::testing {
namespace {

TEST(GlobalMemoryTest, KeepsAllocationsApartAndAligned) {
  GlobalMemory memory(1 << 20);

  const std::uint64_t first = memory.allocate(100);
  const std::uint64_t second = memory.allocate(100);

  EXPECT_EQ(first % GlobalMemory::kAlignment, 0U);
  EXPECT_EQ(second % GlobalMemory::kAlignment, 0U);
  EXPECT_EQ(memory.usedBytes(), 200U);
  ASSERT_TRUE(memory.find(first + 99).has_value());
  EXPECT_EQ(memory.find(first + 99)->begin, first);
  EXPECT_FALSE(memory.find(first + 100).has_value());
  EXPECT_FALSE(memory.find(second - 1).has_value());
}

TEST(GlobalMemoryTest, RefusesWhatDoesNotFit) {
  GlobalMemory memory(1000);

  EXPECT_EQ(memory.allocate(1001), 0U);
  EXPECT_EQ(memory.allocate(0), 0U);
  EXPECT_NE(memory.allocate(600), 0U);
  EXPECT_EQ(memory.allocate(600), 0U);
}

TEST(GlobalMemoryTest, FreesOnceAndRemembers) {
  GlobalMemory memory(1000);
  const std::uint64_t address = memory.allocate(64);
  const std::uint64_t generation = memory.generation();

  EXPECT_FALSE(memory.release(address + 1));
  EXPECT_TRUE(memory.release(address));
  EXPECT_FALSE(memory.release(address));

  EXPECT_NE(memory.generation(), generation);
  EXPECT_FALSE(memory.find(address).has_value());
  EXPECT_EQ(
      memory.describe(address + 4), "byte 4 of the freed 64-byte allocation at 0x" + [&] {
        char text[32];
        std::snprintf(text, sizeof(text), "%llx", static_cast<unsigned long long>(address));
        return std::string(text);
      }());
  EXPECT_EQ(memory.usedBytes(), 0U);
}

TEST(GlobalMemoryTest, CopiesOnlyInsideOneAllocation) {
  GlobalMemory memory(1000);
  const std::uint64_t address = memory.allocate(16);
  std::vector<std::uint8_t> bytes(16);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});

  EXPECT_FALSE(memory.copyIn(address, bytes.data(), 17));
  EXPECT_FALSE(memory.copyIn(address + 1, bytes.data(), 16));
  EXPECT_FALSE(memory.fill(address + 12, 0, 4, 2));
  EXPECT_TRUE(memory.copyIn(address, bytes.data(), 16));
  EXPECT_TRUE(memory.copyWithin(address + 3, address, 10)); // overlapping
  std::vector<std::uint8_t> read(16);
  EXPECT_TRUE(memory.copyOut(read.data(), address, 16));

  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(read[i + 3], i);
  }
}

TEST(GlobalMemoryTest, CopiesCarryTheWrittenMarks) {
  KernelRunner runner;
  const std::uint64_t from = runner.memory.allocate(128);
  const std::uint64_t to = runner.memory.allocate(128);
  ASSERT_TRUE(runner.memory.fill(from, 5, 4, 16));
  ASSERT_TRUE(runner.memory.copyWithin(to, from, 128));
  const std::string text = kernelText(".reg .b32 %r1;\nld.global.u32 %r1, [%pa+60];\n"
                                      "ld.global.u32 %r1, [%pa+64];");

  const LaunchResult result = runner.run(text, {to, 0, 0});

  EXPECT_EQ(result.fault, Fault::UninitializedRead);
  EXPECT_NE(result.report.find("PTX line 12"), std::string::npos) << result.report;
}

TEST(GlobalMemoryTest, ServesRegisteredHostMemory) {
  KernelRunner runner;
  alignas(16) std::uint32_t host[4] = {1, 2, 3, 4};
  ASSERT_TRUE(runner.memory.registerHost(host, sizeof(host)));
  const std::uint64_t address = reinterpret_cast<std::uintptr_t>(host);

  const LaunchResult result = runner.run(
      kernelText(".reg .b32 %r1;\nld.global.u32 %r1, [%pa+8];\nst.global.u32 [%pa], %r1;"),
      {address, 0, 0});

  EXPECT_EQ(result.fault, Fault::None) << result.report;
  EXPECT_EQ(host[0], 3U);
  EXPECT_TRUE(runner.memory.unregisterHost(host));
  EXPECT_FALSE(runner.memory.find(address).has_value());
}

TEST(AddressSpaceTest, GenericAddressesReachEverySpace) {
  KernelRunner runner;
  const std::uint64_t out = runner.memory.allocate(32 * 4);
  const std::string text = kernelText(R"(.reg .pred %p, %q; .reg .b32 %r<6>; .reg .b64 %rd<8>;
.shared .align 4 .b8 tile[128];
.local .align 8 .b8 stack[16];
mov.u32 %r1, %tid.x;
mov.u64 %rd1, tile;
cvta.shared.u64 %rd2, %rd1;
mul.wide.u32 %rd3, %r1, 4;
add.s64 %rd2, %rd2, %rd3;
st.u32 [%rd2], %r1;
ld.u32 %r2, [%rd2];
mov.u64 %rd4, stack;
cvta.local.u64 %rd5, %rd4;
st.local.u32 [%rd4+8], %r1;
ld.u32 %r3, [%rd5+8];
add.u32 %r2, %r2, %r3;
isspacep.shared %p, %rd2;
isspacep.global %q, %rd2;
selp.u32 %r4, 100, 0, %p;
selp.u32 %r5, 1000, 0, %q;
add.u32 %r2, %r2, %r4;
add.u32 %r2, %r2, %r5;
add.s64 %rd6, %po, %rd3;
st.u32 [%rd6], %r2;)");

  const LaunchResult result = runner.run(text, {0, 0, out});

  EXPECT_EQ(result.fault, Fault::None) << result.report;
  const auto values = runner.download<std::uint32_t>(out, 32);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(values[lane], 2 * lane + 100);
  }
}

/// Wavefronts and conflicts of one ld.shared of `type` at %tid.x times `stride` bytes.
EmulatorCounters sharedCounters(const std::string &type, int stride) {
  KernelRunner runner;
  runner.request.strictness = EmulatorStrictness::Report; // the tile is never written
  const std::string registers = type == "v4.b32"   ? "{%r3, %r4, %r5, %r6}"
                                : type == "v2.b32" ? "{%r3, %r4}"
                                                   : "%r3";
  const LaunchResult result = runner.run(
      kernelText(".reg .b32 %r<8>;\n.shared .align 16 .b8 tile[8192];\nmov.u32 %r1, %tid.x;\n"
                 "mov.u32 %r2, tile;\nmad.lo.u32 %r2, %r1, " +
                 std::to_string(stride) + ", %r2;\nld.shared." + type + " " + registers +
                 ", [%r2];"),
      {0, 0, 0});
  EXPECT_EQ(result.fault, Fault::None) << result.report;
  return result.counters;
}

TEST(CounterTest, CountsSharedWavefrontsByBank) {
  struct Expectation {
    std::string type;
    int stride;
    std::uint64_t wavefronts, conflicts;
  };
  const Expectation table[] = {{"b32", 4, 1, 0},     {"b32", 8, 2, 1},     {"b32", 128, 32, 31},
                               {"b32", 132, 1, 0},   {"b32", 0, 1, 0},     {"v2.b32", 8, 2, 0},
                               {"v4.b32", 16, 4, 0}, {"v4.b32", 32, 8, 4}, {"v4.b32", 128, 32, 28},
                               {"b8", 1, 1, 0}};
  for (const Expectation &expected : table) {
    const EmulatorCounters counters = sharedCounters(expected.type, expected.stride);
    EXPECT_EQ(counters.sharedWavefronts, expected.wavefronts)
        << expected.type << " stride " << expected.stride;
    EXPECT_EQ(counters.sharedBankConflicts, expected.conflicts)
        << expected.type << " stride " << expected.stride;
  }
}

TEST(CounterTest, CountsDistinctSectors) {
  for (const auto &[stride, sectors] :
       {std::pair{4, 4U}, {32, 32U}, {0, 1U}, {-4, 4U}, {12, 12U}}) {
    KernelRunner runner;
    const std::uint64_t in = runner.upload(std::vector<std::uint32_t>(1024, 1));
    const LaunchResult result = runner.run(
        kernelText(".reg .b32 %r<3>; .reg .b64 %rd<3>;\nmov.u32 %r1, %tid.x;\nmul.wide.s32 %rd1, "
                   "%r1, " +
                   std::to_string(stride) +
                   ";\nadd.s64 %rd2, %pa, %rd1;\nld.global.u32 %r2, [%rd2+1024];"),
        {in, 0, 0});
    EXPECT_EQ(result.fault, Fault::None) << result.report;
    EXPECT_EQ(result.counters.globalLoadSectors, stride == -4 ? 5U : sectors) << stride;
  }
}

TEST(TimeModelTest, GrowsWithEveryCounter) {
  const GpuProfile &profile = *findProfileByArch("89");
  ModelInput base{.counters = {}, .threadsPerBlock = 128, .sharedBytesPerBlock = 32768};
  base.counters.blocksTotal = 1000;
  const double empty = modelTime(base, profile).totalNs;
  std::uint64_t EmulatorCounters::*const members[] = {
      &EmulatorCounters::warpInstructions,   &EmulatorCounters::floatInstructions,
      &EmulatorCounters::mmaFlops,           &EmulatorCounters::globalLoadSectors,
      &EmulatorCounters::globalStoreSectors, &EmulatorCounters::sharedWavefronts,
      &EmulatorCounters::barrierWaits};
  for (const auto member : members) {
    ModelInput more = base;
    more.counters.*member = 1'000'000'000;
    EXPECT_GT(modelTime(more, profile).totalNs, empty);
    ModelInput evenMore = more;
    evenMore.counters.*member *= 2;
    EXPECT_GT(modelTime(evenMore, profile).totalNs, modelTime(more, profile).totalNs);
  }
}

TEST(TimeModelTest, TensorBoundWorkTakesThePeakRate) {
  const GpuProfile &profile = *findProfileByArch("89");
  ModelInput input{.counters = {}, .threadsPerBlock = 128, .sharedBytesPerBlock = 32768};
  input.counters.blocksTotal = 142 * 4;
  input.counters.mmaFlops = 2'000'000'000'000;

  const double seconds = modelTime(input, profile).tensorNs * 1e-9;

  const double peak = 142.0 * 2048 * 2.3e9; // SMs, flop per clock and SM, clock
  EXPECT_NEAR(2e12 / seconds, peak, peak * 1e-9);
}

TEST(TimeModelTest, OccupancyFollowsTheScarcestResource) {
  const GpuProfile &profile = *findProfileByArch("89");
  ModelInput input{
      .counters = {}, .threadsPerBlock = 128, .sharedBytesPerBlock = 0, .registersPerThread = 32};

  EXPECT_EQ(blocksPerSm(input, profile), 12U); // 1536 threads
  input.registersPerThread = 128;
  EXPECT_EQ(blocksPerSm(input, profile), 4U); // 65536 registers
  input.sharedBytesPerBlock = 49 * 1024;
  EXPECT_EQ(blocksPerSm(input, profile), 2U); // 100 KiB with 1 KiB reserved per block
}

} // namespace
} // namespace fp8jit::emulator::testing
