// The store: opening, look-ups of winners and binaries, writing. Files are on the local disk, in
// the operating system's cache.
#include "cache/store.h"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace fp8jit {

static constexpr int kWinners = 200;

static WinnerKey keyOf(int number) {
  return {.problem = "gemm m<=64 n=" + std::to_string(number) +
                     " k=7168 a=e4m3 b=e4m3 d=bf16 sa=1x128 sb=128x128",
          .target = "NVIDIA L40S (emulated) sm=142 l2=100663296",
          .toolchain = "nvrtc 13.0.88 sm_89 templates=0123456789abcdef"};
}

static std::string hexKey(int number) {
  const std::string digits = std::to_string(number);
  return std::string(64 - digits.size(), '0') + digits;
}

namespace {

/// A folder with a filled store, removed at the end.
class FilledStore {
public:
  FilledStore() {
    std::string pattern = (std::filesystem::temp_directory_path() / "fp8jit-bench-XXXXXX").string();
    directory = ::mkdtemp(pattern.data());
    store = open();
    StoredBinary binary;
    binary.arch = "sm_89";
    for (int i = 0; i < 20000; ++i) {
      binary.cubin += static_cast<char>(i * i >> 7);
      binary.ptx += "mma.sync.aligned"[i % 16];
    }
    binary.entries = {{.name = "kernel", .threads = 256}};
    llvm::cantFail(store->putBinary(hexKey(1), binary));
    for (int i = 0; i < kWinners; ++i) {
      llvm::cantFail(store->putWinner(keyOf(i), {.config = "mma tile=128x128x128",
                                                 .provenance = "modelled",
                                                 .kernelKey = hexKey(1),
                                                 .timeNs = 1000}));
    }
  }
  ~FilledStore() {
    store.reset();
    std::filesystem::remove_all(directory);
  }
  FilledStore(const FilledStore &) = delete;
  FilledStore &operator=(const FilledStore &) = delete;

  std::unique_ptr<Store> open() const {
    return llvm::cantFail(Store::open({.directory = directory}));
  }

  std::string directory;
  std::unique_ptr<Store> store;
};

} // namespace

static void openAndFirstLookUp(benchmark::State &state) {
  const FilledStore filled;
  for (auto _ : state) {
    benchmark::DoNotOptimize(filled.open()->findWinner(keyOf(17)));
  }
}
BENCHMARK(openAndFirstLookUp)->Unit(benchmark::kMicrosecond);

static void findWinner(benchmark::State &state) {
  const FilledStore filled;
  const WinnerKey key = keyOf(17);
  for (auto _ : state) {
    benchmark::DoNotOptimize(filled.store->findWinner(key));
  }
}
BENCHMARK(findWinner)->Unit(benchmark::kMicrosecond);

static void missWinner(benchmark::State &state) {
  const FilledStore filled;
  const WinnerKey key = keyOf(-1);
  for (auto _ : state) {
    benchmark::DoNotOptimize(filled.store->findWinner(key));
  }
}
BENCHMARK(missWinner)->Unit(benchmark::kMicrosecond);

static void findBinary(benchmark::State &state) {
  const FilledStore filled;
  const std::string key = hexKey(1);
  for (auto _ : state) {
    benchmark::DoNotOptimize(filled.store->findBinary(key));
  }
}
BENCHMARK(findBinary)->Unit(benchmark::kMicrosecond);

static void putWinner(benchmark::State &state) {
  const FilledStore filled;
  const WinnerKey key = keyOf(17);
  for (auto _ : state) {
    llvm::cantFail(filled.store->putWinner(key, {.config = "mma tile=128x128x128",
                                                 .provenance = "modelled",
                                                 .kernelKey = hexKey(1),
                                                 .timeNs = 1000}));
  }
}
BENCHMARK(putWinner)->Unit(benchmark::kMicrosecond);

} // namespace fp8jit

BENCHMARK_MAIN();
