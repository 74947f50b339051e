// What a call costs before the driver: warm Engine::gemm with 10,000 kernels loaded, and a prepared
// launch, over a driver whose launch returns at once; from 1 to 8 threads.
#include "tests/runtime/fake_engine.h"

#include <benchmark/benchmark.h>

#include <memory>

namespace fp8jit {

using testing::FakeDriver;
using testing::FakeEngine;

static constexpr std::int64_t kKernels = 10000;

/// Problem `i` of many that all have kernels of their own.
static GemmProblem problemOf(std::int64_t i) {
  GemmProblem problem = testing::smallGemm();
  problem.n = 16 * (1 + i % 100);
  problem.k = 16 * (1 + i / 100);
  return problem;
}

/// One engine for all benchmarks and threads, filled at the first use.
static FakeEngine &loadedEngine() {
  static const std::unique_ptr<FakeEngine> kEngine = [] {
    FakeDriver::reset().doesRecord = false;
    auto made = std::make_unique<FakeEngine>();
    for (std::int64_t i = 0; i < kKernels; ++i) {
      if (!made->engine.gemm(problemOf(i), testing::gemmBuffers())) {
        std::abort();
      }
    }
    return made;
  }();
  return *kEngine;
}

static void warmGemm(benchmark::State &state) {
  Engine &engine = loadedEngine().engine;
  const GemmBuffers buffers = testing::gemmBuffers();
  std::int64_t i = state.thread_index() * 997;
  for (auto _ : state) {
    i = (i + 1) % kKernels;
    const Result<void> result = engine.gemm(problemOf(i), buffers);
    if (!result.ok()) {
      state.SkipWithError(result.error().message.c_str());
    }
  }
}
BENCHMARK(warmGemm)->ThreadRange(1, 8)->UseRealTime();

static void warmQuantizeWithWorkspace(benchmark::State &state) {
  Engine &engine = loadedEngine().engine;
  const QuantBuffers buffers = testing::quantBuffers();
  for (auto _ : state) {
    const Result<void> result = engine.quantize(testing::smallQuant(), buffers);
    if (!result.ok()) {
      state.SkipWithError(result.error().message.c_str());
    }
  }
}
BENCHMARK(warmQuantizeWithWorkspace);

static void preparedLaunch(benchmark::State &state) {
  const Result<Kernel> kernel = loadedEngine().engine.prepare(problemOf(5));
  const GemmBuffers buffers = testing::gemmBuffers();
  for (auto _ : state) {
    const Result<void> result = kernel->launch(buffers);
    if (!result.ok()) {
      state.SkipWithError(result.error().message.c_str());
    }
  }
}
BENCHMARK(preparedLaunch)->ThreadRange(1, 8)->UseRealTime();

} // namespace fp8jit

BENCHMARK_MAIN();
