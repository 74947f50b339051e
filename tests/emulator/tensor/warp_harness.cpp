// Fragment layouts lane by lane (PTX ISA, matrix fragments of mma.m16n8k16 and its neighbours, and
// the D fragment of wgmma).
#include "tests/emulator/tensor/warp_harness.h"

namespace fp8jit::emulator::testing {
namespace {

using Register = std::array<std::uint32_t, 32>;

struct Registers {
  alignas(32) Register a[4] = {};
  alignas(32) Register b[2] = {};
  alignas(32) Register c[4] = {};
  alignas(32) Register d[4] = {};
};

} // namespace

/// Elements of one 32-bit register of a lane.
static int perWord(const MmaShape &shape) {
  switch (shape.a) {
  case MmaFormat::E4M3:
  case MmaFormat::E5M2:
    return 4;
  case MmaFormat::F16:
  case MmaFormat::BF16:
    return 2;
  case MmaFormat::TF32:
    return 1;
  }
  return 0;
}

static void fillA(Register (&a)[4], const MmaShape &shape, const WarpProblem &problem) {
  const int count = perWord(shape);
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < 4; ++r) {
      const int kBase = lane % 4 * count + 4 * count * (r / 2);
      for (int i = 0; i < count && kBase + i < shape.k; ++i) {
        a[r][lane] |= problem.a[lane / 4 + 8 * (r % 2)][kBase + i] << (32 / count * i);
      }
    }
  }
}

static void fillB(Register (&b)[2], const MmaShape &shape, const WarpProblem &problem) {
  const int count = perWord(shape);
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < 2; ++r) {
      const int kBase = lane % 4 * count + 4 * count * r;
      for (int i = 0; i < count && kBase + i < shape.k; ++i) {
        b[r][lane] |= problem.b[lane / 4][kBase + i] << (32 / count * i);
      }
    }
  }
}

static void fillAccumulators(Register *c, const MmaShape &shape, const WarpProblem &problem) {
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane / 4;
    const int column = 2 * (lane % 4);
    for (int half = 0; half < 2; ++half) {
      const std::uint32_t even = problem.c[group + 8 * half][column];
      const std::uint32_t odd = problem.c[group + 8 * half][column + 1];
      if (shape.accumulator == MmaAccumulator::F32) {
        c[2 * half][lane] = even;
        c[2 * half + 1][lane] = odd;
      } else {
        c[half][lane] = even | odd << 16;
      }
    }
  }
}

static WarpResult readAccumulators(const Register *d, const MmaShape &shape) {
  WarpResult result;
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 8; ++column) {
      const int lane = row % 8 * 4 + column / 2;
      const int half = row / 8;
      result[row][column] = shape.accumulator == MmaAccumulator::F32
                                ? d[2 * half + column % 2][lane]
                                : d[half][lane] >> (16 * (column % 2)) & 0xffff;
    }
  }
  return result;
}

WarpResult runWarp(MmaFunction function, const MmaShape &shape, const WarpProblem &problem,
                   bool inPlace) {
  Registers registers;
  fillA(registers.a, shape, problem);
  fillB(registers.b, shape, problem);
  fillAccumulators(registers.c, shape, problem);
  auto &out = inPlace ? registers.c : registers.d;
  MmaRegisters pointers{};
  for (int r = 0; r < 4; ++r) {
    pointers.a[r] = registers.a[r].data();
    pointers.c[r] = registers.c[r].data();
    pointers.d[r] = out[r].data();
  }
  pointers.b[0] = registers.b[0].data();
  pointers.b[1] = registers.b[1].data();

  function(pointers);

  return readAccumulators(out, shape);
}

std::vector<WarpResult> runWarpgroupWarp(WgmmaFunction function, const MmaShape &shape,
                                         const std::vector<WarpProblem> &columns, bool accumulate) {
  // Eight columns have the registers of an m16n8 accumulator.
  const std::size_t perBlock = shape.accumulator == MmaAccumulator::F32 ? 4 : 2;
  Register a[4] = {};
  std::vector<std::array<Register, 2>> b(columns.size());
  std::vector<Register> d(perBlock * columns.size());
  fillA(a, shape, columns[0]);
  for (std::size_t block = 0; block < columns.size(); ++block) {
    Register registers[2] = {};
    fillB(registers, shape, columns[block]);
    b[block] = {registers[0], registers[1]};
    fillAccumulators(&d[perBlock * block], shape, columns[block]);
  }
  std::vector<std::uint32_t *> pointers;
  for (Register &lanes : d) {
    pointers.push_back(lanes.data());
  }

  function({.a = {a[0].data(), a[1].data(), a[2].data(), a[3].data()},
            .b = b[0][0].data(),
            .d = pointers.data(),
            .n = static_cast<int>(8 * columns.size()),
            .accumulate = accumulate});

  std::vector<WarpResult> results;
  for (std::size_t block = 0; block < columns.size(); ++block) {
    results.push_back(readAccumulators(&d[perBlock * block], shape));
  }
  return results;
}

} // namespace fp8jit::emulator::testing
