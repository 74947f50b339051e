#include "generator/scale_shape.h"

namespace fp8jit {

static std::int64_t ceilDivide(std::int64_t value, std::int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

static std::int64_t roundUp(std::int64_t value, std::int64_t multiple) {
  return ceilDivide(value, multiple) * multiple;
}

std::int64_t ScaleShape::count() const {
  std::int64_t product = 1;
  for (const std::int64_t dim : dims) {
    product *= dim;
  }
  return product;
}

std::int64_t ScaleShape::sizeBytes() const {
  return count() * (element == ScaleElement::U8 ? 1 : 4);
}

static ScaleShape blockShape1x128(ScaleType type, ScaleLayout layout, std::int64_t outer,
                                  std::int64_t blocks) {
  const bool isE8m0 = type == ScaleType::UE8M0;
  if (layout == ScaleLayout::Mn) {
    return {ScaleElement::F32, {blocks, roundUp(outer, 4)}};
  }
  if (layout == ScaleLayout::Packed) {
    return {ScaleElement::Int32, {ceilDivide(blocks, 4), roundUp(outer, 4)}};
  }
  return {isE8m0 ? ScaleElement::U8 : ScaleElement::F32, {outer, blocks}};
}

ScaleShape scaleShape(ScaleUnit unit, ScaleType type, ScaleLayout layout, std::int64_t outer,
                      std::int64_t k) {
  switch (unit) {
  case ScaleUnit::Tensor:
    return {ScaleElement::F32, {1}};
  case ScaleUnit::Row:
    return {ScaleElement::F32, {outer}};
  case ScaleUnit::Block1x128:
    return blockShape1x128(type, layout, outer, ceilDivide(k, 128));
  case ScaleUnit::Block128x128: {
    const std::int64_t blocks = ceilDivide(k, 128);
    return {type == ScaleType::UE8M0 ? ScaleElement::U8 : ScaleElement::F32,
            {ceilDivide(outer, 128), layout == ScaleLayout::Row4 ? roundUp(blocks, 4) : blocks}};
  }
  case ScaleUnit::Block1x32: {
    const std::int64_t blocks = ceilDivide(k, 32);
    if (layout == ScaleLayout::Swizzled) {
      return {ScaleElement::U8, {roundUp(outer, 128) * roundUp(blocks, 4)}};
    }
    return {ScaleElement::U8, {outer, blocks}};
  }
  }
  return {};
}

ScaleShape scaleShapeA(const GemmProblem &problem) {
  return scaleShape(problem.sa, problem.st, problem.la, problem.m, problem.k);
}

ScaleShape scaleShapeB(const GemmProblem &problem) {
  return scaleShape(problem.sb, problem.st, problem.lb, problem.n, problem.k);
}

ScaleShape scaleShapeRow(const QuantProblem &problem) {
  return scaleShape(problem.s, problem.st, problem.l, problem.m, problem.n);
}

ScaleShape scaleShapeCol(const QuantProblem &problem) {
  return scaleShape(problem.s, problem.st, problem.l, problem.n, problem.m);
}

} // namespace fp8jit
