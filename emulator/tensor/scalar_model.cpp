// One step in 64-bit integers: decode, align to the largest exponent, add, round.
#include "emulator/tensor/scalar_model.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <limits>

namespace fp8jit::emulator {
namespace {

enum class NumberClass : std::uint8_t { Finite, Infinite, NotANumber };

/// value = ±significand·2^(exponent - fractionBits); zero has significand 0.
struct Number {
  NumberClass kind = NumberClass::Finite;
  bool isNegative = false;
  std::uint64_t significand = 0;
  int exponent = 0;
  int fractionBits = 0;
};

/// Field widths of a binary floating-point format with an implicit leading bit.
struct FormatLayout {
  int exponentBits = 0, fractionBits = 0;
  bool hasInfinity = true; ///< false: e4m3, whose only NaN is all ones and which has no infinity
};

constexpr FormatLayout kF32Layout{8, 23, true};
constexpr FormatLayout kF16Layout{5, 10, true};
constexpr int kNoExponent = std::numeric_limits<int>::min();

} // namespace

static FormatLayout layoutOf(MmaFormat format) {
  switch (format) {
  case MmaFormat::E4M3:
    return {4, 3, false};
  case MmaFormat::E5M2:
    return {5, 2, true};
  case MmaFormat::F16:
    return kF16Layout;
  case MmaFormat::BF16:
    return {8, 7, true};
  case MmaFormat::TF32:
    return {8, 10, true};
  }
  return {};
}

static Number decode(std::uint32_t bits, const FormatLayout &layout) {
  const std::uint32_t fraction = bits & ((1U << layout.fractionBits) - 1);
  const std::uint32_t field = (bits >> layout.fractionBits) & ((1U << layout.exponentBits) - 1);
  const std::uint32_t fieldMax = (1U << layout.exponentBits) - 1;
  const int bias = (1 << (layout.exponentBits - 1)) - 1;
  Number number{.isNegative = ((bits >> (layout.exponentBits + layout.fractionBits)) & 1) != 0,
                .fractionBits = layout.fractionBits};
  if (field == fieldMax && layout.hasInfinity) {
    number.kind = fraction != 0 ? NumberClass::NotANumber : NumberClass::Infinite;
    return number;
  }
  if (field == fieldMax && !layout.hasInfinity && fraction == (1U << layout.fractionBits) - 1) {
    number.kind = NumberClass::NotANumber;
    return number;
  }
  number.significand = field == 0 ? fraction : fraction | (1U << layout.fractionBits);
  number.exponent = std::max(static_cast<int>(field), 1) - bias;
  return number;
}

static Number decodeOperand(std::uint32_t code, MmaFormat format) {
  return decode(format == MmaFormat::TF32 ? code >> 13 : code, layoutOf(format));
}

static Number multiply(const Number &x, const Number &y) {
  Number product{.isNegative = x.isNegative != y.isNegative,
                 .significand = x.significand * y.significand,
                 .exponent = x.exponent + y.exponent,
                 .fractionBits = x.fractionBits + y.fractionBits};
  const bool isInfinite = x.kind == NumberClass::Infinite || y.kind == NumberClass::Infinite;
  const bool isZero = (x.kind == NumberClass::Finite && x.significand == 0) ||
                      (y.kind == NumberClass::Finite && y.significand == 0);
  if (x.kind == NumberClass::NotANumber || y.kind == NumberClass::NotANumber ||
      (isInfinite && isZero)) {
    product.kind = NumberClass::NotANumber;
  } else if (isInfinite) {
    product.kind = NumberClass::Infinite;
  }
  return product;
}

/// trunc(term · 2^(fractionBits - exponent)), sign included.
static std::int64_t align(const Number &term, int exponent, int fractionBits) {
  if (term.significand == 0) {
    return 0;
  }
  const int shift = fractionBits + term.exponent - exponent - term.fractionBits;
  std::uint64_t magnitude = term.significand;
  if (shift >= 0) {
    magnitude <<= shift;
  } else {
    magnitude = shift > -64 ? magnitude >> -shift : 0;
  }
  const auto value = static_cast<std::int64_t>(magnitude);
  return term.isNegative ? -value : value;
}

/// ±magnitude·2^exponent rounded to `layout`, keeping `keptBits` fraction bits; too large gives
/// infinity. Subnormals lose bits as the format does.
static std::uint32_t encode(bool isNegative, std::uint64_t magnitude, int exponent,
                            const FormatLayout &layout, int keptBits, bool toNearest) {
  const int bias = (1 << (layout.exponentBits - 1)) - 1;
  const int leading = static_cast<int>(std::bit_width(magnitude)) - 1 + exponent;
  const int quantum = std::max(leading, 1 - bias) - keptBits; // exponent of the last kept bit
  const int drop = quantum - exponent;
  std::uint64_t kept = 0;
  if (drop <= 0) {
    kept = magnitude << -drop;
  } else if (drop < 64) {
    kept = magnitude >> drop;
    const std::uint64_t rest = magnitude & ((std::uint64_t{1} << drop) - 1);
    const std::uint64_t half = std::uint64_t{1} << (drop - 1);
    if (toNearest && (rest > half || (rest == half && (kept & 1) != 0))) {
      ++kept;
    }
  }
  const std::uint32_t sign = isNegative ? 1U << (layout.exponentBits + layout.fractionBits) : 0;
  // Adding the exponent field to a significand with its leading bit carries as IEEE formats do.
  const std::uint64_t significand = kept << (layout.fractionBits - keptBits);
  const std::uint64_t field = static_cast<std::uint64_t>(std::max(leading, 1 - bias) + bias - 1);
  const std::uint64_t bits = significand + (field << layout.fractionBits);
  const std::uint64_t infinity = ((std::uint64_t{1} << layout.exponentBits) - 1)
                                 << layout.fractionBits;
  return sign | static_cast<std::uint32_t>(std::min(bits, infinity));
}

static std::uint32_t roundSum(std::int64_t sum, int exponent, StepOutput output) {
  if (sum == 0) {
    return 0;
  }
  const bool isNegative = sum < 0;
  const auto magnitude = static_cast<std::uint64_t>(isNegative ? -sum : sum);
  switch (output) {
  case StepOutput::F32Truncate13:
    return encode(isNegative, magnitude, exponent, kF32Layout, 13, false);
  case StepOutput::F32Truncate23:
    return encode(isNegative, magnitude, exponent, kF32Layout, 23, false);
  case StepOutput::F16Nearest:
    return encode(isNegative, magnitude, exponent, kF16Layout, 10, true);
  }
  return 0;
}

std::uint32_t accumulateStep(std::uint32_t c, std::span<const std::uint32_t> a,
                             std::span<const std::uint32_t> b, MmaFormat formatA, MmaFormat formatB,
                             const StepRule &rule) {
  constexpr std::size_t kMaxTerms = 65;
  assert(a.size() == b.size() && a.size() < kMaxTerms && "operands of unequal or excessive length");
  const bool isF16 = rule.output == StepOutput::F16Nearest;
  std::array<Number, kMaxTerms> terms;
  const std::size_t count = a.size() + 1;
  terms[0] = decode(c, isF16 ? kF16Layout : kF32Layout);
  for (std::size_t i = 0; i < a.size(); ++i) {
    terms[i + 1] = multiply(decodeOperand(a[i], formatA), decodeOperand(b[i], formatB));
  }

  bool hasNan = false;
  bool hasPositiveInfinity = false;
  bool hasNegativeInfinity = false;
  int exponent = kNoExponent;
  for (const Number &term : std::span(terms).first(count)) {
    hasNan |= term.kind == NumberClass::NotANumber;
    hasPositiveInfinity |= term.kind == NumberClass::Infinite && !term.isNegative;
    hasNegativeInfinity |= term.kind == NumberClass::Infinite && term.isNegative;
    if (term.significand != 0) {
      exponent = std::max(exponent, term.exponent);
    }
  }
  if (hasNan || (hasPositiveInfinity && hasNegativeInfinity)) {
    return isF16 ? kNanF16 : kNanF32;
  }
  if (hasPositiveInfinity || hasNegativeInfinity) {
    const std::uint32_t infinity = isF16 ? 0x7c00 : 0x7f800000;
    return hasNegativeInfinity ? infinity | (isF16 ? 0x8000U : 0x80000000U) : infinity;
  }
  exponent = std::max(exponent, rule.minExponent);
  std::int64_t sum = 0;
  for (const Number &term : std::span(terms).first(count)) {
    sum += align(term, exponent, rule.fractionBits);
  }
  return roundSum(sum, exponent - rule.fractionBits, rule.output);
}

/// An FP8 code as f16: exact, subnormals of e4m3 become normal.
static std::uint32_t halfOf(std::uint32_t code, MmaFormat format) {
  const Number number = decodeOperand(code, format);
  if (number.kind == NumberClass::NotANumber) {
    return kNanF16;
  }
  const std::uint32_t sign = number.isNegative ? 0x8000 : 0;
  if (number.kind == NumberClass::Infinite || number.significand == 0) {
    return sign | (number.kind == NumberClass::Infinite ? 0x7c00 : 0);
  }
  return encode(number.isNegative, number.significand, number.exponent - number.fractionBits,
                kF16Layout, kF16Layout.fractionBits, true);
}

/// x + y in f16 or f32, rounded to nearest even; any NaN is the canonical one.
static std::uint32_t addNearest(std::uint32_t x, std::uint32_t y, bool isF16) {
  if (!isF16) {
    const float sum = std::bit_cast<float>(x) + std::bit_cast<float>(y);
    return sum != sum ? kNanF32 : std::bit_cast<std::uint32_t>(sum);
  }
  const Number terms[2] = {decode(x, kF16Layout), decode(y, kF16Layout)};
  for (const Number &term : terms) {
    if (term.kind == NumberClass::NotANumber) {
      return kNanF16;
    }
  }
  if (terms[0].kind == NumberClass::Infinite || terms[1].kind == NumberClass::Infinite) {
    const bool isConflict = terms[0].kind == terms[1].kind && x != y;
    return isConflict ? kNanF16 : (terms[0].kind == NumberClass::Infinite ? x : y);
  }
  constexpr int kUnit = 24; // every f16 is a multiple of 2^-24
  const std::int64_t sum = align(terms[0], 0, kUnit) + align(terms[1], 0, kUnit);
  if (sum == 0) {
    return x & y & 0x8000;
  }
  return roundSum(sum, -kUnit, StepOutput::F16Nearest);
}

/// StepPath::HalfUnits.
static std::uint32_t halfUnitsProduct(std::uint32_t c, std::span<const std::uint32_t> a,
                                      std::span<const std::uint32_t> b, MmaFormat formatA,
                                      MmaFormat formatB, const StepRule &rule) {
  std::uint32_t product = 0;
  for (const std::size_t first : {0U, 2U}) {
    std::array<std::uint32_t, 64> halfA, halfB;
    std::size_t count = 0;
    for (std::size_t k = first; k < a.size(); k += k % 2 == 0 ? 1 : 3) {
      halfA[count] = halfOf(a[k], formatA);
      halfB[count++] = halfOf(b[k], formatB);
    }
    product = accumulateStep(product, std::span(halfA).first(count), std::span(halfB).first(count),
                             MmaFormat::F16, MmaFormat::F16, rule);
  }
  return addNearest(c, product, rule.output == StepOutput::F16Nearest);
}

std::uint32_t dotProduct(std::uint32_t c, std::span<const std::uint32_t> a,
                         std::span<const std::uint32_t> b, MmaFormat formatA, MmaFormat formatB,
                         const StepRule &rule) {
  if (rule.path == StepPath::HalfUnits) {
    return halfUnitsProduct(c, a, b, formatA, formatB, rule);
  }
  const auto groupSize = static_cast<std::size_t>(rule.groupSize);
  for (std::size_t k = 0; k < a.size(); k += groupSize) {
    const std::size_t length = std::min(groupSize, a.size() - k);
    c = accumulateStep(c, a.subspan(k, length), b.subspan(k, length), formatA, formatB, rule);
  }
  return c;
}

} // namespace fp8jit::emulator
