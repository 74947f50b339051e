// mma.sync by the scalar model: the path of processors without AVX2 and of rare operands.
#pragma once

#include "emulator/tensor/scalar_model.h"

namespace fp8jit::emulator {

/// Computes one warp's mma.sync of `shape` (m16n8, any k of a rule) with `rule`, element by
/// element.
void computeMma(const MmaRegisters &registers, const MmaShape &shape, const StepRule &rule);

/// The registers of the eight columns from 8·`block` on of a warp's wgmma.
MmaRegisters blockOf(const WgmmaOperands &operands, int block, MmaAccumulator accumulator);

} // namespace fp8jit::emulator
