// Dot products whose results a real GPU gave, and how the emulated arithmetic does on them.
#pragma once

#include "emulator/tensor/mma.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace fp8jit::emulator::testing {

/// One dot product: operand codes, accumulator and result as bits of the accumulator's format.
struct Sample {
  std::vector<std::uint32_t> a, b;
  std::uint32_t c = 0, d = 0;
};

/// Samples that differ from the scalar model, the selected code or the portable code of `shape` on
/// `arch`; the larger count. Samples shorter than k are filled up with zeros.
int countMismatches(const MmaShape &shape, std::string_view arch,
                    const std::vector<Sample> &samples);

} // namespace fp8jit::emulator::testing
