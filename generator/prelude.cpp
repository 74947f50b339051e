// Banner and prelude. The m of a problem never enters: the banner shows its bucket.
#include "generator/prelude.h"

#include "generator/problem_text.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/FormatVariadic.h"

namespace fp8jit {

namespace {

struct Field {
  llvm::StringRef name;
  long long value;
  llvm::StringRef comment;
};

} // namespace

/// Code with its comment, the comments below each other.
static std::string commented(llvm::StringRef code, llvm::StringRef comment) {
  return llvm::formatv("{0,-33} // {1}\n", code, comment);
}

static std::string preludeOf(llvm::StringRef header, llvm::StringRef constants,
                             llvm::StringRef type, llvm::ArrayRef<Field> fields) {
  std::string text = llvm::formatv("// The problem's constants and the configuration.\n"
                                   "#pragma once\n\n#include \"{0}\"\n\nnamespace fp8jit {{\n\n"
                                   "{1}constexpr {2} kConfig = {{\n",
                                   header, constants, type);
  for (const Field &field : fields) {
    text +=
        commented(llvm::formatv("    .{0} = {1},", field.name, field.value).str(), field.comment);
  }
  return text + "};\n\n} // namespace fp8jit\n";
}

static std::string intConstant(llvm::StringRef name, long long value) {
  return llvm::formatv("constexpr int {0} = {1};", name, value);
}

std::string preludeText(const GemmProblem &problem, const GemmConfig &config) {
  return preludeOf("shared/gemm_config.h",
                   commented(intConstant("kN", problem.n), "columns of D") +
                       commented(intConstant("kK", problem.k), "inner dimension"),
                   "GemmConfig",
                   {{"tileM", config.tileM, "rows of D per block"},
                    {"tileN", config.tileN, "columns of D per block"},
                    {"tileK", config.tileK, "k per pipeline stage"},
                    {"warpsM", config.warpsM, "warps along m"},
                    {"warpsN", config.warpsN, "warps along n"},
                    {"stages", config.stages, "shared-memory stages of the cp.async pipeline"},
                    {"groupM", config.groupM, "block rows walked together"}});
}

/// The unsigned type of at most 4 of `bytes`, a power of two.
static llvm::StringRef wordOf(int bytes) {
  return bytes == 1 ? "unsigned char" : bytes == 2 ? "unsigned short" : "unsigned";
}

std::string preludeText(const QuantProblem &problem, const QuantConfig &config) {
  const llvm::StringRef units =
      problem.s == ScaleUnit::Tensor ? "vectors of X per thread" : "scale units of one block";
  const llvm::StringRef word = wordOf(config.vectorBytes);
  const int elements = config.vectorBytes / elementBytes(problem.x);
  return preludeOf(
      "shared/quant_config.h",
      commented(intConstant("kN", problem.n), "columns of X") +
          commented(intConstant("kVector", elements), "elements of X per load") +
          commented(("using Word = " + word + ";").str(), "of X in registers") +
          commented(("using CodeWord = " + wordOf(elements) + ";").str(), "of codes in registers"),
      "QuantConfig",
      {{"threads", config.threads, "per block"},
       {"vectorBytes", config.vectorBytes, "bytes of X per load"},
       {"unitsPerBlock", config.unitsPerBlock, units}});
}

static llvm::StringRef scaleIndices(ScaleUnit unit, bool isA) {
  switch (unit) {
  case ScaleUnit::Tensor:
    return "";
  case ScaleUnit::Row:
    return isA ? "[m]" : "[n]";
  case ScaleUnit::Block1x128:
    return isA ? "[m,k/128]" : "[n,k/128]";
  case ScaleUnit::Block128x128:
    return isA ? "[m/128,k/128]" : "[n/128,k/128]";
  case ScaleUnit::Block1x32:
    return isA ? "[m,k/32]" : "[n,k/32]";
  }
  return "";
}

static std::string formulaText(const GemmProblem &problem) {
  return llvm::formatv("D[m,n] = alpha * sum over k of (A[m,k]*sa{0}) * (B[n,k]*sb{1}), "
                       "rounded once to {2}",
                       scaleIndices(problem.sa, true), scaleIndices(problem.sb, false),
                       problem.d == Format::BF16 ? "bf16" : "f32");
}

static std::string formulaText(const QuantProblem &problem) {
  return problem.sc == ScaleSource::Given
             ? "q = e4m3(x * (1/s)), nearest even, saturating; s is given, amax is an output"
             : "q = e4m3(x * (448/amax)), nearest even, saturating; s = 1 / (448/amax)";
}

std::string bannerText(const Problem &problem, const Config &config, const GpuProfile &profile,
                       llvm::StringRef templatesHash) {
  const std::string formula = std::visit([](const auto &p) { return formulaText(p); }, problem);
  const std::string arch = std::string(profile.arch);
  return llvm::formatv("// {0}\n// problem: {1}\n// config:  {2}\n// target:  sm_{3}, templates "
                       "{4}\n// rebuild: nvcc --cubin -arch=sm_{3} -std=c++20 "
                       "--expt-relaxed-constexpr -o kernel.cubin kernel.cu\n",
                       formula, printBucketKey(problem), printConfig(config), arch,
                       templatesHash.take_front(12));
}

} // namespace fp8jit
