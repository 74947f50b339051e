// Time to write a source, without compiling it: a small part of a cold call.
#include "generator/generate.h"
#include "generator/problem_text.h"
#include "support/error.h"

#include <benchmark/benchmark.h>

namespace fp8jit {

/// Generates the default source of `line` again and again.
static void generateDefault(benchmark::State &state, const char *line) {
  const GpuProfile &profile = *findProfileByArch("89");
  const TemplateLibrary templates = TemplateLibrary::embedded();
  llvm::Expected<Problem> problem = parseProblem(line);
  if (!problem) {
    state.SkipWithError(takeFailure(problem.takeError()).text().c_str());
    return;
  }
  const Config config = defaultConfig(*problem, profile);
  std::size_t bytes = 0;
  for (auto _ : state) {
    llvm::Expected<GeneratedSource> source = generateSource(*problem, config, profile, templates);
    if (!source) {
      state.SkipWithError(takeFailure(source.takeError()).text().c_str());
      return;
    }
    bytes = source->text.size();
  }
  state.counters["sourceBytes"] = static_cast<double>(bytes);
}

static void listCandidates(benchmark::State &state) {
  const GpuProfile &profile = *findProfileByArch("89");
  GemmProblem problem;
  problem.m = 4096, problem.n = 7168, problem.k = 2048;
  for (auto _ : state) {
    benchmark::DoNotOptimize(candidateConfigs(problem, profile));
  }
}

BENCHMARK_CAPTURE(generateDefault, gemm, "gemm m=4096 n=7168 k=2048 sa=1x128 sb=128x128")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(generateDefault, quant, "quant m=4096 n=7168 s=1x128")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(listCandidates)->Unit(benchmark::kMicrosecond);

} // namespace fp8jit

BENCHMARK_MAIN();
