// Cold JIT: generate one problem with its default configuration and compile it to PTX and cubin,
// with NVRTC loaded before.
#include "runtime/kernel_builder.h"
#include "runtime/nvrtc_compiler.h"

#include <benchmark/benchmark.h>

namespace fp8jit {

static GemmProblem gemmProblem(ScaleUnit sa, ScaleUnit sb, Format d) {
  GemmProblem problem;
  problem.m = 4096;
  problem.n = 7168;
  problem.k = 2048;
  problem.sa = sa;
  problem.sb = sb;
  problem.d = d;
  return problem;
}

static QuantProblem quantProblem(ScaleUnit unit) {
  QuantProblem problem;
  problem.m = 4096;
  problem.n = 7168;
  problem.s = unit;
  return problem;
}

static void coldJit(benchmark::State &state, const Problem &problem) {
  KernelBuilder builder({.templates = TemplateLibrary::embedded(),
                         .compiler = NvrtcCompiler::create(),
                         .store = nullptr,
                         .onWarning = nullptr});
  const GpuProfile &profile = kGpuProfiles.front();
  const Config config = defaultConfig(problem, profile);
  state.SetLabel(printConfig(config));
  for (auto _ : state) {
    // Nobody holds the result, so the next round compiles again.
    auto built = builder.build(problem, config, profile);
    if (!built) {
      state.SkipWithError(llvm::toString(built.takeError()).c_str());
      return;
    }
    benchmark::DoNotOptimize(*built);
  }
}

BENCHMARK_CAPTURE(coldJit, quantTensor, quantProblem(ScaleUnit::Tensor))
    ->Unit(benchmark::kMillisecond)
    ->Iterations(5);
BENCHMARK_CAPTURE(coldJit, quantRow, quantProblem(ScaleUnit::Row))
    ->Unit(benchmark::kMillisecond)
    ->Iterations(5);
BENCHMARK_CAPTURE(coldJit, quant1x128, quantProblem(ScaleUnit::Block1x128))
    ->Unit(benchmark::kMillisecond)
    ->Iterations(5);
BENCHMARK_CAPTURE(coldJit, quant128x128, quantProblem(ScaleUnit::Block128x128))
    ->Unit(benchmark::kMillisecond)
    ->Iterations(5);
BENCHMARK_CAPTURE(coldJit, gemmTensorBf16,
                  gemmProblem(ScaleUnit::Tensor, ScaleUnit::Tensor, Format::BF16))
    ->Unit(benchmark::kMillisecond)
    ->Iterations(5);
BENCHMARK_CAPTURE(coldJit, gemmRowBf16, gemmProblem(ScaleUnit::Row, ScaleUnit::Row, Format::BF16))
    ->Unit(benchmark::kMillisecond)
    ->Iterations(5);
BENCHMARK_CAPTURE(coldJit, gemmBlockBf16,
                  gemmProblem(ScaleUnit::Block1x128, ScaleUnit::Block128x128, Format::BF16))
    ->Unit(benchmark::kMillisecond)
    ->Iterations(5);

} // namespace fp8jit

BENCHMARK_MAIN();
