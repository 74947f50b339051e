// The float64 reference against naive loops and closed forms, and the error measures against
// results that are wrong in a known way.
#include "support/float_formats.h"
#include "tuner/reference.h"
#include "tuner/test_data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>

namespace fp8jit::testing {

static GemmProblem problemOf(std::int64_t m, std::int64_t n, std::int64_t k, ScaleUnit sa,
                             ScaleUnit sb, Format d = Format::F32) {
  GemmProblem problem;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.sa = sa;
  problem.sb = sb;
  problem.d = d;
  return problem;
}

static GemmOperandView viewOf(const TestOperands &operands, float alpha = 1.0F) {
  return {.a = operands.a.codes,
          .b = operands.b.codes,
          .sa = operands.a.scales,
          .sb = operands.b.scales,
          .alpha = alpha};
}

/// Scale of element (row, col) by the table of scale arrays, written down once more.
static double scaleAt(ScaleUnit unit, const std::vector<float> &scales, std::int64_t row,
                      std::int64_t col, std::int64_t k) {
  const std::int64_t blocks = (k + 127) / 128;
  switch (unit) {
  case ScaleUnit::Tensor:
    return static_cast<double>(scales[0]);
  case ScaleUnit::Row:
    return static_cast<double>(scales[static_cast<std::size_t>(row)]);
  case ScaleUnit::Block1x128:
    return static_cast<double>(scales[static_cast<std::size_t>(row * blocks + col / 128)]);
  case ScaleUnit::Block128x128:
    return static_cast<double>(scales[static_cast<std::size_t>(row / 128 * blocks + col / 128)]);
  case ScaleUnit::Block1x32:
    return static_cast<double>(scales[static_cast<std::size_t>(row * ((k + 31) / 32) + col / 32)]);
  }
  return 0;
}

TEST(GemmReferenceTest, EqualsNaiveLoops) {
  const std::pair<ScaleUnit, ScaleUnit> units[] = {{ScaleUnit::Tensor, ScaleUnit::Tensor},
                                                   {ScaleUnit::Row, ScaleUnit::Row},
                                                   {ScaleUnit::Block1x128, ScaleUnit::Block128x128},
                                                   {ScaleUnit::Block128x128, ScaleUnit::Block1x128},
                                                   {ScaleUnit::Block1x32, ScaleUnit::Block1x32}};
  for (const auto &[sa, sb] : units) {
    const GemmProblem problem = problemOf(131, 139, 300, sa, sb);
    const TestOperands operands = makeTestOperands(problem, 11);

    const GemmReference reference(problem, viewOf(operands, 0.5F));

    for (std::int64_t i = 0; i < problem.m; ++i) {
      for (std::int64_t j = 0; j < problem.n; ++j) {
        double sum = 0;
        for (std::int64_t c = 0; c < problem.k; ++c) {
          sum += static_cast<double>(
                     decodeE4m3(operands.a.codes[static_cast<std::size_t>(i * problem.k + c)])) *
                 scaleAt(sa, operands.a.scales, i, c, problem.k) *
                 static_cast<double>(
                     decodeE4m3(operands.b.codes[static_cast<std::size_t>(j * problem.k + c)])) *
                 scaleAt(sb, operands.b.scales, j, c, problem.k);
        }
        // Two orders of the same products in float64.
        ASSERT_NEAR(reference.values()[static_cast<std::size_t>(i * problem.n + j)], 0.5 * sum,
                    1e-10)
            << i << ", " << j << ", unit " << static_cast<int>(sa);
      }
    }
  }
}

TEST(GemmReferenceTest, OnesGiveK) {
  const GemmProblem problem =
      problemOf(3, 5, 200, ScaleUnit::Tensor, ScaleUnit::Tensor, Format::F32);
  const std::vector<std::uint8_t> ones(1000, encodeE4m3(1.0F));
  const std::vector<float> scale = {2.0F};

  const GemmReference reference(
      problem, {.a = std::span(ones).first(600), .b = ones, .sa = scale, .sb = scale});

  for (const double value : reference.values()) {
    EXPECT_EQ(value, 800);
  }
}

TEST(GemmReferenceTest, AnEmptySumIsZero) {
  const GemmProblem problem = problemOf(2, 3, 0, ScaleUnit::Row, ScaleUnit::Row);
  const std::vector<float> scales(3, 1.0F);
  const std::vector<float> d(6, 0.0F);

  const GemmErrors errors = GemmReference(problem, {.a = {}, .b = {}, .sa = scales, .sb = scales})
                                .compare(d.data(), kSeededTolerance);

  EXPECT_EQ(errors.relError, 0);
  EXPECT_TRUE(errors.isWithinTolerance);
}

TEST(GemmReferenceTest, RegionsHoldTheValuesOfTheWhole) {
  const GemmProblem problem =
      problemOf(70, 90, 130, ScaleUnit::Block1x128, ScaleUnit::Block128x128);
  const TestOperands operands = makeTestOperands(problem, 2);
  const GemmReference whole(problem, viewOf(operands));

  const GemmReference part(problem, viewOf(operands),
                           {{.row = 33, .col = 41, .rows = 20, .cols = 30}});

  for (std::int64_t i = 0; i < 20; ++i) {
    for (std::int64_t j = 0; j < 30; ++j) {
      EXPECT_EQ(part.values()[static_cast<std::size_t>(i * 30 + j)],
                whole.values()[static_cast<std::size_t>((33 + i) * 90 + 41 + j)]);
    }
  }
}

namespace {

/// A problem, its reference, and the result rounded to bf16 from the reference.
struct Rounded {
  GemmProblem problem = problemOf(65, 66, 384, ScaleUnit::Row, ScaleUnit::Row, Format::BF16);
  TestOperands operands = makeTestOperands(problem, 21);
  GemmReference reference{problem, viewOf(operands)};
  std::vector<std::uint16_t> d;

