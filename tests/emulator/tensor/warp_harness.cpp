// Fragment layouts lane by lane (PTX ISA, matrix fragments of mma.m16n8k16 and mma.m16n8k32).
#include "tests/emulator/tensor/warp_harness.h"

namespace fp8jit::emulator::testing {
namespace {

struct Registers {
  alignas(32) std::uint32_t a[4][32] = {};
  alignas(32) std::uint32_t b[2][32] = {};
  alignas(32) std::uint32_t c[4][32] = {};
  alignas(32) std::uint32_t d[4][32] = {};
};

} // namespace

bool isFp8(MmaFormat format) {
  return format == MmaFormat::E4M3 || format == MmaFormat::E5M2;
}

static void fillOperands(Registers &registers, const MmaShape &shape, const WarpProblem &problem) {
  const int perWord = isFp8(shape.a) ? 4 : 2;
  const int bits = 32 / perWord;
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane / 4;
    const int thread = lane % 4;
    for (int r = 0; r < 4; ++r) {
      const int kBase = thread * perWord + 4 * perWord * (r / 2);
      for (int i = 0; i < perWord && kBase + i < shape.k; ++i) {
        const std::uint32_t code = problem.a[group + 8 * (r % 2)][kBase + i];
        registers.a[r][lane] |= code << (bits * i);
      }
    }
    for (int r = 0; r < 2; ++r) {
      const int kBase = thread * perWord + 4 * perWord * r;
      for (int i = 0; i < perWord && kBase + i < shape.k; ++i) {
        registers.b[r][lane] |= std::uint32_t{problem.b[group][kBase + i]} << (bits * i);
      }
    }
  }
}

static void fillAccumulators(Registers &registers, const MmaShape &shape,
                             const WarpProblem &problem) {
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane / 4;
    const int column = 2 * (lane % 4);
    for (int half = 0; half < 2; ++half) {
      const std::uint32_t even = problem.c[group + 8 * half][column];
      const std::uint32_t odd = problem.c[group + 8 * half][column + 1];
      if (shape.accumulator == MmaAccumulator::F32) {
        registers.c[2 * half][lane] = even;
        registers.c[2 * half + 1][lane] = odd;
      } else {
        registers.c[half][lane] = even | odd << 16;
      }
    }
  }
}

WarpResult runWarp(MmaFunction function, const MmaShape &shape, const WarpProblem &problem,
                   bool inPlace) {
  Registers registers;
  fillOperands(registers, shape, problem);
  fillAccumulators(registers, shape, problem);
  auto &out = inPlace ? registers.c : registers.d;
  MmaRegisters pointers{};
  for (int r = 0; r < 4; ++r) {
    pointers.a[r] = registers.a[r];
    pointers.c[r] = registers.c[r];
    pointers.d[r] = out[r];
  }
  pointers.b[0] = registers.b[0];
  pointers.b[1] = registers.b[1];
  function(pointers);

  WarpResult result;
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 8; ++column) {
      const int lane = row % 8 * 4 + column / 2;
      const int half = row / 8;
      result[row][column] = shape.accumulator == MmaAccumulator::F32
                                ? out[2 * half + column % 2][lane]
                                : out[half][lane] >> (16 * (column % 2)) & 0xffff;
    }
  }
  return result;
}

} // namespace fp8jit::emulator::testing
