// Sample of the prelude of a quantization kernel that the generator writes.
#pragma once

#include "shared/quant_config.h"

namespace fp8jit {

constexpr int kN = 4096;   // columns of X
constexpr int kVector = 8; // elements of X per load
using Word = unsigned;     // of X in registers
using CodeWord = unsigned; // of codes in registers
constexpr QuantConfig kConfig = {
    .threads = 256,      // per block
    .vectorBytes = 16,   // bytes of X per load
    .unitsPerBlock = 32, // scale units of one block
};

} // namespace fp8jit
