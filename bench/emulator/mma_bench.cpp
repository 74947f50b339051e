// Tensor-core arithmetic of one warp: GFLOP/s of mma.sync and of a warp's quarter of wgmma on one
// core, vector and portable code; operands lie in registers.
#include "emulator/tensor/mma.h"

#include "benchmark/benchmark.h"

#include <cstdint>
#include <random>
#include <vector>

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

static void runWgmma(benchmark::State &state, const MmaShape &shape, WgmmaFunction function) {
  const Fragments fragments(shape.a);
  const auto blocks = static_cast<std::size_t>(shape.n) / 8;
  std::vector<std::uint32_t> b(blocks * 64);
  for (std::size_t i = 0; i < b.size(); ++i) {
    b[i] = fragments.a[i % 4][i / 4 % 32];
  }
  std::vector<std::uint32_t> d(blocks * 4 * 32);
  std::vector<std::uint32_t *> registers;
  for (std::size_t i = 0; i < blocks * 4; ++i) {
    registers.push_back(d.data() + i * 32);
  }
  const WgmmaOperands operands{
      .a = {fragments.a[0], fragments.a[1], fragments.a[2], fragments.a[3]},
      .b = b.data(),
      .d = registers.data(),
      .n = shape.n};
  for (auto _ : state) {
    function(operands);
    benchmark::DoNotOptimize(d.data());
    benchmark::ClobberMemory();
  }
  const double flop = 2.0 * 16 * shape.n * shape.k;
  state.counters["GFLOP/s"] = benchmark::Counter(
      flop * 1e-9 * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

static void registerForm(const char *name, const MmaShape &shape, const char *arch) {
  benchmark::RegisterBenchmark((std::string(name) + "/selected").c_str(), runMma, shape,
                               selectMma(shape, arch));
  benchmark::RegisterBenchmark((std::string(name) + "/portable").c_str(), runMma, shape,
                               selectPortableMma(shape, arch));
}

static void registerWgmma(const char *name, const MmaShape &shape) {
  benchmark::RegisterBenchmark((std::string(name) + "/selected").c_str(), runWgmma, shape,
                               selectWgmma(shape, "90a"));
  benchmark::RegisterBenchmark((std::string(name) + "/portable").c_str(), runWgmma, shape,
                               selectPortableWgmma(shape, "90a"));
}

} // namespace fp8jit::emulator

int main(int argc, char **argv) {
  using namespace fp8jit::emulator;
  benchmark::Initialize(&argc, argv);
  const MmaShape half{.k = 16, .a = MmaFormat::F16, .b = MmaFormat::F16};
  registerForm("sm_89_mma_m16n8k32_e4m3_f32", {}, "89");
  registerForm("sm_89_mma_m16n8k32_e5m2_f32", {.a = MmaFormat::E5M2, .b = MmaFormat::E5M2}, "89");
  registerForm("sm_89_mma_m16n8k32_e4m3_f16", {.accumulator = MmaAccumulator::F16}, "89");
  registerForm("sm_89_mma_m16n8k16_f16_f32", half, "89");
  registerForm("sm_90_mma_m16n8k32_e4m3_f32", {}, "90a");
  registerForm("sm_90_mma_m16n8k16_f16_f32", half, "90a");
  registerForm("sm_120_mma_m16n8k32_e4m3_f32", {}, "120a");
  registerWgmma("wgmma_m64n128k32_e4m3_f32", {.m = 64, .n = 128});
  registerWgmma("wgmma_m64n128k16_f16_f32",
                {.m = 64, .n = 128, .k = 16, .a = MmaFormat::F16, .b = MmaFormat::F16});
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
