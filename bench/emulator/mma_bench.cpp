// Tensor-core arithmetic of one warp: GFLOP/s of mma.sync on one core, vector and portable code.
#include "emulator/tensor/mma.h"

#include "benchmark/benchmark.h"

#include <cstdint>
#include <random>

namespace fp8jit::emulator {
namespace {

/// Fragment registers of one warp, filled with random finite operands.
struct Fragments {
  explicit Fragments(MmaFormat format) {
    std::mt19937 random(1);
    const auto next = [&] {
      // Exponent fields below the top keep every byte, or half, finite.
      const std::uint32_t mask = format == MmaFormat::E5M2 ? 0xbbbbbbbbU : 0xb7b7b7b7U;
      return static_cast<std::uint32_t>(random()) & mask;
    };
    for (int lane = 0; lane < 32; ++lane) {
      for (auto &reg : a) {
        reg[lane] = next();
      }
      for (auto &reg : b) {
        reg[lane] = next();
      }
    }
  }

  MmaRegisters registers() {
    return {.a = {a[0], a[1], a[2], a[3]},
            .b = {b[0], b[1]},
            .c = {c[0], c[1], c[2], c[3]},
            .d = {c[0], c[1], c[2], c[3]}};
  }

  alignas(64) std::uint32_t a[4][32] = {};
  alignas(64) std::uint32_t b[2][32] = {};
  alignas(64) std::uint32_t c[4][32] = {};
};

} // namespace

static void runMma(benchmark::State &state, const MmaShape &shape, MmaFunction function) {
  Fragments fragments(shape.a);
  const MmaRegisters registers = fragments.registers();
  for (auto _ : state) {
    function(registers);
    benchmark::DoNotOptimize(fragments.c);
    benchmark::ClobberMemory();
  }
  const double flop = 2.0 * shape.m * shape.n * shape.k;
  state.counters["GFLOP/s"] = benchmark::Counter(
      flop * 1e-9 * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

static void registerForm(const char *name, const MmaShape &shape) {
  benchmark::RegisterBenchmark((std::string(name) + "/selected").c_str(), runMma, shape,
                               selectMma(shape, "89"));
  benchmark::RegisterBenchmark((std::string(name) + "/portable").c_str(), runMma, shape,
                               selectPortableMma(shape, "89"));
}

} // namespace fp8jit::emulator

int main(int argc, char **argv) {
  using namespace fp8jit::emulator;
  benchmark::Initialize(&argc, argv);
  registerForm("mma_m16n8k32_e4m3_f32", {});
  registerForm("mma_m16n8k32_e5m2_f32", {.a = MmaFormat::E5M2, .b = MmaFormat::E5M2});
  registerForm("mma_m16n8k32_e4m3_f16", {.accumulator = MmaAccumulator::F16});
  registerForm("mma_m16n8k16_f16_f32", {.k = 16, .a = MmaFormat::F16, .b = MmaFormat::F16});
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
