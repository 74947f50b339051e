// Bulk copies, the barriers that they signal and elect.sync, in every mode.
#include "tests/emulator/exec/kernel_runner.h"

#include <numeric>

namespace fp8jit::emulator::testing {
namespace {

/// Thread 0 has 256 bytes copied to shared memory; all 32 threads wait for phase 0 and write what
/// they find. `expected` are the bytes that the barrier waits for, `wait` the code of the wait.
std::string bulkKernel(const std::string &expected, const std::string &wait) {
  return ".version 8.7\n.target sm_90\n.address_size 64\n"
         ".visible .entry k(.param .u64 p0, .param .u64 p1)\n{\n"
         ".reg .b64 %pa, %po, %x; .reg .b32 %t, %s, %b, %v, %leader; .reg .pred %p, %q;\n"
         ".shared .align 16 .b8 tile[256]; .shared .align 8 .b8 bar[8];\n"
         "ld.param.u64 %pa, [p0];\nld.param.u64 %po, [p1];\n"
         "mov.u32 %t, %tid.x; mov.u32 %s, tile; mov.u32 %b, bar;\n"
         "elect.sync %leader|%q, 0xffffffff;\n"
         "@!%q bra READY;\n"
         "mbarrier.init.shared::cta.b64 [%b], 1;\n"
         "fence.proxy.async.shared::cta;\n"
         "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], " +
         expected +
         ";\n"
         "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%pa], 256, "
         "[%b];\n"
         "READY:\nbar.sync 0;\n" +
         wait +
         "mad.lo.u32 %s, %t, 4, %s; ld.shared.u32 %v, [%s];\n"
         "add.u32 %v, %v, %leader;\n"
         "mul.wide.u32 %x, %t, 4; add.s64 %po, %po, %x; st.global.u32 [%po], %v;\nret;\n}\n";
}

constexpr const char *kWait = "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p, [%b], 0;\n"
                              "@!%p bra WAIT;\n";

class BulkCopyTest : public ::testing::Test {
protected:
  LaunchResult run(const std::string &text, AsyncMode mode, std::uint64_t seed = 0) {
    std::vector<std::uint32_t> input(64);
    std::iota(input.begin(), input.end(), 100U);
    in_ = runner_.upload(input);
    out_ = runner_.memory.allocate(128);
    Module module;
    PtxError error;
    if (!loadModule(text, "90a", module, error)) {
      ADD_FAILURE() << "line " << error.line << ": " << error.message;
      return {};
    }
    LaunchRequest request;
    request.module = &module;
    request.kernel = &module.kernels.at(0);
    request.block = {.x = 32};
    request.asyncMode = mode;
    request.seed = seed;
    const std::uint64_t arguments[] = {in_, out_};
    request.params.resize(sizeof(arguments));
    std::memcpy(request.params.data(), arguments, sizeof(arguments));
    return runGrid(request, runner_.memory, *findProfileByArch("90a"));
  }

  KernelRunner runner_;
  std::uint64_t in_ = 0, out_ = 0;
};

} // namespace

TEST_F(BulkCopyTest, ArrivesBehindItsBarrierInEveryMode) {
  const std::string text = bulkKernel("256", kWait);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const AsyncMode mode = seed == 0   ? AsyncMode::Eager
                           : seed == 1 ? AsyncMode::Lazy
                                       : AsyncMode::Random;

    const LaunchResult result = run(text, mode, seed);

    ASSERT_EQ(result.fault, Fault::None) << result.report;
    const std::vector<std::uint32_t> values = runner_.download<std::uint32_t>(out_, 32);
    for (std::uint32_t i = 0; i < 32; ++i) {
      EXPECT_EQ(values[i], 100 + i) << "seed " << seed;
    }
  }
}

TEST_F(BulkCopyTest, IsReportedWhenNobodyWaits) {
  const LaunchResult result = run(bulkKernel("256", ""), AsyncMode::Lazy);

  EXPECT_NE(result.fault, Fault::None);
  EXPECT_NE(result.report.find("ld.shared.u32"), std::string::npos) << result.report;
}

TEST_F(BulkCopyTest, IsADeadlockWhenTheBarrierExpectsMoreBytes) {
  const LaunchResult result = run(bulkKernel("272", kWait), AsyncMode::Lazy);

  EXPECT_EQ(result.fault, Fault::Deadlock) << result.report;
  EXPECT_NE(result.report.find("16 bytes missing"), std::string::npos) << result.report;
}

} // namespace fp8jit::emulator::testing
