// Reading and printing problem lines by the tables of problem_keys.h; what combinations are legal
// is checked in problem_validate.cpp.
#include "generator/problem_text.h"

#include "generator/problem_keys.h"
#include "generator/problem_validate.h"
#include "support/error.h"
#include "support/quote.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <bit>

namespace fp8jit {

static constexpr llvm::StringRef kSpaces = " \t\r\n\v\f";
static constexpr std::int64_t kLargestBucket = 8192;
static constexpr std::int64_t kUnboundedBucket = 2147483647;

template <typename P>
static std::string keyNames() {
  return llvm::join(llvm::map_range(problemKeys<P>(), [](const auto &key) { return key.name; }),
                    ", ");
}

/// Digits alone, below 2^63.
static bool parseNumber(llvm::StringRef text, std::int64_t &value) {
  return !text.empty() && llvm::all_of(text, llvm::isDigit) && !text.getAsInteger(10, value);
}

template <typename P>
static llvm::Error assignKey(P &problem, const ProblemKey<P> &key, llvm::StringRef text) {
  if (key.choices.empty()) {
    std::int64_t value = 0;
    if (!parseNumber(text, value)) {
      return fail(ErrorCode::InvalidArgument,
                  "key " + key.name + ": found " + quoteText(text) +
                      ", expected a decimal number without sign, below 2^63");
    }
    key.set(problem, value);
    return llvm::Error::success();
  }
  for (const KeyChoice &entry : key.choices) {
    if (entry.name == text) {
      key.set(problem, entry.value);
      return llvm::Error::success();
    }
  }
  return fail(ErrorCode::InvalidArgument, "key " + key.name + ": found " + quoteText(text) +
                                              ", expected " + choiceNames(key.choices));
}

/// Reads one `key=value`; `isGiven` has a flag per key.
template <typename P>
static llvm::Error assignToken(llvm::StringRef operation, llvm::StringRef token, P &problem,
                               llvm::SmallVectorImpl<bool> &isGiven) {
  if (!token.contains('=')) {
    return fail(ErrorCode::InvalidArgument, operation + ": found " + quoteText(token) +
                                                ", expected key=value with a key of " +
                                                keyNames<P>());
  }
  const auto [name, value] = token.split('=');
  const llvm::ArrayRef<ProblemKey<P>> keys = problemKeys<P>();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].name != name) {
      continue;
    }
    if (isGiven[i]) {
      return fail(ErrorCode::InvalidArgument,
                  "key " + name + ": found twice, expected at most once");
    }
    isGiven[i] = true;
    return assignKey(problem, keys[i], value);
  }
  return fail(ErrorCode::InvalidArgument, "key " + quoteText(name) + " is unknown to " + operation +
                                              ", expected one of " + keyNames<P>());
}

/// Block scales of 1x32 are always E8M0; a line need not say so.
static void impliedScaleType(GemmProblem &problem) {
  if (problem.sa == ScaleUnit::Block1x32 || problem.sb == ScaleUnit::Block1x32) {
    problem.st = ScaleType::UE8M0;
  }
}
static void impliedScaleType(QuantProblem &problem) {
  if (problem.s == ScaleUnit::Block1x32) {
    problem.st = ScaleType::UE8M0;
  }
}

template <typename P>
static llvm::Expected<Problem> parseTokens(llvm::StringRef operation,
                                           llvm::ArrayRef<llvm::StringRef> tokens) {
  const llvm::ArrayRef<ProblemKey<P>> keys = problemKeys<P>();
  P problem;
  llvm::SmallVector<bool, 32> isGiven(keys.size(), false);
  for (const llvm::StringRef token : tokens) {
    if (llvm::Error error = assignToken(operation, token, problem, isGiven)) {
      return error;
    }
  }
  bool isScaleTypeGiven = false;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].isRequired && !isGiven[i]) {
      return fail(ErrorCode::InvalidArgument, "key " + keys[i].name + " is missing, expected " +
                                                  keys[i].name + "=<number> in every " + operation +
                                                  " line");
    }
    isScaleTypeGiven |= isGiven[i] && keys[i].name == "st";
  }
  if (!isScaleTypeGiven) {
    impliedScaleType(problem);
  }
  if (llvm::Error error = validateProblem(Problem(problem))) {
    return error;
  }
  return Problem(withImpliedLeadingDimensions(problem));
}

