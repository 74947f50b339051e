// mma.sync by the scalar model: the path of processors without AVX2 and of rare operands.
#pragma once

#include "emulator/tensor/scalar_model.h"

namespace fp8jit::emulator {

/// Computes one warp's mma.sync of `shape` with `rule`, element by element.
void computeMma(const MmaRegisters &registers, const MmaShape &shape, const StepRule &rule);

} // namespace fp8jit::emulator
