// What is checked of the caller's buffers before anything is launched. Main entries:
// checkGemmBuffers, checkQuantBuffers.
#pragma once

#include "fp8jit/engine.h"

#include "llvm/Support/Error.h"

namespace fp8jit {

/// Nulls, alignment, overlap of the result with an operand. `problem` must be valid and not empty.
/// Builds no text unless something is wrong. Errors: InvalidArgument naming the argument, what was
/// found and what is expected.
llvm::Error checkGemmBuffers(const GemmProblem &problem, const GemmBuffers &buffers);
llvm::Error checkQuantBuffers(const QuantProblem &problem, const QuantBuffers &buffers);

} // namespace fp8jit
