// wgmma.m64n128k32 on the emulated H200, all checks on: GFLOP/s of one core with the fetch of its
// operands from swizzled shared memory, four instructions to a group, as a GEMM's main loop has
// them.
#include "emulator/exec/global_memory.h"
#include "emulator/exec/launch.h"

#include <benchmark/benchmark.h>

#include <cstring>
#include <string>

namespace fp8jit::emulator {
namespace {

constexpr int kIterations = 64;
constexpr int kColumns = 128;
constexpr int kSteps = 4;

/// Fills 64 and 128 rows of 128 bytes with one code each, then multiplies in a loop.
std::string loopText() {
  std::string accumulators = "%d0";
  for (int i = 1; i < kColumns / 2; ++i) {
    accumulators += ", %d" + std::to_string(i);
  }
  std::string text = ".version 8.7\n.target sm_90a\n.address_size 64\n"
                     ".extern .shared .align 1024 .b8 tile[];\n"
                     ".visible .entry k(.param .u64 p0)\n{\n"
                     ".reg .pred %p, %q; .reg .b32 %r<8>, %d<64>; .reg .b64 %a<2>, %b<2>;\n"
                     "mov.u32 %r0, %tid.x;\nmov.u32 %r1, tile;\nshl.b32 %r2, %r0, 4;\n"
                     "add.u32 %r2, %r2, %r1;\nmul.lo.u32 %r3, %r0, 0x01030507;\n"
                     "and.b32 %r3, %r3, 0xb7b7b7b7;\n";
  for (int at = 0; at < (64 + kColumns) * 128; at += 2048) {
    text += "st.shared.v4.b32 [%r2+" + std::to_string(at) + "], {%r3, %r3, %r3, %r3};\n";
  }
  text += "fence.proxy.async;\nbar.sync 0;\nshr.u32 %r4, %r1, 4;\ncvt.u64.u32 %a0, %r4;\n"
          "add.u64 %a0, %a0, 0x4000004000010000;\nadd.u64 %b0, %a0, 512;\n"
          "setp.eq.u32 %p, 0, 0;\nmov.u32 %r5, 0;\nLOOP:\n"
          "mov.b64 %a1, %a0;\nmov.b64 %b1, %b0;\nwgmma.fence.sync.aligned;\n";
  for (int step = 0; step < kSteps; ++step) {
    text += "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 {" + accumulators +
            "}, %a1, %b1, %p, 1, 1;\nadd.u64 %a1, %a1, 2;\nadd.u64 %b1, %b1, 2;\n";
  }
  return text +
         "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
         "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %q, %r5, " +
         std::to_string(kIterations) + ";\n@%q bra LOOP;\nret;\n}\n";
}

void runWgmma(benchmark::State &state, AsyncMode mode) {
  Module module;
  PtxError error;
  if (!loadModule(loopText(), "90a", module, error)) {
    state.SkipWithError(error.message.c_str());
    return;
  }
  GlobalMemory memory(1 << 20);
  LaunchRequest request;
  request.module = &module;
  request.kernel = &module.kernels[0];
  request.block.x = 128;
  request.dynamicSharedBytes = (64 + kColumns) * 128;
  request.params.resize(sizeof(std::uint64_t));
  request.asyncMode = mode;
  const GpuProfile &profile = *findProfileByArch("90a");
  for (auto _ : state) {
    const LaunchResult result = runGrid(request, memory, profile);
    if (result.fault != Fault::None) {
      state.SkipWithError(result.report.c_str());
      return;
    }
  }
  const double flop = 2.0 * 64 * kColumns * 32 * kSteps * kIterations;
  state.counters["GFLOP/s"] = benchmark::Counter(
      flop * 1e-9 * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

} // namespace

BENCHMARK_CAPTURE(runWgmma, eager, AsyncMode::Eager);
BENCHMARK_CAPTURE(runWgmma, lazy, AsyncMode::Lazy);

} // namespace fp8jit::emulator

BENCHMARK_MAIN();
