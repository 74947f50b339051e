// Forms and problems. Names of formats and codes are those of the OCP and IEEE formats.
#include "tests/emulator/tensor/form_cases.h"

#include "emulator/tensor/scalar_model.h"
#include "emulator/tensor/step_rules.h"

#include <algorithm>

namespace fp8jit::emulator::testing {
namespace {

constexpr MmaFormat kFp8Formats[] = {MmaFormat::E4M3, MmaFormat::E5M2};

/// Fields of a format.
struct Fields {
  std::uint32_t sign, infinity, one; ///< codes
  unsigned fractionBits;
};

} // namespace

static Fields fieldsOf(MmaFormat format) {
  switch (format) {
  case MmaFormat::E4M3:
    return {0x80, 0x7f, 0x38, 3}; // its NaN stands where others have infinity
  case MmaFormat::E5M2:
    return {0x80, 0x7c, 0x3c, 2};
  case MmaFormat::F16:
    return {0x8000, 0x7c00, 0x3c00, 10};
  case MmaFormat::BF16:
    return {0x8000, 0x7f80, 0x3f80, 7};
  case MmaFormat::TF32:
    return {0x80000000, 0x7f800000, 0x3f800000, 23};
  }
  return {};
}

static void addFp8(std::vector<FormCase> &forms, const char *arch, int m, int n, int k) {
  for (const MmaFormat a : kFp8Formats) {
    for (const MmaFormat b : kFp8Formats) {
      for (const MmaAccumulator accumulator : {MmaAccumulator::F32, MmaAccumulator::F16}) {
        forms.push_back({arch, {m, n, k, a, b, accumulator}});
      }
    }
  }
}

static void addWide(std::vector<FormCase> &forms, const char *arch, int m, int n, int k) {
  forms.push_back({arch, {m, n, k, MmaFormat::F16, MmaFormat::F16, MmaAccumulator::F32}});
  forms.push_back({arch, {m, n, k, MmaFormat::F16, MmaFormat::F16, MmaAccumulator::F16}});
  forms.push_back({arch, {m, n, k, MmaFormat::BF16, MmaFormat::BF16, MmaAccumulator::F32}});
}

static void addTf32(std::vector<FormCase> &forms, const char *arch, int m, int n, int k) {
  forms.push_back({arch, {m, n, k, MmaFormat::TF32, MmaFormat::TF32, MmaAccumulator::F32}});
}

std::vector<FormCase> formCases() {
  std::vector<FormCase> forms;
  addFp8(forms, "89", 16, 8, 32);
  addFp8(forms, "89", 16, 8, 16);
  addFp8(forms, "90a", 16, 8, 32);
  addFp8(forms, "100a", 16, 8, 16);
  addFp8(forms, "120a", 16, 8, 32);
  addFp8(forms, "90a", 64, 16, 32);
  for (const char *arch : {"80", "90"}) {
    addWide(forms, arch, 16, 8, 16);
    addWide(forms, arch, 16, 8, 8);
    addTf32(forms, arch, 16, 8, 8);
    addTf32(forms, arch, 16, 8, 4);
  }
  addWide(forms, "90a", 64, 16, 16);
  addTf32(forms, "90a", 64, 16, 8);
  return forms;
}

std::string nameOf(const FormCase &form) {
  constexpr const char *kFormats[] = {"E4m3", "E5m2", "F16", "Bf16", "Tf32"};
  return std::string("Sm") + form.arch + (form.isWgmma() ? "Wgmma" : "Mma") + "K" +
         std::to_string(form.shape.k) + kFormats[static_cast<int>(form.shape.a)] +
         kFormats[static_cast<int>(form.shape.b)] +
         (form.shape.accumulator == MmaAccumulator::F32 ? "F32" : "F16");
}

void PrintTo(const FormCase &form, std::ostream *out) {
  *out << nameOf(form);
}

WarpProblem ProblemSource::next(Mix mix) {
  WarpProblem problem;
  for (auto &row : problem.a) {
    fill(std::span(row), shape_.a, mix);
  }
  for (auto &column : problem.b) {
    fill(std::span(column), shape_.b, mix);
  }
  for (auto &row : problem.c) {
    for (std::uint32_t &value : row) {
      value = accumulator(mix);
    }
  }
  return problem;
}

void ProblemSource::fill(std::span<std::uint32_t> codes, MmaFormat format, Mix mix) {
  for (std::size_t k = 0; k < static_cast<std::size_t>(shape_.k); ++k) {
    codes[k] = code(format, mix);
    if (mix == Mix::Cancelling && k % 2 == 1) {
      codes[k] = codes[k - 1]; // equal pairs against random signs
    }
  }
}

std::uint32_t ProblemSource::code(MmaFormat format, Mix mix) {
  const Fields fields = fieldsOf(format);
  const auto raw = static_cast<std::uint32_t>(random_());
  const std::uint32_t sign = raw & fields.sign;
  const std::uint32_t finite = (raw & (fields.sign - 1)) % fields.infinity;
  switch (mix) {
  case Mix::AllCodes:
    return raw & (2 * fields.sign - 1);
  case Mix::Spread: {
    const auto low =
        static_cast<std::int64_t>(fields.one) - (std::int64_t{12} << fields.fractionBits);
    const std::int64_t high = fields.one + (std::int64_t{12} << fields.fractionBits);
    const std::int64_t from = std::max<std::int64_t>(low, 0);
    const std::int64_t to = std::min<std::int64_t>(high, fields.infinity);
    return sign | static_cast<std::uint32_t>(from + finite % (to - from));
  }
  case Mix::Narrow:
  case Mix::Cancelling:
    return sign | (fields.one - fields.one / 8 + finite % (fields.one / 4));
  case Mix::Sparse:
    return random_() % 4 == 0 ? sign | finite : sign;
  case Mix::Subnormal:
    return sign | finite % (fields.infinity / 16);
  case Mix::Finite:
  case Mix::SpecialAccumulator:
    return sign | finite;
  }
  return 0;
}

std::uint32_t ProblemSource::accumulator(Mix mix) {
  const bool isF32 = shape_.accumulator == MmaAccumulator::F32;
  const auto raw = static_cast<std::uint32_t>(random_());
  if (mix == Mix::SpecialAccumulator || mix == Mix::AllCodes) {
    constexpr std::uint32_t kSpecials[] = {0x7f800000, 0xff800000, 0x7fc00000, 0x80000000,
                                           0x00000001, 0x807fffff, 0x7f7fffff, 0xff7fffff,
                                           0x00800000, 0x7f000000, 0xfeffffff, 0};
    const std::uint32_t special = kSpecials[raw % std::size(kSpecials)];
    const std::uint32_t any = raw % 3 == 0 ? special : static_cast<std::uint32_t>(random_());
    return isF32 ? any : any >> 16;
  }
  if (mix == Mix::Sparse && raw % 2 == 0) {
    return raw % 4 == 0 ? 0 : (isF32 ? 0x80000000U : 0x8000U);
  }
  // Exponents near those of the products: 2^-20 to 2^20 in f32.
  return isF32 ? (raw & 0x807fffffU) | (107U + (raw >> 8) % 41U) << 23 : raw % 0x7c00U;
}

WarpResult scalarResult(const FormCase &form, const WarpProblem &problem) {
  const MmaShape &shape = form.shape;
  const StepRule *rule =
      form.isWgmma() ? findWgmmaRule(shape, form.arch) : findMmaRule(shape, form.arch);
  const auto k = static_cast<std::size_t>(shape.k);
  WarpResult result;
  for (std::size_t row = 0; row < 16; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      result[row][column] =
          dotProduct(problem.c[row][column], std::span(problem.a[row]).first(k),
                     std::span(problem.b[column]).first(k), shape.a, shape.b, *rule);
    }
  }
  return result;
}

WarpResult selectedResult(const FormCase &form, const WarpProblem &problem, bool portable) {
  if (form.isWgmma()) {
    const WgmmaFunction function =
        portable ? selectPortableWgmma(form.shape, form.arch) : selectWgmma(form.shape, form.arch);
    return runWarpgroupWarp(function, form.shape, {problem, problem})[1];
  }
  return runWarp(portable ? selectPortableMma(form.shape, form.arch)
                          : selectMma(form.shape, form.arch),
                 form.shape, problem);
}

} // namespace fp8jit::emulator::testing