  Rounded() {
    for (const double value : reference.values()) {
      d.push_back(encodeBf16(static_cast<float>(value)));
    }
  }
  GemmErrors errors(GemmTolerance tolerance = kSeededTolerance) const {
    return reference.compare(d.data(), tolerance);
  }
};

} // namespace

TEST(GemmErrorsTest, TheRoundingOfTheOutputIsNoExcess) {
  const Rounded rounded;

  const GemmErrors errors = rounded.errors();

  EXPECT_GT(errors.relError, 1e-4);
  EXPECT_LE(errors.relError, errors.tolerance);
  EXPECT_LT(errors.excessError, 1e-9); // double rounding through float
  EXPECT_TRUE(errors.isWithinTolerance);
  EXPECT_EQ(errors.nanMismatch, 0);
}

TEST(GemmErrorsTest, OneWrongElementIsFound) {
  for (const std::size_t place : {std::size_t{0}, std::size_t{65}, std::size_t{4289}}) {
    Rounded rounded;
    rounded.d[place] = static_cast<std::uint16_t>(rounded.d[place] ^ 0x0080U); // factor 2

    EXPECT_FALSE(rounded.errors().isWithinTolerance) << place;
  }
}

TEST(GemmErrorsTest, AnOutputThatWasNotWrittenIsFound) {
  Rounded rounded;
  rounded.d[100] = 0xFFFF;

  const GemmErrors errors = rounded.errors();

  EXPECT_EQ(errors.nanMismatch, 1);
  EXPECT_FALSE(errors.isWithinTolerance);
}

TEST(GemmErrorsTest, MeasuresAKnownError) {
  const GemmProblem problem = problemOf(1, 1, 4, ScaleUnit::Tensor, ScaleUnit::Tensor);
  const std::vector<std::uint8_t> codes(4, encodeE4m3(1.0F));
  const std::vector<float> scale = {1.0F};
  const float d = 5.0F; // R = 4, N = max(4, sqrt(4)) = 4

  const GemmErrors errors =
      GemmReference(problem, {.a = codes, .b = codes, .sa = scale, .sb = scale})
          .compare(&d, kSeededTolerance);

  EXPECT_EQ(errors.relError, 0.25);
  EXPECT_EQ(errors.maxAbsError, 1);
  EXPECT_EQ(errors.maxElementError, 0.25);
  EXPECT_EQ(errors.tolerance, 1e-3);
}

TEST(GemmErrorsTest, CancellationIsMeasuredAgainstWhatWasAdded) {
  const GemmProblem problem = problemOf(1, 1, 2, ScaleUnit::Tensor, ScaleUnit::Tensor);
  const std::vector<std::uint8_t> a = {encodeE4m3(16.0F), encodeE4m3(-16.0F)};
  const std::vector<std::uint8_t> b(2, encodeE4m3(1.0F));
  const std::vector<float> scale = {1.0F};
  const float d = 1.0F; // R = 0, N = sqrt(512)

  const GemmErrors errors = GemmReference(problem, {.a = a, .b = b, .sa = scale, .sb = scale})
                                .compare(&d, kSeededTolerance);

  EXPECT_DOUBLE_EQ(errors.relError, 1 / std::sqrt(512.0));
}

TEST(GemmErrorsTest, SubnormalResultsAreHeldAgainstTheirOwnRounding) {
  for (const Format format : {Format::BF16, Format::F32}) {
    const GemmProblem problem = problemOf(1, 1, 1, ScaleUnit::Tensor, ScaleUnit::Tensor, format);
    const std::vector<std::uint8_t> codes = {encodeE4m3(1.0F)};
    const float smallest = format == Format::BF16 ? 0x1p-133F : 0x1p-149F;
    const std::vector<float> sa = {1.0F};
    // R is 1.75 of the smallest number of the format, and rounds to 2 of it.
    const GemmReference reference(
        problem, {.a = codes,
                  .b = codes,
                  .sa = sa,
                  .sb = sa,
                  .alpha = format == Format::BF16 ? 1.75F * smallest : 7 * smallest});
    const auto compare = [&](float d) {
      const std::uint16_t narrow = encodeBf16(d);
      return format == Format::BF16 ? reference.compare(&narrow, kSeededTolerance)
                                    : reference.compare(&d, kSeededTolerance);
    };
    const float right = (format == Format::BF16 ? 2.0F : 7.0F) * smallest;

    EXPECT_TRUE(compare(right).isWithinTolerance);
    EXPECT_LE(compare(right).relError, compare(right).tolerance);
    EXPECT_FALSE(compare(right + smallest).isWithinTolerance);
    EXPECT_FALSE(compare(0).isWithinTolerance);
  }
}

TEST(GemmErrorsTest, NanAndOverflowAreExpectedWhereTheReferenceHasThem) {
  GemmProblem problem = problemOf(1, 2, 1, ScaleUnit::Row, ScaleUnit::Row, Format::BF16);
  const std::vector<std::uint8_t> a = {encodeE4m3(448.0F)};
  const std::vector<std::uint8_t> b = {0x7F, encodeE4m3(448.0F)};
  const std::vector<float> sa = {3e38F};
  const std::vector<float> sb = {1.0F, 1.0F};
  const GemmReference reference(problem, {.a = a, .b = b, .sa = sa, .sb = sb});
  const std::uint16_t good[] = {0x7FC0, 0x7F80};
  const std::uint16_t bad[] = {0x0000, 0x7F7F};

  EXPECT_TRUE(reference.compare(good, kSeededTolerance).isWithinTolerance);
  EXPECT_EQ(reference.compare(bad, kSeededTolerance).nanMismatch, 1);
}

TEST(SampleRegionsTest, CoverASmallOutput) {
  const GemmProblem problem = problemOf(100, 90, 8, ScaleUnit::Tensor, ScaleUnit::Tensor);

  const std::vector<OutputRegion> regions = sampleRegions(problem, 32, 32, 64, 1);

  std::int64_t elements = 0;
  for (const OutputRegion &region : regions) {
    elements += region.rows * region.cols;
  }
  EXPECT_EQ(elements, 100 * 90);
}

TEST(SampleRegionsTest, HoldEveryKindOfEdgeAndNoTileTwice) {
  const GemmProblem problem = problemOf(1000, 1010, 8, ScaleUnit::Tensor, ScaleUnit::Tensor);

  const std::vector<OutputRegion> regions = sampleRegions(problem, 32, 32, 64, 1);

  EXPECT_GE(regions.size(), 64U + 6U);
  std::set<std::pair<std::int64_t, std::int64_t>> places;
  int bottom = 0;
  int right = 0;
  int corner = 0;
  for (const OutputRegion &region : regions) {
    places.insert({region.row, region.col});
    bottom += region.rows == 1000 % 32 && region.cols == 32 ? 1 : 0;
    right += region.cols == 1010 % 32 && region.rows == 32 ? 1 : 0;
    corner += region.rows == 1000 % 32 && region.cols == 1010 % 32 ? 1 : 0;
  }
  EXPECT_EQ(places.size(), regions.size());
  EXPECT_GE(bottom, 1);
  EXPECT_GE(right, 1);
  EXPECT_EQ(corner, 1);
  EXPECT_EQ(regions, sampleRegions(problem, 32, 32, 64, 1));
}

static QuantProblem quantOf(std::int64_t m, std::int64_t n, ScaleUnit unit) {
  QuantProblem problem;
  problem.m = m;
  problem.n = n;
  problem.x = Format::F32;
  problem.s = unit;
  return problem;
}

TEST(QuantReferenceTest, ScalesTheLargestValueToTheLargestCode) {
  const std::vector<float> x = {0.5F, -2.0F, 1.0F, 0.0F};

  const QuantReference result = quantizeReference(quantOf(1, 4, ScaleUnit::Tensor), x);

  EXPECT_EQ(result.amax, std::vector<float>{2.0F});
  EXPECT_EQ(result.s, std::vector<float>{1.0F / 224.0F});
  EXPECT_EQ(result.q,
            (std::vector<std::uint8_t>{encodeE4m3(112), encodeE4m3(-448), encodeE4m3(224), 0x00}));
}

TEST(QuantReferenceTest, FollowsThePolicyAtTheEdges) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float tiny = std::numeric_limits<float>::denorm_min();
  struct Case {
    const char *what;
    std::vector<float> x;
    float amax, scale;
    std::vector<std::uint8_t> q;
  };
  const float largest = std::numeric_limits<float>::max();
  const Case cases[] = {
      {"zeros keep their sign", {0.0F, -0.0F}, 0, 1, {0x00, 0x80}},
      {"NaN of either sign, not in amax", {nan, -nan, 448.0F}, 448, 1, {0x7F, 0x7F, 0x7E}},
      {"only NaN", {nan}, 0, 1, {0x7F}},
      {"infinity saturates with scale 1", {inf, -inf, 3.0F}, inf, 1, {0x7E, 0xFE, 0x44}},
      {"a scale that overflows", {tiny}, tiny, 1.0F / largest, {encodeE4m3(tiny * largest)}},
  };
  for (const Case &test : cases) {
    const QuantReference result = quantizeReference(
        quantOf(1, static_cast<std::int64_t>(test.x.size()), ScaleUnit::Row), test.x);

    EXPECT_EQ(result.amax[0], test.amax) << test.what;
    EXPECT_EQ(result.s[0], test.scale) << test.what;
    EXPECT_EQ(result.q, test.q) << test.what;
  }
}

