// Runs one projection of the demo's layer: quantize both operands on the device, tune or look up
// the GEMM, launch it, and compare with float64. Main entry: runProjection.
#pragma once

#include "fp8jit/engine.h"

#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fp8jit::demo {

/// One weight matrix of the layer with the activations that it multiplies, as bf16 bits.
struct Projection {
  std::string name;
  std::int64_t m = 0, n = 0, k = 0;
  std::vector<std::uint16_t> activations; ///< [m, k]
  std::vector<std::uint16_t> weights;     ///< [n, k]
};

/// A row of the table.
struct ProjectionResult {
  std::string name;
  std::int64_t m = 0, n = 0, k = 0;
  KernelInfo kernel;
  std::int64_t compiledCount = 0; ///< binaries that had to be compiled, quantization included
  double compileMs = 0;           ///< of this kernel; 0 if it was there before
  double readyMs = 0;             ///< until the kernel could be launched, tuning included
  double timeNs = 0;              ///< of the launch; modelled on an emulated device
  /// Relative Frobenius error against float64 on the same codes and scales, and whether it is
  /// within the bounds of docs/problems.md for operands from files.
  double codeError = 0;
  bool isWithinBounds = false;
  /// The same against the product of the operands before quantization.
  double productError = 0;
};

/// Quantizes activations 1x128 and weights 128x128, runs their GEMM with a bf16 result and checks
/// it. Errors: those of Engine::prepare and of the device.
llvm::Expected<ProjectionResult> runProjection(Engine &engine, const Projection &projection);

} // namespace fp8jit::demo
