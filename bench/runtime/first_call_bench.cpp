// The first call of a fresh process with winner and binary on disk: open the store, look up, check,
// load, launch, over a driver that is ready at once. Each round opens everything anew, as a process
// would; only the page cache is warm.
#include "runtime/nvrtc_compiler.h"
#include "tests/runtime/fake_engine.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include <benchmark/benchmark.h>

#include <string>

namespace fp8jit {

using testing::FakeDriver;

static std::shared_ptr<Store> openStore(const std::string &folder) {
  llvm::Expected<std::unique_ptr<Store>> store =
      Store::open({.directory = folder, .readOnly = false, .onWarning = nullptr});
  if (!store) {
    llvm::consumeError(store.takeError()); // the null store makes the benchmark stop
    return nullptr;
  }
  return std::move(*store);
}

static Engine openEngine(const std::string &folder) {
  return Engine::Internals::makeEngine({.device = FakeDriver::openDevice(),
                                        .compiler = NvrtcCompiler::create(),
                                        .store = openStore(folder),
                                        .templates = TemplateLibrary::embedded(),
                                        .onMiss = OnMiss::UseDefault,
                                        .tuner = nullptr,
                                        .onWarning = nullptr});
}

/// Compiles once with the real NVRTC and keeps a winner for it.
static bool fill(const std::string &folder, const GemmProblem &problem) {
  Engine engine = openEngine(folder);
  const Result<Kernel> kernel = engine.prepare(problem);
  llvm::Expected<WinnerKey> key = engine.internals().winnerKey(problem);
  if (!kernel || !key || engine.internals().store() == nullptr) {
    return false;
  }
  Winner winner;
  winner.config = kernel->info().config;
  winner.provenance = "measured";
  winner.kernelKey = kernel->info().kernelKey;
  winner.timeNs = 1000;
  return !engine.internals().store()->putWinner(*key, winner);
}

static void firstCallFromDisk(benchmark::State &state) {
  FakeDriver::reset().doesRecord = false;
  llvm::SmallString<128> folder;
  if (llvm::sys::fs::createUniqueDirectory("fp8jit-bench", folder) ||
      !fill(folder.str().str(), testing::smallGemm())) {
    state.SkipWithError("the cache could not be filled");
    return;
  }
  for (auto _ : state) {
    Engine engine = openEngine(folder.str().str());
    const Result<void> result = engine.gemm(testing::smallGemm(), testing::gemmBuffers());
    const bool isFromDisk =
        engine.describe(testing::smallGemm())->configSource == ConfigSource::Winner;
    if (!result.ok() || !isFromDisk) {
      state.SkipWithError("the call was not served from disk");
    }
  }
  llvm::sys::fs::remove_directories(folder);
}
BENCHMARK(firstCallFromDisk)->Unit(benchmark::kMillisecond);

} // namespace fp8jit

BENCHMARK_MAIN();
