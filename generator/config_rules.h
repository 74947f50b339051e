// Facts of a quantization problem that its configurations have to respect.
#pragma once

#include "fp8jit/problem.h"

namespace fp8jit {

/// The widest load that no row of X ends inside, 16 bytes or less, given a 16-byte aligned X.
int widestVectorBytes(const QuantProblem &problem);

} // namespace fp8jit
