// Cost of one warp instruction in the interpreter, all checks on; the names with Unraced are
// without the race checks. Items are warp instructions of the named kind; the loop around them adds
// three integer instructions per sixteen.
#include "emulator/exec/global_memory.h"
#include "emulator/exec/launch.h"

#include <benchmark/benchmark.h>

#include <cstring>
#include <string>

namespace fp8jit::emulator {
namespace {

constexpr int kUnroll = 16;
constexpr int kIterations = 4096;

/// A kernel of one warp that repeats `line` kUnroll times in a loop.
std::string loopText(const std::string &line) {
  std::string text = ".version 8.7\n.target sm_89\n.address_size 64\n"
                     ".visible .entry k(.param .u64 p0)\n{\n"
                     ".reg .pred %p; .reg .b32 %r<16>; .reg .f32 %f<16>; .reg .b64 %rd<8>;\n"
                     ".reg .b16 %h<4>;\n"
                     ".shared .align 16 .b8 tile[4096];\n"
                     "ld.param.u64 %rd1, [p0];\n"
                     "mov.u32 %r1, %tid.x;\nmov.u32 %r3, tile;\nmov.u32 %r9, 0;\n"
                     "shl.b32 %r4, %r1, 2;\nadd.s32 %r4, %r4, %r3;\n"
                     "shl.b32 %r5, %r1, 4;\nadd.s32 %r5, %r5, %r3;\n"
                     "cvt.rn.f32.u32 %f1, %r1;\nmov.f32 %f2, 0f3F800000;\nmov.f32 %f3, %f1;\n"
                     "mul.wide.u32 %rd3, %r1, 16;\nadd.s64 %rd2, %rd1, %rd3;\n"
                     "mov.u32 %r10, 0;\nmov.u32 %r11, 0;\nmov.u32 %r12, 0;\nmov.u32 %r13, 0;\n"
                     "mov.u32 %r14, 0;\nmov.u32 %r15, 0;\nmov.u32 %r2, 0;\n"
                     "mov.f32 %f4, 0f00000000;\nmov.f32 %f5, %f4;\nmov.f32 %f6, %f4;\n"
                     "mov.f32 %f7, %f4;\n"
                     "st.shared.v4.b32 [%r5], {%r10, %r10, %r10, %r10};\nbar.sync 0;\n"
                     "LOOP:\n";
  for (int i = 0; i < kUnroll; ++i) {
    text += line + "\n";
  }
  return text + "add.u32 %r9, %r9, 1;\nsetp.lt.u32 %p, %r9, " + std::to_string(kIterations) +
         ";\n@%p bra LOOP;\nret;\n}\n";
}

void runLoop(benchmark::State &state, const std::string &line, RaceChecks races = RaceChecks::On) {
  Module module;
  PtxError error;
  if (!loadModule(loopText(line), "89", module, error)) {
    state.SkipWithError(error.message.c_str());
    return;
  }
  GlobalMemory memory(1 << 20);
  const std::uint64_t buffer = memory.allocate(4096);
  memory.fill(buffer, 0, 4, 1024);
  LaunchRequest request;
  request.module = &module;
  request.kernel = &module.kernels[0];
  request.block.x = 32;
  request.raceChecks = races;
  request.params.resize(sizeof(buffer));
  std::memcpy(request.params.data(), &buffer, sizeof(buffer));
  for (auto _ : state) {
    const LaunchResult result = runGrid(request, memory, kGpuProfiles[0]);
    if (result.fault != Fault::None) {
      state.SkipWithError(result.report.c_str());
      return;
    }
  }
  state.SetItemsProcessed(state.iterations() * kUnroll * kIterations);
}

} // namespace

BENCHMARK_CAPTURE(runLoop, integerAdd, std::string("add.s32 %r2, %r1, %r3;"));
BENCHMARK_CAPTURE(runLoop, integerAddChain, std::string("add.s32 %r2, %r2, %r1;"));
BENCHMARK_CAPTURE(runLoop, integerMadWide, std::string("mad.wide.u32 %rd4, %r1, %r1, %rd4;"));
BENCHMARK_CAPTURE(runLoop, floatFma, std::string("fma.rn.f32 %f4, %f1, %f2, %f3;"));
BENCHMARK_CAPTURE(runLoop, floatFmaChain, std::string("fma.rn.f32 %f3, %f1, %f2, %f3;"));
BENCHMARK_CAPTURE(runLoop, floatMax, std::string("max.f32 %f3, %f1, %f3;"));
BENCHMARK_CAPTURE(runLoop, setPredicate, std::string("setp.lt.f32 %p, %f1, %f2;"));
BENCHMARK_CAPTURE(runLoop, convertToE4m3,
                  std::string("cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;"));
BENCHMARK_CAPTURE(runLoop, convertToBf16, std::string("cvt.rn.bf16.f32 %h1, %f1;"));
BENCHMARK_CAPTURE(runLoop, shuffle, std::string("shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;"));
BENCHMARK_CAPTURE(runLoop, loadShared, std::string("ld.shared.b32 %r2, [%r4];"));
BENCHMARK_CAPTURE(runLoop, loadSharedUnraced, std::string("ld.shared.b32 %r2, [%r4];"),
                  RaceChecks::Off);
BENCHMARK_CAPTURE(runLoop, loadSharedVector4,
                  std::string("ld.shared.v4.b32 {%r10, %r11, %r12, %r13}, [%r5];"));
BENCHMARK_CAPTURE(runLoop, loadSharedVector4Unraced,
                  std::string("ld.shared.v4.b32 {%r10, %r11, %r12, %r13}, [%r5];"),
                  RaceChecks::Off);
BENCHMARK_CAPTURE(runLoop, storeShared, std::string("st.shared.b32 [%r4], %r1;"));
BENCHMARK_CAPTURE(runLoop, storeSharedUnraced, std::string("st.shared.b32 [%r4], %r1;"),
                  RaceChecks::Off);
BENCHMARK_CAPTURE(runLoop, loadGlobalVector4,
                  std::string("ld.global.v4.b32 {%r10, %r11, %r12, %r13}, [%rd2];"));
BENCHMARK_CAPTURE(runLoop, copyAsync,
                  std::string("cp.async.cg.shared.global [%r5], [%rd2], 16; cp.async.wait_all;"));
BENCHMARK_CAPTURE(runLoop, copyAsyncUnraced,
                  std::string("cp.async.cg.shared.global [%r5], [%rd2], 16; cp.async.wait_all;"),
                  RaceChecks::Off);
BENCHMARK_CAPTURE(
    runLoop, loadMatrix,
    std::string("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r5];"));
BENCHMARK_CAPTURE(
    runLoop, loadMatrixUnraced,
    std::string("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r5];"),
    RaceChecks::Off);
BENCHMARK_CAPTURE(runLoop, multiplyMatrix,
                  std::string("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f4, %f5, %f6, "
                              "%f7}, {%r10, %r11, %r12, %r13}, {%r14, %r15}, {%f4, %f5, %f6, "
                              "%f7};"));

} // namespace fp8jit::emulator

BENCHMARK_MAIN();
