// --check: a result against float64 on the same codes and scales. Main entry: checkGemm.
#pragma once

#include "cli/operands.h"
#include "fp8jit/problem.h"
#include "runtime/device.h"
#include "tuner/reference.h"

#include "llvm/Support/Error.h"

#include <cstdint>
#include <vector>

namespace fp8jit {

/// What entered a product.
struct GemmOperands {
  DeviceOperand a, b;
  float alpha = 1;
};

/// The errors of `d`, the [m, n] result in the problem's format. Large results are checked on at
/// least 64 random tiles and every kind of edge tile. The tolerance is the one of seeded operands
/// only if both are. Errors: DriverError (the operands are read back).
llvm::Expected<GemmErrors> checkGemm(Device &device, const GemmProblem &problem,
                                     const GemmOperands &operands,
                                     const std::vector<std::uint8_t> &d);

} // namespace fp8jit
