// Vectors of X and of codes, in registers.
#pragma once

#include "slot/quant_config.cuh"

namespace fp8jit {

/// Words that are loaded or stored at once.
template <typename Word, int kBytes>
struct alignas(kBytes) Words {
  Word words[kBytes / sizeof(Word)];
};
using Vector = Words<Word, kConfig.vectorBytes>; // kVector elements of X
using Codes = Words<CodeWord, kVector>;          // their codes
constexpr int kRowVectors = kN / kVector;        // X and q are [m, kRowVectors] of these
static_assert(kConfig.isValid() && kN % kVector == 0, "rows are whole vectors of a valid size");

} // namespace fp8jit