TEST(QuantReferenceTest, PowerOfTwoScalesRoundDown) {
  QuantProblem problem = quantOf(1, 1, ScaleUnit::Tensor);
  problem.st = ScaleType::Pow2;

  // 448 / 3 = 149.3, so S = 128 and D = 2^-7.
  EXPECT_EQ(quantizeReference(problem, std::vector<float>{3.0F}).s[0], 0x1p-7F);
}

TEST(QuantReferenceTest, GivenScalesAreUsedAsTheyAre) {
  QuantProblem problem = quantOf(2, 2, ScaleUnit::Row);
  problem.sc = ScaleSource::Given;
  const std::vector<float> x = {1.0F, 2.0F, 0.0F, 4.0F};

  const QuantReference result = quantizeReference(problem, x, std::vector<float>{0.5F, 0.0F});

  EXPECT_EQ(result.s, (std::vector<float>{0.5F, 0.0F}));
  EXPECT_EQ(result.amax, (std::vector<float>{2.0F, 4.0F}));
  // 1 / 0 is infinite: 0 becomes NaN, everything else the largest code.
  EXPECT_EQ(result.q, (std::vector<std::uint8_t>{encodeE4m3(2), encodeE4m3(4), 0x7F, 0x7E}));
}

TEST(QuantReferenceTest, RaggedUnitsUseTheirValidElements) {
  std::vector<float> x(130 * 129, 1.0F);
  x.back() = 7.0F;

  const QuantReference result = quantizeReference(quantOf(130, 129, ScaleUnit::Block128x128), x);

  EXPECT_EQ(result.amax, (std::vector<float>{1, 1, 1, 7}));
}

} // namespace fp8jit::testing
