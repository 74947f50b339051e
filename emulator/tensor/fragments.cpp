// Fragment layouts. One register holds, over the 32 lanes, eight rows (or columns) of 16 bytes of
// k: lane 4g + t has bytes 4t to 4t + 3 of row g.
#include "emulator/tensor/fragments.h"

namespace fp8jit::emulator {

static constexpr int kRowsPerRegister = 8;
static constexpr int kBytesPerRegisterRow = 16;
static constexpr int kLanesPerRow = 4;

/// Element `k` of row `row` (0 to 7) of a register.
static std::uint32_t element(const std::uint32_t *lanes, int row, int k, int bytesPerElement) {
  const int byte = k * bytesPerElement;
  const std::uint32_t word = lanes[row * kLanesPerRow + byte / 4];
  return (word >> (byte % 4 * 8)) & (0xffffffffU >> (32 - 8 * bytesPerElement));
}

void gatherOperands(const MmaRegisters &registers, int bytesPerElement, int k,
                    MmaOperands &operands) {
  const int elementsPerRegister = kBytesPerRegisterRow / bytesPerElement;
  for (int i = 0; i < k; ++i) {
    const int half = i / elementsPerRegister;
    const int inner = i % elementsPerRegister;
    for (int row = 0; row < kMmaRows; ++row) {
      const std::uint32_t *lanes = registers.a[2 * half + row / kRowsPerRegister];
      operands.a[row][i] = element(lanes, row % kRowsPerRegister, inner, bytesPerElement);
    }
    for (int column = 0; column < kMmaColumns; ++column) {
      operands.b[column][i] = element(registers.b[half], column, inner, bytesPerElement);
    }
  }
}

void gatherAccumulators(const MmaRegisters &registers, MmaAccumulator format,
                        MmaAccumulators &accumulators) {
  for (int row = 0; row < kMmaRows; ++row) {
    const int half = row / kRowsPerRegister;
    for (int column = 0; column < kMmaColumns; ++column) {
      const int lane = row % kRowsPerRegister * kLanesPerRow + column / 2;
      const int low = column % 2;
      accumulators[row][column] = format == MmaAccumulator::F32
                                      ? registers.c[2 * half + low][lane]
                                      : (registers.c[half][lane] >> (16 * low)) & 0xffff;
    }
  }
}

void scatterAccumulators(const MmaAccumulators &accumulators, MmaAccumulator format,
                         const MmaRegisters &registers) {
  for (int row = 0; row < kMmaRows; ++row) {
    const int half = row / kRowsPerRegister;
    for (int column = 0; column < kMmaColumns; column += 2) {
      const int lane = row % kRowsPerRegister * kLanesPerRow + column / 2;
      const std::uint32_t even = accumulators[row][column];
      const std::uint32_t odd = accumulators[row][column + 1];
      if (format == MmaAccumulator::F32) {
        registers.d[2 * half][lane] = even;
        registers.d[2 * half + 1][lane] = odd;
      } else {
        registers.d[half][lane] = even | odd << 16;
      }
    }
  }
}

} // namespace fp8jit::emulator
