#include "generator/problem_text.h"
#include "generator/scale_shape.h"
#include "tests/support/matchers.h"

#include <gtest/gtest.h>

#include <vector>

namespace fp8jit {
namespace {

struct ShapeCase {
  const char *problem;
  ScaleElement element;
  std::vector<std::int64_t> dims;
  std::int64_t sizeBytes;
};

TEST(ScaleShapeTest, FollowsTheTableForOperandA) {
  const ShapeCase cases[] = {
      {"gemm m=5 n=1 k=300", ScaleElement::F32, {1}, 4},
      {"gemm m=5 n=1 k=300 sa=row sb=row", ScaleElement::F32, {5}, 20},
      {"gemm m=5 n=1 k=300 sa=1x128 sb=1x128", ScaleElement::F32, {5, 3}, 60},
      {"gemm m=5 n=1 k=300 sa=1x128 sb=1x128 st=ue8m0", ScaleElement::U8, {5, 3}, 15},
      {"gemm m=5 n=1 k=300 sa=1x128 sb=1x128 la=mn", ScaleElement::F32, {3, 8}, 96},
      {"gemm m=5 n=1 k=600 sa=1x128 sb=1x128 st=ue8m0 la=packed", ScaleElement::Int32, {2, 8}, 64},
      {"gemm m=129 n=1 k=300 sa=128x128 sb=1x128", ScaleElement::F32, {2, 3}, 24},
      {"gemm m=129 n=1 k=300 sa=128x128 sb=1x128 st=ue8m0", ScaleElement::U8, {2, 3}, 6},
      {"gemm m=129 n=1 k=300 sa=128x128 sb=1x128 la=row4", ScaleElement::F32, {2, 4}, 32},
      {"gemm m=5 n=1 k=300 sa=1x32 sb=1x32", ScaleElement::U8, {5, 10}, 50},
      {"gemm m=129 n=1 k=300 sa=1x32 sb=1x32 la=swizzled", ScaleElement::U8, {256 * 12}, 256 * 12},
      {"gemm m=5 n=1 k=0 sa=1x128 sb=1x128", ScaleElement::F32, {5, 0}, 0},
  };
  for (const ShapeCase &test : cases) {
    llvm::Expected<Problem> problem = parseProblem(test.problem);
    ASSERT_OK(problem);
    const ScaleShape shape = scaleShapeA(std::get<GemmProblem>(*problem));
    EXPECT_EQ(shape.element, test.element) << test.problem;
    EXPECT_EQ(std::vector<std::int64_t>(shape.dims.begin(), shape.dims.end()), test.dims)
        << test.problem;
    EXPECT_EQ(shape.sizeBytes(), test.sizeBytes) << test.problem;
  }
}

TEST(ScaleShapeTest, OperandBUsesN) {
  const GemmProblem problem{
      .m = 5, .n = 257, .k = 129, .sa = ScaleUnit::Block1x128, .sb = ScaleUnit::Block128x128};

  EXPECT_EQ(scaleShapeB(problem).dims, (llvm::SmallVector<std::int64_t, 2>{3, 2}));
}

TEST(ScaleShapeTest, QuantizationSwapsItsSizesForTheColumnOutput) {
  const QuantProblem problem{.m = 130, .n = 257, .s = ScaleUnit::Block1x128};

  EXPECT_EQ(scaleShapeRow(problem).dims, (llvm::SmallVector<std::int64_t, 2>{130, 3}));
  EXPECT_EQ(scaleShapeCol(problem).dims, (llvm::SmallVector<std::int64_t, 2>{257, 2}));
}

TEST(ScaleShapeTest, LargestSizesDoNotOverflow) {
  const GemmProblem problem{.m = 2147483647,
                            .n = 1,
                            .k = 2147483647,
                            .sa = ScaleUnit::Block1x128,
                            .sb = ScaleUnit::Block1x128};

  EXPECT_EQ(scaleShapeA(problem).count(), 2147483647LL * 16777216LL);
}

} // namespace
} // namespace fp8jit
