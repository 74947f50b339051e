// Shapes and element types of scale arrays: one place for runtime, tuner, command and tests.
#pragma once

#include "fp8jit/problem.h"

#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace fp8jit {

/// Stored element of a scale array.
enum class ScaleElement : std::uint8_t { F32, U8, Int32 };

struct ScaleShape {
  ScaleElement element = ScaleElement::F32;
  llvm::SmallVector<std::int64_t, 2> dims; ///< row major
  std::int64_t count() const;
  std::int64_t sizeBytes() const;
};

/// Shape of the scales of an operand with outer size `outer` (m for A, n for B) and inner size `k`.
ScaleShape scaleShape(ScaleUnit unit, ScaleType type, ScaleLayout layout, std::int64_t outer,
                      std::int64_t k);

/// Scales of A, of B, and of the row output of a quantization.
ScaleShape scaleShapeA(const GemmProblem &problem);
ScaleShape scaleShapeB(const GemmProblem &problem);
ScaleShape scaleShapeRow(const QuantProblem &problem);

} // namespace fp8jit
