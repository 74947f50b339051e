// What of the grammar this build serves; everything else is refused by name.
#include "generator/config.h"
#include "generator/problem_keys.h"
#include "support/error.h"

#include "llvm/ADT/STLExtras.h"

#include <array>

namespace fp8jit {

namespace {

/// One rule: whether the problem keeps it, the keys it speaks of, and what works.
struct Rule {
  bool holds;
  std::array<llvm::StringRef, 2> keys; ///< the second may be empty
  llvm::StringRef works;
};

} // namespace

/// The named keys as a problem line has them: "sa=row sb=row".
template <typename P>
static std::string printKeys(const P &problem, llvm::ArrayRef<llvm::StringRef> names) {
  std::string text;
  for (const ProblemKey<P> &key : problemKeys<P>()) {
    if (llvm::is_contained(names, key.name)) {
      const std::int64_t value = key.get(problem);
      text += (text.empty() ? "" : " ") + key.name.str() + "=" +
              (key.choices.empty() ? std::to_string(value) : choiceName(key.choices, value).str());
    }
  }
  return text;
}

template <typename P>
static llvm::Error firstBroken(const P &problem, llvm::ArrayRef<Rule> rules) {
  for (const Rule &rule : rules) {
    if (!rule.holds) {
      return fail(ErrorCode::Unsupported, "problem: found " + printKeys(problem, rule.keys) +
                                              ", which this build does not support, expected " +
                                              rule.works);
    }
  }
  return llvm::Error::success();
}

static bool isServedPair(ScaleUnit a, ScaleUnit b) {
  return (a == ScaleUnit::Tensor && b == ScaleUnit::Tensor) ||
         (a == ScaleUnit::Row && b == ScaleUnit::Row) ||
         (a == ScaleUnit::Block1x128 && b == ScaleUnit::Block128x128);
}

static llvm::Error checkProblem(const GemmProblem &p) {
  return firstBroken(p, {{p.a == Format::E4M3, {"a"}, "a=e4m3"},
                         {p.b == Format::E4M3, {"b"}, "b=e4m3"},
                         {p.d == Format::BF16 || p.d == Format::F32, {"d"}, "d=bf16 or d=f32"},
                         {isServedPair(p.sa, p.sb),
                          {"sa", "sb"},
                          "sa=tensor sb=tensor, sa=row sb=row or sa=1x128 sb=128x128"},
                         {p.st == ScaleType::F32, {"st"}, "st=f32"},
                         {p.la == ScaleLayout::Row, {"la"}, "la=row"},
                         {p.lb == ScaleLayout::Row, {"lb"}, "lb=row"},
                         {p.acc == Accumulation::Split, {"acc"}, "acc=split"},
                         {p.c == Format::None, {"c"}, "c=none"},
                         {p.bias == Format::None, {"bias"}, "bias=none"},
                         {p.act == Activation::None, {"act"}, "act=none"},
                         {p.ta == Major::K, {"ta"}, "ta=k"},
                         {p.tb == Major::K, {"tb"}, "tb=k"},
                         {p.lda == 0 || p.lda == p.k, {"lda"}, "contiguous rows"},
                         {p.ldb == 0 || p.ldb == p.k, {"ldb"}, "contiguous rows"},
                         {p.ldc == 0 || p.ldc == p.n, {"ldc"}, "contiguous rows"},
                         {p.ldd == 0 || p.ldd == p.n, {"ldd"}, "contiguous rows"},
                         {p.splitk == SplitK::No, {"splitk"}, "splitk=no"},
                         {p.batch == 1, {"batch"}, "batch=1"}});
}

static llvm::Error checkProblem(const QuantProblem &p) {
  return firstBroken(p, {{p.x == Format::BF16 || p.x == Format::F32, {"x"}, "x=bf16 or x=f32"},
                         {p.q == Format::E4M3, {"q"}, "q=e4m3"},
                         {p.s != ScaleUnit::Block1x32, {"s"}, "s=tensor, row, 1x128 or 128x128"},
                         {p.st == ScaleType::F32, {"st"}, "st=f32"},
                         {p.out == QuantOutput::Row, {"out"}, "out=row"},
                         {p.l == ScaleLayout::Row, {"l"}, "l=row"},
                         {p.ldx == 0 || p.ldx == p.n, {"ldx"}, "contiguous rows"}});
}

/// Quantization is the same code everywhere; the GEMM is written for the tensor cores of sm_89.
static llvm::Error checkTarget(const Problem &problem, const GpuProfile &profile) {
  const bool isGemm = std::holds_alternative<GemmProblem>(problem);
  if (profile.arch == "89" || (profile.arch == "90a" && !isGemm)) {
    return llvm::Error::success();
  }
  return fail(ErrorCode::Unsupported,
              "target sm_" + llvm::StringRef(profile.arch) +
                  " is not supported by this build for " +
                  (isGemm ? "gemm, expected sm_89" : "quant, expected sm_89 or sm_90a"));
}

llvm::Error checkSupported(const Problem &problem, const GpuProfile &profile) {
  if (llvm::Error error = checkTarget(problem, profile)) {
    return error;
  }
  return std::visit([](const auto &p) { return checkProblem(p); }, problem);
}

} // namespace fp8jit
