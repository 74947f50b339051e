// Loading PTX: at most 50 ms for 100 KB is the goal. The text is a kernel that NVRTC made of our
// own source, repeated under other names up to that size.
#include "emulator/ptx/program.h"

#include <benchmark/benchmark.h>

#include <fstream>
#include <iterator>
#include <string>

namespace fp8jit::emulator {

static std::string readFile(const std::string &name) {
  std::ifstream file(std::string(FP8JIT_PTX_DATA_DIR) + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// `text` with a numbered copy of its kernels appended until it has `bytes`.
static std::string repeatKernels(const std::string &text, const std::string &kernelName,
                                 std::size_t bytes) {
  const std::size_t begin = text.find(".visible .entry");
  const std::string header = text.substr(0, begin);
  const std::string kernels = text.substr(begin, text.find("\n}\n", begin) + 3 - begin);
  std::string result = header;
  for (int copy = 0; result.size() < bytes; ++copy) {
    std::string renamed = kernels;
    renamed.replace(renamed.find(kernelName), kernelName.size(), kernelName + std::to_string(copy));
    result += renamed;
  }
  return result;
}

static void load(benchmark::State &state, const std::string &text, bool shareSlots) {
  for (auto _ : state) {
    Module module;
    PtxError error;
    if (!loadModule(text, "89", {.shareSlots = shareSlots}, module, error)) {
      state.SkipWithError(error.message.c_str());
      return;
    }
    benchmark::DoNotOptimize(module);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
}

static void loadTensorTile100KB(benchmark::State &state) {
  load(state, repeatKernels(readFile("tensor_tile.ptx"), "tensorTile", 100'000), true);
}
BENCHMARK(loadTensorTile100KB)->Unit(benchmark::kMillisecond);

static void loadTensorTile100KBWithoutSharing(benchmark::State &state) {
  load(state, repeatKernels(readFile("tensor_tile.ptx"), "tensorTile", 100'000), false);
}
BENCHMARK(loadTensorTile100KBWithoutSharing)->Unit(benchmark::kMillisecond);

static void loadScalar22KB(benchmark::State &state) {
  load(state, readFile("scalar.ptx"), true);
}
BENCHMARK(loadScalar22KB)->Unit(benchmark::kMillisecond);

} // namespace fp8jit::emulator

BENCHMARK_MAIN();
