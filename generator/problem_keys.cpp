#include "generator/problem_keys.h"

#include "generator/problem_text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <type_traits>

namespace fp8jit {

template <auto Member, typename P>
static std::int64_t readField(const P &problem) {
  return static_cast<std::int64_t>(problem.*Member);
}

template <auto Member, typename P>
static void writeField(P &problem, std::int64_t value) {
  using Field = std::remove_reference_t<decltype(problem.*Member)>;
  problem.*Member = static_cast<Field>(value);
}

template <typename E>
static constexpr KeyChoice choice(const char *name, E value) {
  return {name, static_cast<std::int64_t>(value)};
}

namespace {

constexpr KeyChoice kFp8Choices[] = {choice("e4m3", Format::E4M3), choice("e5m2", Format::E5M2)};
constexpr KeyChoice kWideChoices[] = {choice("bf16", Format::BF16), choice("f16", Format::F16),
                                      choice("f32", Format::F32)};
constexpr KeyChoice kResultChoices[] = {choice("bf16", Format::BF16), choice("f16", Format::F16),
                                        choice("f32", Format::F32), choice("e4m3", Format::E4M3),
                                        choice("e5m2", Format::E5M2)};
constexpr KeyChoice kTermChoices[] = {choice("none", Format::None), choice("bf16", Format::BF16),
                                      choice("f16", Format::F16), choice("f32", Format::F32)};
constexpr KeyChoice kUnitChoices[] = {
    choice("tensor", ScaleUnit::Tensor), choice("row", ScaleUnit::Row),
    choice("1x128", ScaleUnit::Block1x128), choice("128x128", ScaleUnit::Block128x128),
    choice("1x32", ScaleUnit::Block1x32)};
constexpr KeyChoice kGemmScaleTypeChoices[] = {choice("f32", ScaleType::F32),
                                               choice("ue8m0", ScaleType::UE8M0)};
constexpr KeyChoice kQuantScaleTypeChoices[] = {choice("f32", ScaleType::F32),
                                                choice("pow2", ScaleType::Pow2),
                                                choice("ue8m0", ScaleType::UE8M0)};
constexpr KeyChoice kLayoutChoices[] = {
    choice("row", ScaleLayout::Row), choice("row4", ScaleLayout::Row4),
    choice("mn", ScaleLayout::Mn), choice("packed", ScaleLayout::Packed),
    choice("swizzled", ScaleLayout::Swizzled)};
constexpr KeyChoice kAccumulationChoices[] = {choice("split", Accumulation::Split),
                                              choice("fast", Accumulation::Fast)};
constexpr KeyChoice kActivationChoices[] = {
    choice("none", Activation::None), choice("relu", Activation::Relu),
    choice("gelu", Activation::Gelu), choice("silu", Activation::Silu)};
constexpr KeyChoice kMajorChoices[] = {choice("k", Major::K), choice("mn", Major::Mn)};
constexpr KeyChoice kSplitKChoices[] = {choice("no", SplitK::No),
                                        choice("det", SplitK::Deterministic)};
constexpr KeyChoice kSourceChoices[] = {choice("amax", ScaleSource::Amax),
                                        choice("given", ScaleSource::Given)};
constexpr KeyChoice kRoundingChoices[] = {choice("up", ScaleRounding::Up),
                                          choice("floor", ScaleRounding::Floor)};
constexpr KeyChoice kOutputChoices[] = {choice("row", QuantOutput::Row),
                                        choice("col", QuantOutput::Col),
                                        choice("both", QuantOutput::Both)};

enum class Printed { Always, WhenNotDefault };

} // namespace

template <auto Member, typename P>
static constexpr ProblemKey<P> size(const char *name) {
  return {name, {}, true, true, readField<Member, P>, writeField<Member, P>};
}

template <auto Member, typename P>
static constexpr ProblemKey<P> number(const char *name) {
  return {name, {}, false, false, readField<Member, P>, writeField<Member, P>};
}

template <auto Member, typename P, std::size_t N>
static constexpr ProblemKey<P> word(const char *name, const KeyChoice (&choices)[N],
                                    Printed printed = Printed::WhenNotDefault) {
  return {name,  llvm::makeArrayRef(choices), printed == Printed::Always,
          false, readField<Member, P>,        writeField<Member, P>};
}

llvm::ArrayRef<ProblemKey<GemmProblem>> gemmKeys() {
  using P = GemmProblem;
  static const ProblemKey<P> kKeys[] = {
      size<&P::m, P>("m"),
      size<&P::n, P>("n"),
      size<&P::k, P>("k"),
      word<&P::a, P>("a", kFp8Choices, Printed::Always),
      word<&P::b, P>("b", kFp8Choices, Printed::Always),
      word<&P::d, P>("d", kResultChoices, Printed::Always),
      word<&P::sa, P>("sa", kUnitChoices, Printed::Always),
      word<&P::sb, P>("sb", kUnitChoices, Printed::Always),
      word<&P::st, P>("st", kGemmScaleTypeChoices),
      word<&P::la, P>("la", kLayoutChoices),
      word<&P::lb, P>("lb", kLayoutChoices),
      word<&P::acc, P>("acc", kAccumulationChoices),
      word<&P::c, P>("c", kTermChoices),
      word<&P::bias, P>("bias", kTermChoices),
      word<&P::act, P>("act", kActivationChoices),
      word<&P::ta, P>("ta", kMajorChoices),
      word<&P::tb, P>("tb", kMajorChoices),
      number<&P::lda, P>("lda"),
      number<&P::ldb, P>("ldb"),
      number<&P::ldc, P>("ldc"),
      number<&P::ldd, P>("ldd"),
      word<&P::splitk, P>("splitk", kSplitKChoices),
      number<&P::batch, P>("batch"),
  };
  return kKeys;
}

llvm::ArrayRef<ProblemKey<QuantProblem>> quantKeys() {
  using P = QuantProblem;
  static const ProblemKey<P> kKeys[] = {
      size<&P::m, P>("m"),
      size<&P::n, P>("n"),
      word<&P::x, P>("x", kWideChoices, Printed::Always),
      word<&P::q, P>("q", kFp8Choices, Printed::Always),
      word<&P::s, P>("s", kUnitChoices, Printed::Always),
      word<&P::st, P>("st", kQuantScaleTypeChoices),
      word<&P::sc, P>("sc", kSourceChoices),
      word<&P::round, P>("round", kRoundingChoices),
      word<&P::out, P>("out", kOutputChoices),
      word<&P::l, P>("l", kLayoutChoices),
      number<&P::ldx, P>("ldx"),
  };
  return kKeys;
}

std::string choiceNames(llvm::ArrayRef<KeyChoice> choices) {
  return llvm::join(llvm::map_range(choices, [](const KeyChoice &entry) { return entry.name; }),
                    ", ");
}

llvm::StringRef choiceName(llvm::ArrayRef<KeyChoice> choices, std::int64_t value) {
  for (const KeyChoice &entry : choices) {
    if (entry.value == value) {
      return entry.name;
    }
  }
  return {};
}

llvm::StringRef formatName(Format format) {
  if (format == Format::None) {
    return "none";
  }
  return choiceName(kResultChoices, static_cast<std::int64_t>(format));
}

llvm::StringRef scaleUnitName(ScaleUnit unit) {
  return choiceName(kUnitChoices, static_cast<std::int64_t>(unit));
}

llvm::StringRef scaleLayoutName(ScaleLayout layout) {
  return choiceName(kLayoutChoices, static_cast<std::int64_t>(layout));
}

} // namespace fp8jit