llvm::Expected<Problem> parseProblem(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef, 32> tokens;
  for (llvm::StringRef rest = text.ltrim(kSpaces); !rest.empty(); rest = rest.ltrim(kSpaces)) {
    const std::size_t end = std::min(rest.find_first_of(kSpaces), rest.size());
    tokens.push_back(rest.take_front(end));
    rest = rest.drop_front(end);
  }
  if (tokens.empty()) {
    return fail(ErrorCode::InvalidArgument,
                "problem is empty, expected 'gemm m=... n=... k=...' or 'quant m=... n=...'");
  }
  const llvm::StringRef operation = tokens.front();
  const llvm::ArrayRef<llvm::StringRef> keys = llvm::makeArrayRef(tokens).drop_front();
  if (operation == "gemm") {
    return parseTokens<GemmProblem>(operation, keys);
  }
  if (operation == "quant") {
    return parseTokens<QuantProblem>(operation, keys);
  }
  if (operation == "ggemm" || operation == "gquant") {
    return fail(ErrorCode::Unsupported, "operation " + operation +
                                            " is reserved for grouped problems; this build has "
                                            "gemm and quant");
  }
  return fail(ErrorCode::InvalidArgument,
              "operation: found " + quoteText(operation) + ", expected gemm or quant");
}

/// The line of `problem` with `sizeText` in place of "m=<m>".
template <typename P>
static std::string printKeys(llvm::StringRef operation, P problem, const std::string &sizeText) {
  problem = withImpliedLeadingDimensions(problem);
  P defaults = problem;
  defaults.st = ScaleType::F32;
  impliedScaleType(defaults);
  const ScaleType impliedType = defaults.st;
  defaults = P{};
  defaults.st = impliedType;
  std::string line = operation.str();
  for (const ProblemKey<P> &key : problemKeys<P>()) {
    const std::int64_t value = key.get(problem);
    if (value == key.get(defaults) && !key.isAlwaysPrinted) {
      continue;
    }
    line += ' ';
    if (key.name == "m") {
      line += sizeText;
      continue;
    }
    line += key.name;
    line += '=';
    line += key.choices.empty() ? std::to_string(value) : choiceName(key.choices, value).str();
  }
  return line;
}

std::string printProblem(const GemmProblem &problem) {
  return printKeys("gemm", problem, "m=" + std::to_string(problem.m));
}

std::string printProblem(const QuantProblem &problem) {
  return printKeys("quant", problem, "m=" + std::to_string(problem.m));
}

std::string printProblem(const Problem &problem) {
  return std::visit([](const auto &held) { return printProblem(held); }, problem);
}

std::int64_t bucketUpperEdge(std::int64_t m) {
  if (m <= 1) {
    return 1;
  }
  if (m > kLargestBucket) {
    return kUnboundedBucket;
  }
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(m)));
}

Problem atBucketEdge(Problem problem) {
  std::visit([](auto &any) { any.m = bucketUpperEdge(any.m); }, problem);
  return problem;
}

std::string printBucketKey(const Problem &problem) {
  if (const auto *gemm = std::get_if<GemmProblem>(&problem)) {
    return printKeys("gemm", *gemm, "m<=" + std::to_string(bucketUpperEdge(gemm->m)));
  }
  const auto &quant = *std::get_if<QuantProblem>(&problem);
  return printKeys("quant", quant, "m<=" + std::to_string(bucketUpperEdge(quant.m)));
}

} // namespace fp8jit
