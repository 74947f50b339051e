// mma.sync with AVX2: eight columns at a time, the same bits as the scalar model.
#pragma once

#include "emulator/tensor/scalar_model.h"

namespace fp8jit::emulator {

/// The vector function for an FP8 `shape` by `rule`, or null if there is none or this processor
/// lacks AVX2 or F16C.
MmaFunction findAvx2Fp8Mma(const MmaShape &shape, const StepRule &rule);

/// The same for f16 and bf16 operands.
MmaFunction findAvx2HalfMma(const MmaShape &shape, const StepRule &rule);

} // namespace fp8jit::emulator
