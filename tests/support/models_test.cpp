// The scalar models against vectors that were measured or computed elsewhere.
#include "tests/support/quant_model.h"
#include "tests/support/sm89_gemm_model.h"

#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace fp8jit::testing {

static std::array<std::uint8_t, 32> bytesOf(llvm::StringRef hex) {
  std::array<std::uint8_t, 32> bytes{};
  const std::string text = llvm::fromHex(hex);
  std::copy(text.begin(), text.end(), bytes.begin());
  return bytes;
}

// Two dot products that a simpler model fails, as an L40S gave them (Khattak and Mikaitis, samples
// of MATLAB-tensor-core, BSD-2).
TEST(Sm89ModelTest, EqualsMeasuredVectors) {
  const struct {
    const char *a;
    const char *b;
    std::uint32_t c;
    std::uint32_t d;
  } cases[] = {
      {"3c3a3fc035b0ac38bb2ca9b639ba3e2635a139303230b8b9b2b0b5ab96393cb2",
       "35b3ada82a28b8b93138b52dbcbababa28a734a83b25b43235b82aac14bd30b6", 0x3f4c695d, 0xbfc52000},
      {"be291b2bb32a38a524b733a62fb93b3b36bb02c0343d28b12d3912843eaaae38",
       "b0b7c0b9a839b134b01bbb30c0b698b7311baf99a836bfbea3b940bc39b1bbb4", 0x3caefb38, 0x3eada000},
  };
  for (const auto &entry : cases) {
    const float d =
        modelSm89Step(bytesOf(entry.a), bytesOf(entry.b), std::bit_cast<float>(entry.c));

    EXPECT_EQ(std::bit_cast<std::uint32_t>(d), entry.d) << entry.a;
  }
}

TEST(Sm89ModelTest, IsExactForSmallIntegers) {
  GemmProblem problem;
  problem.m = 3, problem.n = 2, problem.k = 200;
  std::vector<std::uint8_t> a(600, 0x38);       // 1
  const std::vector<std::uint8_t> b(400, 0xC0); // -2
  a[0] = 0x44;                                  // 3
  const std::vector<float> one = {1.0F};

  const std::vector<float> d =
      modelGemm({.problem = problem, .a = a, .b = b, .sa = one, .sb = one, .alpha = 0.5F});

  EXPECT_EQ(d, (std::vector<float>{-202, -202, -200, -200, -200, -200}));
}

// Rows of amax, S, D and the code of the largest element (reference table of scale vectors).
TEST(QuantModelTest, EqualsGoldenScales) {
  const struct {
    std::uint32_t amax;
    float scale;
    std::uint8_t code;
  } cases[] = {
      {0x00000000, 1.0F, 0x00},
      {0x00000001, 2.93873588e-39F, 0x00},
      {0x00800000, 2.93873588e-39F, 0x48},
      {0x0da24260, 2.23214273e-33F, 0x7e},
      {0x3f800000, 0.00223214296F, 0x7e},
      {0x3fe00000, 0x1p-8F, 0x7e},
      {0x43e00000, 1.0F, 0x7e},
      {0x7f7fffff, 7.59558809e35F, 0x7e},
      {0x7f800000, 1.0F, 0x7e},
  };
  for (const auto &entry : cases) {
    QuantProblem problem;
    problem.m = 1, problem.n = 1;
    const std::vector<float> x = {std::bit_cast<float>(entry.amax)};

    const QuantModelResult result = modelQuantize(problem, x);

    EXPECT_EQ(result.scales[0], entry.scale) << std::hex << entry.amax;
    EXPECT_EQ(result.codes[0], entry.code) << std::hex << entry.amax;
  }
}

TEST(QuantModelTest, NanIsIgnoredByAmaxAndKeptInCodes) {
  QuantProblem problem;
  problem.m = 1, problem.n = 3;
  const float nan = std::numeric_limits<float>::quiet_NaN();

  const QuantModelResult result = modelQuantize(problem, std::vector<float>{-nan, -448.0F, -0.0F});

  EXPECT_EQ(result.amax[0], 448.0F);
  EXPECT_EQ(result.codes, (std::vector<std::uint8_t>{0x7F, 0xFE, 0x80}));
}

} // namespace fp8jit::testing
