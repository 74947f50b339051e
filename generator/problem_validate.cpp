#include "generator/problem_validate.h"

#include "generator/problem_keys.h"
#include "generator/problem_text.h"
#include "support/error.h"

#include "llvm/Support/FormatVariadic.h"

#include <limits>
#include <utility>

namespace fp8jit {

static constexpr std::int64_t kLargestSize = 2147483647;
static constexpr std::int64_t kLargestOffset = std::numeric_limits<std::int64_t>::max();

namespace {

/// A stored matrix and the key of its leading dimension.
struct StoredMatrix {
  llvm::StringRef key;
  std::int64_t rows, columns; ///< as stored: `columns` elements lie together
  std::int64_t leadingDimension;
  std::int64_t elementBytes;
};

} // namespace

static bool isFp8(Format format) {
  return format == Format::E4M3 || format == Format::E5M2;
}

static bool isTensorOrRow(ScaleUnit unit) {
  return unit == ScaleUnit::Tensor || unit == ScaleUnit::Row;
}

static llvm::Error invalid(const llvm::Twine &message) {
  return fail(ErrorCode::InvalidArgument, message);
}

/// Each key by itself: words of the table, sizes within 31 bits, other numbers not negative.
template <typename P>
static llvm::Error checkEachKey(const P &problem) {
  for (const ProblemKey<P> &key : problemKeys<P>()) {
    const std::int64_t value = key.get(problem);
    if (!key.choices.empty() && choiceName(key.choices, value).empty()) {
      return invalid(llvm::formatv("key {0}: found enumerator {1}, expected {2}", key.name, value,
                                   choiceNames(key.choices)));
    }
    if (key.isRequired && (value < 0 || value > kLargestSize)) {
      return invalid(
          llvm::formatv("key {0}: found {1}, expected 0 to {2}", key.name, value, kLargestSize));
    }
    if (value < 0) {
      return invalid(llvm::formatv("key {0}: found {1}, expected a number that is not negative",
                                   key.name, value));
    }
  }
  return llvm::Error::success();
}

static llvm::Error checkLeadingDimension(const StoredMatrix &matrix) {
  const std::int64_t leading = matrix.leadingDimension;
  if (leading == 0) {
    return llvm::Error::success();
  }
  if (leading < matrix.columns) {
    return invalid(llvm::formatv("key {0}: found {1}, expected at least the contiguous {2}",
                                 matrix.key, leading, matrix.columns));
  }
  const std::int64_t longest = kLargestOffset / matrix.elementBytes;
  if (matrix.rows > 1 && leading > (longest - matrix.columns) / (matrix.rows - 1)) {
    return invalid(llvm::formatv("key {0}: found {1}, expected {2} rows of it to end below 2^63 "
                                 "bytes",
                                 matrix.key, leading, matrix.rows));
  }
  return llvm::Error::success();
}

/// The layouts of section "scale arrays" for one unit and type; nothing else exists.
static llvm::Error checkLayout(llvm::StringRef key, ScaleUnit unit, ScaleType type,
                               ScaleLayout layout) {
  const bool isE8m0 = type == ScaleType::UE8M0;
  const char *expected = "row";
  bool isLegal = layout == ScaleLayout::Row;
  switch (unit) {
  case ScaleUnit::Tensor:
  case ScaleUnit::Row:
    break;
  case ScaleUnit::Block1x128:
    isLegal |= layout == (isE8m0 ? ScaleLayout::Packed : ScaleLayout::Mn);
    expected = isE8m0 ? "row or packed" : "row or mn";
    break;
  case ScaleUnit::Block128x128:
    isLegal |= layout == ScaleLayout::Row4 && !isE8m0;
    expected = isE8m0 ? "row" : "row or row4";
    break;
  case ScaleUnit::Block1x32:
    isLegal |= layout == ScaleLayout::Swizzled;
    expected = "row or swizzled";
    break;
  }
  if (isLegal) {
    return llvm::Error::success();
  }
  return invalid(llvm::formatv("key {0}: found {1}, expected {2} with {3} scales of {4}", key,
                               scaleLayoutName(layout), expected, isE8m0 ? "ue8m0" : "f32",
                               scaleUnitName(unit)));
}

/// Scale types that exist for a unit. `key` is st.
static llvm::Error checkScaleType(ScaleUnit unit, ScaleType type) {
  if (unit == ScaleUnit::Block1x32 && type != ScaleType::UE8M0) {
    return invalid(llvm::formatv("key st: found {0}, expected ue8m0 with 1x32 scales",
                                 type == ScaleType::F32 ? "f32" : "pow2"));
  }
  if (isTensorOrRow(unit) && type == ScaleType::UE8M0) {
    return invalid(llvm::formatv("key st: found ue8m0, expected an f32 type with {0} scales",
                                 scaleUnitName(unit)));
  }
  return llvm::Error::success();
}

static llvm::Error checkPair(ScaleUnit sa, ScaleUnit sb) {
  using enum ScaleUnit;
  const std::pair<ScaleUnit, ScaleUnit> pair(sa, sb);
  for (const auto &allowed :
       {std::pair(Tensor, Tensor), std::pair(Row, Row), std::pair(Block1x128, Block128x128),
        std::pair(Block1x128, Block1x128), std::pair(Block128x128, Block1x128),
        std::pair(Block1x32, Block1x32)}) {
    if (pair == allowed) {
      return llvm::Error::success();
    }
  }
  return invalid(llvm::formatv("keys sa, sb: found {0} with {1}, expected tensor with tensor, row "
                               "with row, 1x128 with 128x128 or 1x128, 128x128 with 1x128, or "
                               "1x32 with 1x32",
                               scaleUnitName(sa), scaleUnitName(sb)));
}

static llvm::Error checkGemmTerms(const GemmProblem &problem) {
  if (problem.acc == Accumulation::Fast && !isTensorOrRow(problem.sa)) {
    return invalid("key acc: found fast with " + scaleUnitName(problem.sa) +
                   " scales, expected split (fast is for tensor and row scales)");
  }
  if (problem.c != Format::None && isFp8(problem.d)) {
    return invalid("key c: found " + formatName(problem.c) + " with d=" + formatName(problem.d) +
                   ", expected none with an FP8 result");
  }
  if (problem.c == Format::None && problem.ldc != 0 && problem.ldc != problem.n) {
    return invalid("key ldc: found " + llvm::Twine(problem.ldc) +
                   " without c, expected no ldc or c=bf16, f16 or f32");
  }
  return llvm::Error::success();
}

static llvm::Error checkGemmMatrices(const GemmProblem &problem) {
  const bool isMajorA = problem.ta == Major::K;
  const bool isMajorB = problem.tb == Major::K;
  const Format c = problem.c == Format::None ? problem.d : problem.c;
  const StoredMatrix matrices[] = {
      {"lda", isMajorA ? problem.m : problem.k, isMajorA ? problem.k : problem.m, problem.lda, 1},
      {"ldb", isMajorB ? problem.n : problem.k, isMajorB ? problem.k : problem.n, problem.ldb, 1},
      {"ldc", problem.m, problem.n, problem.ldc, elementBytes(c)},
      {"ldd", problem.m, problem.n, problem.ldd, elementBytes(problem.d)},
  };
  for (const StoredMatrix &matrix : matrices) {
    if (llvm::Error error = checkLeadingDimension(matrix)) {
      return error;
    }
  }
  return llvm::Error::success();
}

llvm::Error validateGemm(const GemmProblem &problem) {
  if (llvm::Error error = checkEachKey(problem)) {
    return error;
  }
  if (llvm::Error error = checkPair(problem.sa, problem.sb)) {
    return error;
  }
  if (llvm::Error error = checkScaleType(problem.sa, problem.st)) {
    return error;
  }
  if (llvm::Error error = checkLayout("la", problem.sa, problem.st, problem.la)) {
    return error;
  }
  if (llvm::Error error = checkLayout("lb", problem.sb, problem.st, problem.lb)) {
    return error;
  }
  if (llvm::Error error = checkGemmTerms(problem)) {
    return error;
  }
  if (llvm::Error error = checkGemmMatrices(problem)) {
    return error;
  }
  if (problem.batch == 0) {
    return invalid("key batch: found 0, expected at least 1");
  }
  if (problem.batch != 1) {
    return fail(ErrorCode::Unsupported,
                llvm::formatv("key batch: found {0}, which is reserved; this build has batch=1",
                              problem.batch));
  }
  return llvm::Error::success();
}

llvm::Error validateQuant(const QuantProblem &problem) {
  if (llvm::Error error = checkEachKey(problem)) {
    return error;
  }
  if (llvm::Error error = checkScaleType(problem.s, problem.st)) {
    return error;
  }
  if (problem.sc == ScaleSource::Given && problem.st == ScaleType::Pow2) {
    return invalid("key st: found pow2 with sc=given, expected f32 or ue8m0 (a given scale is used "
                   "as it is)");
  }
  const bool isRounded = problem.st == ScaleType::UE8M0 && problem.sc == ScaleSource::Amax;
  if (problem.round != ScaleRounding::Up && !isRounded) {
    return invalid("key round: found floor, expected up unless ue8m0 scales are made from amax");
  }
  if (llvm::Error error = checkLayout("l", problem.s, problem.st, problem.l)) {
    return error;
  }
  return checkLeadingDimension({"ldx", problem.m, problem.n, problem.ldx, elementBytes(problem.x)});
}

llvm::Error validateProblem(const Problem &problem) {
  if (const auto *gemm = std::get_if<GemmProblem>(&problem)) {
    return validateGemm(*gemm);
  }
  return validateQuant(*std::get_if<QuantProblem>(&problem));
}

static void dropIfContiguous(std::int64_t &leadingDimension, std::int64_t columns) {
  if (leadingDimension == columns) {
    leadingDimension = 0;
  }
}

GemmProblem withImpliedLeadingDimensions(GemmProblem problem) {
  dropIfContiguous(problem.lda, problem.ta == Major::K ? problem.k : problem.m);
  dropIfContiguous(problem.ldb, problem.tb == Major::K ? problem.k : problem.n);
  dropIfContiguous(problem.ldc, problem.n);
  dropIfContiguous(problem.ldd, problem.n);
  return problem;
}

QuantProblem withImpliedLeadingDimensions(QuantProblem problem) {
  dropIfContiguous(problem.ldx, problem.n);
  return problem;
}

} // namespace fp8jit
