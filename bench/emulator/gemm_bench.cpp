// A whole sm_89 GEMM on the emulated device: GFLOP/s on one core, bit-accurate, all checks on.
// Compiles the generated kernel with NVRTC once; the time is that of launch and execution.
#include "fp8jit/engine.h"
#include "runtime/device.h"
#include "runtime/engine_internals.h"

#include "benchmark/benchmark.h"

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace fp8jit {
namespace {

/// Operands of one problem on the device.
struct Operands {
  DeviceBuffer a, b, sa, sb, d;
};

} // namespace

/// A buffer holding `bytes`; ends the program where memory is short.
static DeviceBuffer upload(Device &device, const void *bytes, std::size_t sizeBytes) {
  DeviceBuffer buffer = llvm::cantFail(device.allocate(sizeBytes));
  llvm::cantFail(device.copyToDevice(buffer.data(), bytes, sizeBytes));
  return buffer;
}

/// Random codes without NaN, and scales of one.
static Operands makeOperands(Device &device, std::size_t size) {
  std::mt19937 random(7);
  std::vector<std::uint8_t> codes(size * size);
  for (std::uint8_t &code : codes) {
    code = static_cast<std::uint8_t>(random() & 0xb7U);
  }
  const std::vector<float> ones(size * size / 128 + size, 1.0F);
  return {.a = upload(device, codes.data(), codes.size()),
          .b = upload(device, codes.data(), codes.size()),
          .sa = upload(device, ones.data(), ones.size() * sizeof(float)),
          .sb = upload(device, ones.data(), ones.size() * sizeof(float)),
          .d = llvm::cantFail(device.allocate(size * size * 4))};
}

static void emulatedGemm(benchmark::State &state, const char *scales) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const std::string n = std::to_string(size);
  const std::string line =
      "gemm m=" + n + " n=" + n + " k=" + n + " a=e4m3 b=e4m3 d=bf16 " + scales;
  Result<Engine> engine = Engine::open({.device = "emulator:sm_89", .cacheDirectory = "none"});
  if (!engine.ok()) {
    state.SkipWithError(engine.error().message.c_str());
    return;
  }
  Device &device = engine->internals().device();
  const Operands operands = makeOperands(device, size);
  Result<Problem> problem = parseProblemText(line);
  Result<Kernel> kernel = engine->prepare(*problem);
  if (!kernel.ok()) {
    state.SkipWithError(kernel.error().message.c_str());
    return;
  }
  const GemmBuffers buffers{.a = operands.a.data(),
                            .b = operands.b.data(),
                            .sa = operands.sa.data(),
                            .sb = operands.sb.data(),
                            .d = operands.d.data()};
  for (auto _ : state) {
    const Result<void> launched = kernel->launch(buffers);
    if (!launched.ok()) {
      state.SkipWithError(launched.error().message.c_str());
      return;
    }
  }
  llvm::cantFail(device.synchronize());
  const double flop = 2.0 * static_cast<double>(size * size * size);
  state.counters["GFLOP/s"] = benchmark::Counter(
      flop * 1e-9 * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  state.SetLabel(kernel->info().config);
}

BENCHMARK_CAPTURE(emulatedGemm, block_scales, "sa=1x128 sb=128x128")
    ->Arg(256)
    ->Arg(512)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(emulatedGemm, tensor_scales, "sa=tensor sb=tensor")
    ->Arg(512)
    ->Unit(benchmark::kMillisecond);

} // namespace fp8jit

int main(int argc, char **argv) {
  setenv("FP8JIT_EMULATOR", FP8JIT_EMULATOR_LIBRARY, 0); // benchmarks do not lie beside ../lib
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
