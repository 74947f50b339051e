// Where the elements of a fragment lie: from the registers of 32 lanes to matrices and back.
// Source: PTX ISA, "Matrix fragments for mma.m16n8k16" and "mma.m16n8k32".
#pragma once

#include "emulator/tensor/mma.h"

#include <array>
#include <cstdint>

namespace fp8jit::emulator {

inline constexpr int kMmaRows = 16;
inline constexpr int kMmaColumns = 8;
inline constexpr int kMaxMmaK = 32;

/// Operand codes of one instruction: a[row][k] and b[column][k], narrow formats in the low bits.
struct MmaOperands {
  std::array<std::array<std::uint32_t, kMaxMmaK>, kMmaRows> a;
  std::array<std::array<std::uint32_t, kMaxMmaK>, kMmaColumns> b;
};

/// Accumulators as bit patterns, f16 in the low half: [row][column].
using MmaAccumulators = std::array<std::array<std::uint32_t, kMmaColumns>, kMmaRows>;

/// Reads A and B; `bytesPerElement` is 1, 2 or 4, and `k` of them make 16 or 32 bytes.
void gatherOperands(const MmaRegisters &registers, int bytesPerElement, int k,
                    MmaOperands &operands);

/// Reads C.
void gatherAccumulators(const MmaRegisters &registers, MmaAccumulator format,
                        MmaAccumulators &accumulators);

/// Writes D.
void scatterAccumulators(const MmaAccumulators &accumulators, MmaAccumulator format,
                         const MmaRegisters &registers);

} // namespace fp8jit::emulator
