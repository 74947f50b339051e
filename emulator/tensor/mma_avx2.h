// mma.sync and wgmma with AVX2: eight columns at a time, the same bits as the scalar model.
#pragma once

#include "emulator/tensor/scalar_model.h"

namespace fp8jit::emulator {

/// The vector functions of one form; null where there is none. wgmma only for rows of 32 bytes.
struct VectorFunctions {
  MmaFunction mma = nullptr;
  WgmmaFunction wgmma = nullptr;
};

/// The functions for an FP8 `shape` (m16n8) by `rule` on FP8 units. None if the form is unknown or
/// this processor lacks AVX2 or F16C.
VectorFunctions findAvx2Fp8(const MmaShape &shape, const StepRule &rule);

/// The same for f16, bf16 and tf32 operands, and for FP8 operands on f16 units.
VectorFunctions findAvx2Wide(const MmaShape &shape, const StepRule &rule);

} // namespace fp8jit::emulator
