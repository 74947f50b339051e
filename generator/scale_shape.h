// Shapes and element types of scale arrays: one place for runtime, tuner, command and tests. Main
// entries: scaleShapeA, scaleShapeB, scaleShapeRow, scaleShapeCol.
#pragma once

#include "fp8jit/problem.h"

#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace fp8jit {

/// Stored element of a scale array.
enum class ScaleElement : std::uint8_t { F32, U8, Int32 };

/// What a scale array looks like in memory and in a file.
struct ScaleShape {
  ScaleElement element = ScaleElement::F32;
  llvm::SmallVector<std::int64_t, 2> dims; ///< row major
  std::int64_t count() const;
  std::int64_t sizeBytes() const;
};

/// Shape of the scales of an operand with outer size `outer` (m for A, n for B) and inner size `k`:
///
///   tensor           f32 [1]
///   row              f32 [R]
///   1x128 row        f32 or u8 [R, ceil(k/128)]
///   1x128 mn         f32 [ceil(k/128), roundup(R,4)]
///   1x128 packed     int32 [ceil(ceil(k/128)/4), roundup(R,4)]
///   128x128 row      f32 or u8 [ceil(R/128), ceil(k/128)]
///   128x128 row4     f32 [ceil(R/128), roundup(ceil(k/128),4)]
///   1x32 row         u8 [R, ceil(k/32)]
///   1x32 swizzled    u8 [roundup(R,128) * roundup(ceil(k/32),4)]
///
/// The combination must be legal (validateProblem).
ScaleShape scaleShape(ScaleUnit unit, ScaleType type, ScaleLayout layout, std::int64_t outer,
                      std::int64_t k);

/// Scales of A and of B.
ScaleShape scaleShapeA(const GemmProblem &problem);
ScaleShape scaleShapeB(const GemmProblem &problem);

/// Scales of the row output of a quantization (units along n) and of the col output (along m).
ScaleShape scaleShapeRow(const QuantProblem &problem);
ScaleShape scaleShapeCol(const QuantProblem &problem);

} // namespace fp8jit
