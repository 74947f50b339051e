// The instruction forms of all targets, random problems for them, and what the scalar model says.
#pragma once

#include "tests/emulator/tensor/warp_harness.h"

#include <random>
#include <span>
#include <string>
#include <vector>

namespace fp8jit::emulator::testing {

/// One form on one target; wgmma if m is 64.
struct FormCase {
  const char *arch = nullptr;
  MmaShape shape;

  bool isWgmma() const { return shape.m == 64; }
};

/// Every form that has a rule, each rule on one target at least.
std::vector<FormCase> formCases();

/// A name for the test, as Sm90aWgmmaK32E4m3E5m2F32.
std::string nameOf(const FormCase &form);
void PrintTo(const FormCase &form, std::ostream *out);

/// What a random problem is made of; each stresses another part of the arithmetic.
enum class Mix {
  AllCodes,
  Finite,
  Spread, ///< exponents of ±12
  Narrow, ///< numbers next to one
  Sparse,
  Subnormal,
  Cancelling,
  SpecialAccumulator
};
inline constexpr Mix kMixes[] = {
    Mix::AllCodes, Mix::Finite,    Mix::Spread,     Mix::Narrow,
    Mix::Sparse,   Mix::Subnormal, Mix::Cancelling, Mix::SpecialAccumulator};

/// Random problems with a fixed seed.
class ProblemSource {
public:
  explicit ProblemSource(const MmaShape &shape) : shape_(shape) {}

  WarpProblem next(Mix mix);

private:
  void fill(std::span<std::uint32_t> codes, MmaFormat format, Mix mix);
  std::uint32_t code(MmaFormat format, Mix mix);
  std::uint32_t accumulator(Mix mix);

  MmaShape shape_;
  std::mt19937_64 random_{20240607};
};

/// The results of the scalar model by the rule of the form's target.
WarpResult scalarResult(const FormCase &form, const WarpProblem &problem);

/// The results of the function that is selected for the form, or of the portable one. For wgmma the
/// problem's columns are the second eight of sixteen.
WarpResult selectedResult(const FormCase &form, const WarpProblem &problem, bool portable = false);

} // namespace fp8jit::emulator::testing
