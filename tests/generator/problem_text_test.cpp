// The problem grammar as a table of input -> canonical line or error, and its invariants on random
// problems and random bytes.
#include "generator/problem_keys.h"
#include "generator/problem_text.h"
#include "tests/support/matchers.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace fp8jit {
namespace {

using testing::outcomeOf;

struct CanonicalCase {
  const char *input;
  const char *canonical;
};

constexpr CanonicalCase kCanonicalCases[] = {
    {"gemm m=4096 n=7168 k=2048 a=e4m3 b=e4m3 d=bf16 sa=1x128 sb=128x128",
     "gemm m=4096 n=7168 k=2048 a=e4m3 b=e4m3 d=bf16 sa=1x128 sb=128x128"},
    {"quant m=4096 n=7168 x=bf16 q=e4m3 s=1x128", "quant m=4096 n=7168 x=bf16 q=e4m3 s=1x128"},
    {"gemm m=1 n=2 k=3", "gemm m=1 n=2 k=3 a=e4m3 b=e4m3 d=bf16 sa=tensor sb=tensor"},
    {"quant n=2 m=1", "quant m=1 n=2 x=bf16 q=e4m3 s=tensor"},
    {"  gemm\tk=3  n=2   m=1\r\n", "gemm m=1 n=2 k=3 a=e4m3 b=e4m3 d=bf16 sa=tensor sb=tensor"},
    {"gemm sb=row d=f32 k=16 sa=row a=e5m2 n=8 m=0",
     "gemm m=0 n=8 k=16 a=e5m2 b=e4m3 d=f32 sa=row sb=row"},
    {"gemm m=2147483647 n=0 k=0",
     "gemm m=2147483647 n=0 k=0 a=e4m3 b=e4m3 d=bf16 sa=tensor sb=tensor"},
    {"gemm m=1 n=1 k=1 st=f32 la=row lb=row acc=split c=none bias=none act=none ta=k tb=k "
     "splitk=no batch=1 lda=1 ldb=1 ldd=1",
     "gemm m=1 n=1 k=1 a=e4m3 b=e4m3 d=bf16 sa=tensor sb=tensor"},
    {"gemm m=4 n=8 k=16 batch=1 splitk=det ldd=9 ldc=10 ldb=17 lda=18 tb=k ta=k act=silu bias=f32 "
     "c=f16 acc=fast",
     "gemm m=4 n=8 k=16 a=e4m3 b=e4m3 d=bf16 sa=tensor sb=tensor acc=fast c=f16 bias=f32 act=silu "
     "lda=18 ldb=17 ldc=10 ldd=9 splitk=det"},
    {"gemm m=4 n=8 k=16 ta=mn lda=4 tb=mn ldb=9",
     "gemm m=4 n=8 k=16 a=e4m3 b=e4m3 d=bf16 sa=tensor sb=tensor ta=mn tb=mn ldb=9"},
    {"gemm m=4 n=8 k=16 c=bf16 ldc=8",
     "gemm m=4 n=8 k=16 a=e4m3 b=e4m3 d=bf16 sa=tensor sb=tensor c=bf16"},
    {"gemm m=4 n=8 k=0 lda=5", "gemm m=4 n=8 k=0 a=e4m3 b=e4m3 d=bf16 sa=tensor sb=tensor lda=5"},
    {"gemm m=4 n=8 k=16 sa=1x128 sb=1x128 la=mn lb=mn st=f32",
     "gemm m=4 n=8 k=16 a=e4m3 b=e4m3 d=bf16 sa=1x128 sb=1x128 la=mn lb=mn"},
    {"gemm m=4 n=8 k=16 sa=1x128 sb=128x128 st=ue8m0 la=packed",
     "gemm m=4 n=8 k=16 a=e4m3 b=e4m3 d=bf16 sa=1x128 sb=128x128 st=ue8m0 la=packed"},
    {"gemm m=4 n=8 k=16 sa=128x128 sb=1x128 la=row4",
     "gemm m=4 n=8 k=16 a=e4m3 b=e4m3 d=bf16 sa=128x128 sb=1x128 la=row4"},
    {"gemm m=4 n=8 k=16 sa=1x32 sb=1x32 st=ue8m0 lb=swizzled",
     "gemm m=4 n=8 k=16 a=e4m3 b=e4m3 d=bf16 sa=1x32 sb=1x32 lb=swizzled"},
    {"gemm m=4 n=8 k=16 sa=1x32 sb=1x32", "gemm m=4 n=8 k=16 a=e4m3 b=e4m3 d=bf16 sa=1x32 sb=1x32"},
    {"gemm m=4 n=8 k=16 d=e4m3 bias=bf16 act=gelu",
     "gemm m=4 n=8 k=16 a=e4m3 b=e4m3 d=e4m3 sa=tensor sb=tensor bias=bf16 act=gelu"},
    {"quant m=4 n=8 x=f16 q=e5m2 s=row st=pow2", "quant m=4 n=8 x=f16 q=e5m2 s=row st=pow2"},
    {"quant m=4 n=8 s=1x128 st=ue8m0 round=floor out=both l=packed ldx=9",
     "quant m=4 n=8 x=bf16 q=e4m3 s=1x128 st=ue8m0 round=floor out=both l=packed ldx=9"},
    {"quant m=4 n=8 s=1x32 st=ue8m0 l=swizzled out=col ldx=8 round=up",
     "quant m=4 n=8 x=bf16 q=e4m3 s=1x32 out=col l=swizzled"},
    {"quant m=4 n=8 s=1x32 sc=given", "quant m=4 n=8 x=bf16 q=e4m3 s=1x32 sc=given"},
    {"quant m=4 n=8 s=128x128 sc=given l=row4",
     "quant m=4 n=8 x=bf16 q=e4m3 s=128x128 sc=given l=row4"},
};

TEST(ProblemTextTest, PrintsTheCanonicalLine) {
  for (const CanonicalCase &test : kCanonicalCases) {
    llvm::Expected<Problem> problem = parseProblem(test.input);
    ASSERT_TRUE(bool(problem)) << test.input << ": " << outcomeOf(problem).message;
    EXPECT_EQ(printProblem(*problem), test.canonical) << test.input;
  }
}

TEST(ProblemTextTest, CanonicalLinesStayAsTheyAre) {
  for (const CanonicalCase &test : kCanonicalCases) {
    llvm::Expected<Problem> problem = parseProblem(test.canonical);
    ASSERT_TRUE(bool(problem)) << test.canonical << ": " << outcomeOf(problem).message;
    EXPECT_EQ(printProblem(*problem), test.canonical);
  }
}

struct ErrorCase {
  const char *input;
  const char *messagePart;
  ErrorCode code = ErrorCode::InvalidArgument;
};

constexpr ErrorCase kErrorCases[] = {
    {"", "problem is empty, expected 'gemm"},
    {" \t ", "problem is empty"},
    {"matmul m=1 n=1 k=1", "operation: found 'matmul', expected gemm or quant"},
    {"GEMM m=1 n=1 k=1", "operation: found 'GEMM'"},
    {"m=1 n=1 k=1", "operation: found 'm=1'"},
    {"gemm", "key m is missing"},
    {"gemm m=1 k=1", "key n is missing"},
    {"gemm m=1 n=1", "key k is missing"},
    {"quant m=1", "key n is missing"},
    {"quant m=1 n=1 k=1", "key 'k' is unknown to quant, expected one of m, n, x, q"},
    {"gemm m=1 n=1 k=1 x=bf16", "key 'x' is unknown to gemm"},
    {"gemm m=1 n=1 k=1 M=1", "key 'M' is unknown to gemm"},
    {"gemm m=1 n=1 k=1 =3", "key '' is unknown"},
    {"gemm m=1 n=1 k=1 alpha=2", "key 'alpha' is unknown to gemm"},
    {"gemm m=1 n=1 k=1 foo", "found 'foo', expected key=value"},
    {"gemm m=1 m=1 n=1 k=1", "key m: found twice"},
    {"gemm m=1 n=1 k=1 d=f32 d=f32", "key d: found twice"},
    {"gemm m=-1 n=1 k=1", "key m: found '-1', expected a decimal number without sign"},
    {"gemm m=+1 n=1 k=1", "key m: found '+1'"},
    {"gemm m= n=1 k=1", "key m: found ''"},
    {"gemm m=0x10 n=1 k=1", "key m: found '0x10'"},
    {"gemm m=1.5 n=1 k=1", "key m: found '1.5'"},
    {"gemm m=1e3 n=1 k=1", "key m: found '1e3'"},
    {"gemm m=2147483648 n=1 k=1", "key m: found 2147483648, expected 0 to 2147483647"},
    {"gemm m=1 n=1 k=9223372036854775807", "key k: found 9223372036854775807, expected 0 to"},
    {"gemm m=1 n=1 k=9223372036854775808", "below 2^63"},
    {"gemm m=1 n=99999999999999999999999999 k=1", "key n: found '99999999999999999999999999'"},
    {"gemm m=1 n=1 k=1 a=bf16", "key a: found 'bf16', expected e4m3, e5m2"},
    {"gemm m=1 n=1 k=1 d=fp32", "key d: found 'fp32', expected bf16, f16, f32, e4m3, e5m2"},
    {"gemm m=1 n=1 k=1 sa=1x64", "key sa: found '1x64', expected tensor, row, 1x128"},
    {"gemm m=1 n=1 k=1 sa=E4M3", "key sa: found 'E4M3'"},
    {"gemm m=1 n=1 k=1 d=f32=f32", "key d: found 'f32=f32'"},
    {"gemm m=1 n=1 k=1 sa=1x128", "keys sa, sb: found 1x128 with tensor"},
    {"gemm m=1 n=1 k=1 sa=128x128 sb=128x128", "found 128x128 with 128x128, expected tensor with"},
    {"gemm m=1 n=1 k=1 sa=1x32 sb=1x128", "found 1x32 with 1x128"},
    {"gemm m=1 n=1 k=1 sa=row", "found row with tensor"},
    {"gemm m=1 n=1 k=1 st=ue8m0", "key st: found ue8m0, expected an f32 type with tensor scales"},
    {"gemm m=1 n=1 k=1 st=pow2", "key st: found 'pow2', expected f32, ue8m0"},
    {"gemm m=1 n=1 k=1 sa=1x32 sb=1x32 st=f32", "key st: found f32, expected ue8m0 with 1x32"},
    {"gemm m=1 n=1 k=1 la=mn", "key la: found mn, expected row with f32 scales of tensor"},
    {"gemm m=1 n=1 k=1 sa=1x128 sb=128x128 lb=mn", "key lb: found mn, expected row or row4"},
    {"gemm m=1 n=1 k=1 sa=1x128 sb=128x128 la=packed", "key la: found packed, expected row or mn"},
    {"gemm m=1 n=1 k=1 sa=1x128 sb=128x128 st=ue8m0 la=mn", "expected row or packed with ue8m0"},
    {"gemm m=1 n=1 k=1 sa=1x128 sb=128x128 st=ue8m0 lb=row4", "key lb: found row4, expected row"},
    {"gemm m=1 n=1 k=1 sa=1x32 sb=1x32 la=mn", "key la: found mn, expected row or swizzled"},
    {"gemm m=1 n=1 k=1 sa=1x128 sb=128x128 acc=fast", "key acc: found fast with 1x128 scales"},
    {"gemm m=1 n=1 k=1 d=e4m3 c=bf16", "key c: found bf16 with d=e4m3, expected none"},
    {"gemm m=1 n=4 k=1 ldc=5", "key ldc: found 5 without c"},
    {"gemm m=1 n=1 k=8 lda=7", "key lda: found 7, expected at least the contiguous 8"},
    {"gemm m=9 n=1 k=8 ta=mn lda=8", "key lda: found 8, expected at least the contiguous 9"},
    {"gemm m=1 n=8 k=1 ldd=7", "key ldd: found 7, expected at least the contiguous 8"},
    {"gemm m=1 n=8 k=1 c=f32 ldc=7", "key ldc: found 7, expected at least"},
    {"gemm m=100 n=1 k=1 lda=9223372036854775807", "key lda: found 9223372036854775807, expected "
                                                   "100 rows of it to end below 2^63"},
    {"gemm m=1 n=1 k=1 batch=0", "key batch: found 0, expected at least 1"},
    {"gemm m=1 n=1 k=1 batch=2", "key batch: found 2, which is reserved", ErrorCode::Unsupported},
    {"gemm m=1 n=1 k=1 batch=2 sa=row", "keys sa, sb"},
    {"ggemm m=1 n=1 k=1 groups=2", "operation ggemm is reserved", ErrorCode::Unsupported},
    {"gquant m=1 n=1", "operation gquant is reserved", ErrorCode::Unsupported},
    {"quant m=1 n=1 x=e4m3", "key x: found 'e4m3', expected bf16, f16, f32"},
    {"quant m=1 n=1 st=ue8m0", "key st: found ue8m0, expected an f32 type with tensor scales"},
    {"quant m=1 n=1 s=1x32 st=f32", "key st: found f32, expected ue8m0 with 1x32 scales"},
    {"quant m=1 n=1 s=1x32 st=pow2", "key st: found pow2, expected ue8m0 with 1x32 scales"},
    {"quant m=1 n=1 s=1x128 sc=given st=pow2", "key st: found pow2 with sc=given"},
    {"quant m=1 n=1 round=floor", "key round: found floor, expected up"},
    {"quant m=1 n=1 s=1x32 sc=given round=floor", "key round: found floor, expected up"},
    {"quant m=1 n=1 s=128x128 l=mn", "key l: found mn, expected row or row4"},
    {"quant m=1 n=9 ldx=8", "key ldx: found 8, expected at least the contiguous 9"},
};

TEST(ProblemTextTest, RefusesWhatBreaksTheGrammar) {
  for (const ErrorCase &test : kErrorCases) {
    llvm::Expected<Problem> problem = parseProblem(test.input);
    ASSERT_FALSE(bool(problem)) << test.input;
    const testing::Outcome outcome = outcomeOf(problem);
    EXPECT_EQ(codeName(outcome.code), codeName(test.code)) << test.input;
    EXPECT_NE(outcome.message.find(test.messagePart), std::string::npos)
        << test.input << ": " << outcome.message;
  }
}

TEST(ProblemTextTest, KeepsMessagesOnOneReadableLine) {
  const std::string input = "gemm m=1 n=1 k=1 d=a\x01\x7f" + std::string(1000, 'z');

  llvm::Expected<Problem> problem = parseProblem(input);
  const testing::Outcome outcome = outcomeOf(problem);

  EXPECT_LT(outcome.message.size(), 200U);
  EXPECT_NE(outcome.message.find("\\01\\7F"), std::string::npos) << outcome.message;
}

/// Sets every key to a random legal word, numbers to small values; often not a legal combination.
template <typename P>
P randomProblem(std::mt19937 &random) {
  P problem;
  for (const ProblemKey<P> &key : problemKeys<P>()) {
    if (key.isRequired) {
      key.set(problem, static_cast<std::int64_t>(random() % 5));
    } else if (!key.choices.empty() && random() % 2 == 0) {
      key.set(problem, key.choices[random() % key.choices.size()].value);
    } else if (key.choices.empty() && key.name != "batch" && random() % 3 == 0) {
      key.set(problem, static_cast<std::int64_t>(4 + random() % 4));
    }
  }
  return problem;
}

template <typename P>
int countRoundTrips(std::mt19937 &random, int tries) {
  int valid = 0;
  for (int i = 0; i < tries; ++i) {
    const Problem problem = randomProblem<P>(random);
    if (!outcomeOf(validateProblem(problem)).isOk) {
      continue;
    }
    ++valid;
    const std::string line = printProblem(problem);
    llvm::Expected<Problem> again = parseProblem(line);
    EXPECT_TRUE(bool(again)) << line << ": " << outcomeOf(again).message;
    if (again) {
      EXPECT_EQ(printProblem(*again), line);
    }
  }
  return valid;
}

TEST(ProblemTextTest, RoundTripsRandomValidProblems) {
  std::mt19937 random(7);

  EXPECT_GT(countRoundTrips<GemmProblem>(random, 100'000), 500);
  EXPECT_GT(countRoundTrips<QuantProblem>(random, 20'000), 500);
}

TEST(ProblemTextTest, ParsingWhatWasPrintedGivesTheSameStruct) {
  for (const CanonicalCase &test : kCanonicalCases) {
    llvm::Expected<Problem> problem = parseProblem(test.input);
    ASSERT_TRUE(bool(problem)) << test.input;
    llvm::Expected<Problem> again = parseProblem(printProblem(*problem));
    ASSERT_TRUE(bool(again)) << test.input;
    EXPECT_TRUE(*again == *problem) << test.input;
  }
}

TEST(ProblemTextTest, SurvivesRandomBytes) {
  std::mt19937 random(11);
  const std::string pieces[] = {"gemm", "quant",   " ",        "=",  "m=", "n=1", "k=7", "sa=1x128",
                                "sb=",  "128x128", "st=ue8m0", "\t", "d=", "f32", "9",   "\xff"};
  for (int i = 0; i < 50'000; ++i) {
    std::string text = i % 2 == 0 ? "gemm " : "";
    for (std::uint32_t length = random() % 12; length > 0; --length) {
      text += random() % 8 == 0 ? std::string(1, static_cast<char>(random() % 256))
                                : pieces[random() % std::size(pieces)];
    }
    llvm::Expected<Problem> problem = parseProblem(text);
    const testing::Outcome outcome = outcomeOf(problem);
    if (!outcome.isOk) {
      EXPECT_FALSE(outcome.message.empty()) << text;
      EXPECT_EQ(outcome.message.find('\n'), std::string::npos) << text;
    }
  }
}

TEST(ProblemTextTest, ValidatesStructsThatNeverWereText) {
  GemmProblem gemm{.m = 1, .n = 1, .k = 1};
  EXPECT_OK(validateProblem(gemm));
  gemm.m = -1;
  EXPECT_FAILS(validateProblem(gemm), ErrorCode::InvalidArgument);
  gemm = {.m = 1, .n = 1, .k = 1, .a = Format::BF16};
  EXPECT_FAILS(validateProblem(gemm), ErrorCode::InvalidArgument);
  gemm = {.m = 1, .n = 1, .k = 1, .lda = -8};
  EXPECT_FAILS(validateProblem(gemm), ErrorCode::InvalidArgument);
  QuantProblem quant{.m = 1, .n = 1, .s = static_cast<ScaleUnit>(99)};
  EXPECT_FAILS(validateProblem(quant), ErrorCode::InvalidArgument);
}

TEST(ProblemTextTest, BucketsAreUpperEdges) {
  EXPECT_EQ(bucketUpperEdge(0), 1);
  EXPECT_EQ(bucketUpperEdge(1), 1);
  EXPECT_EQ(bucketUpperEdge(2), 2);
  EXPECT_EQ(bucketUpperEdge(3), 4);
  EXPECT_EQ(bucketUpperEdge(64), 64);
  EXPECT_EQ(bucketUpperEdge(65), 128);
  EXPECT_EQ(bucketUpperEdge(8192), 8192);
  EXPECT_EQ(bucketUpperEdge(8193), 2147483647);
  EXPECT_EQ(bucketUpperEdge(2147483647), 2147483647);
}

TEST(ProblemTextTest, BucketKeyReplacesOnlyTheSizeM) {
  EXPECT_EQ(printBucketKey(GemmProblem{.m = 33, .n = 7, .k = 9, .d = Format::F32}),
            "gemm m<=64 n=7 k=9 a=e4m3 b=e4m3 d=f32 sa=tensor sb=tensor");
  EXPECT_EQ(printBucketKey(QuantProblem{.m = 9000, .n = 7}),
            "quant m<=2147483647 n=7 x=bf16 q=e4m3 s=tensor");
}

} // namespace
} // namespace fp8jit
