// The rules of the problem grammar that no single key decides. Main entries: validateGemm,
// validateQuant (behind validateProblem of problem_text.h).
#pragma once

#include "fp8jit/problem.h"

#include "llvm/Support/Error.h"

namespace fp8jit {

/// Checks every rule of the grammar. Errors: InvalidArgument naming key, found and expected;
/// Unsupported for `batch` other than 1, once everything else is legal.
llvm::Error validateGemm(const GemmProblem &problem);
llvm::Error validateQuant(const QuantProblem &problem);

/// The same problem with each leading dimension that equals the contiguous one written as 0.
GemmProblem withImpliedLeadingDimensions(GemmProblem problem);
QuantProblem withImpliedLeadingDimensions(QuantProblem problem);

} // namespace fp8jit
