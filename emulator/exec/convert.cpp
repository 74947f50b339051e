// cvt between scalar types (PTX ISA, "cvt"). Fast handlers for the common pairs; everything else
// goes through 32 values of int64 or f64, which hold every narrower type exactly.
#include "emulator/exec/convert_packed.h"
#include "emulator/exec/float_ops.h"
#include "emulator/exec/half_encode.h"
#include "emulator/exec/lane_ops.h"
#include "emulator/exec/narrow_float.h"

#include <limits>

namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET {

template <typename T, typename Storage, typename Wide>
static void readAs(const Warp &warp, std::uint32_t operand, Wide *values) {
  const Storage *from = warp.lanes<const Storage>(operand);
  for (unsigned i = 0; i < kLanes; ++i) {
    values[i] = static_cast<Wide>(static_cast<T>(from[i]));
  }
}

template <typename T, typename Wide>
static void readInteger(const Warp &warp, const Step &step, Wide *values) {
  if (step.instruction->srcBits == 64) {
    readAs<T, std::uint64_t>(warp, step.operand[1], values);
  } else {
    readAs<T, std::uint32_t>(warp, step.operand[1], values);
  }
}

/// Writes the low bits that the destination register holds; `values` are sign- or zero-extended
/// from the destination type already.
static Outcome writeIntegers(Warp &warp, const Step &step, LaneMask mask,
                             const std::int64_t *values) {
  if (step.instruction->dstBits == 64) {
    storeMasked(warp.lanes<std::int64_t>(step.operand[0]), values, mask);
    return Outcome::Next;
  }
  std::uint32_t narrowed[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    narrowed[i] = static_cast<std::uint32_t>(values[i]);
  }
  storeMasked(warp.lanes<std::uint32_t>(step.operand[0]), narrowed, mask);
  return Outcome::Next;
}

template <typename D>
static void wrapTo(std::int64_t *values) {
  for (unsigned i = 0; i < kLanes; ++i) {
    values[i] = static_cast<std::int64_t>(static_cast<D>(values[i]));
  }
}

static void wrapToType(Type type, std::int64_t *values) {
  switch (type) {
  case Type::U8:
  case Type::B8:
    return wrapTo<std::uint8_t>(values);
  case Type::S8:
    return wrapTo<std::int8_t>(values);
  case Type::U16:
  case Type::B16:
    return wrapTo<std::uint16_t>(values);
  case Type::S16:
    return wrapTo<std::int16_t>(values);
  case Type::U32:
  case Type::B32:
    return wrapTo<std::uint32_t>(values);
  case Type::S32:
    return wrapTo<std::int32_t>(values);
  default: // 64 bits
    return;
  }
}

template <typename S>
static Outcome convertIntegers(Warp &warp, const Step &step, LaneMask mask) {
  std::int64_t values[kLanes];
  readInteger<S>(warp, step, values);
  wrapToType(step.instruction->type, values);
  return writeIntegers(warp, step, mask, values);
}

struct Range {
  std::int64_t low;
  std::uint64_t high;
};

template <typename T>
static constexpr Range rangeOf() {
  return {static_cast<std::int64_t>(std::numeric_limits<T>::min()),
          static_cast<std::uint64_t>(std::numeric_limits<T>::max())};
}

static Range rangeOfType(Type type) {
  switch (type) {
  case Type::U8:
    return rangeOf<std::uint8_t>();
  case Type::S8:
    return rangeOf<std::int8_t>();
  case Type::U16:
    return rangeOf<std::uint16_t>();
  case Type::S16:
    return rangeOf<std::int16_t>();
  case Type::U32:
    return rangeOf<std::uint32_t>();
  case Type::S32:
    return rangeOf<std::int32_t>();
  case Type::U64:
    return rangeOf<std::uint64_t>();
  default: // S64
    return rangeOf<std::int64_t>();
  }
}

/// cvt.sat between integers clamps to the destination's range.
template <typename S>
static Outcome convertIntegersSaturating(Warp &warp, const Step &step, LaneMask mask) {
  S source[kLanes];
  readInteger<S>(warp, step, source);
  const Range range = rangeOfType(step.instruction->type);
  std::int64_t values[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    const bool isNegative = source[i] < S{0};
    const auto magnitude = static_cast<std::uint64_t>(source[i]);
    const auto asSigned = static_cast<std::int64_t>(source[i]);
    if (isNegative) {
      values[i] = asSigned < range.low ? range.low : asSigned;
    } else {
      values[i] = static_cast<std::int64_t>(magnitude > range.high ? range.high : magnitude);
    }
  }
  return writeIntegers(warp, step, mask, values);
}

/// Bits of the destination format for a value that is exact in f64.
static std::uint64_t encode(const Instruction &instruction, double value) {
  const Modifiers &mods = instruction.mods;
  const double result = mods.sat ? saturate(value) : value;
  switch (instruction.type) {
  case Type::F64:
    return std::bit_cast<std::uint64_t>(canonical(result));
  case Type::F32: {
    float rounded = canonical(toFloat(result, mods.rounding));
    rounded = mods.ftz ? flush(rounded) : rounded;
    return std::bit_cast<std::uint32_t>(rounded);
  }
  case Type::F16:
    return encodeHalf<false>(mods, result);
  default: // BF16
    return encodeHalf<true>(mods, result);
  }
}

static Outcome writeFloats(Warp &warp, const Step &step, LaneMask mask, const double *values) {
  const Instruction &instruction = *step.instruction;
  std::uint64_t wide[kLanes];
  std::uint32_t bits[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    wide[i] = encode(instruction, values[i]);
    bits[i] = static_cast<std::uint32_t>(wide[i]);
  }
  if (instruction.dstBits == 64) {
    storeMasked(warp.lanes<std::uint64_t>(step.operand[0]), wide, mask);
  } else {
    storeMasked(warp.lanes<std::uint32_t>(step.operand[0]), bits, mask);
  }
  return Outcome::Next;
}

/// An integer as f64; one that f64 cannot hold gets an odd last bit, so that rounding the result to
/// fewer bits gives what rounding the integer would.
template <typename S>
static double toOddDouble(S value) {
  const volatile S in = value;
  const auto truncated =
      withRounding(_MM_ROUND_TOWARD_ZERO, [&in] { return static_cast<double>(in); });
  if constexpr (sizeof(S) == 8) {
    if (static_cast<S>(truncated) != value) { // below 2^64, since it was rounded down
      return std::bit_cast<double>(std::bit_cast<std::uint64_t>(truncated) | 1U);
    }
  }
  return truncated;
}

/// Integer to floating point, rounded once.
template <typename S>
static Outcome integerToFloat(Warp &warp, const Step &step, LaneMask mask) {
  S source[kLanes];
  readInteger<S>(warp, step, source);
  const Instruction &instruction = *step.instruction;
  const Rounding rounding = instruction.mods.rounding;
  const bool isNearest = rounding == Rounding::None || rounding == Rounding::Rn;
  if (instruction.type == Type::F32 && isNearest && !instruction.mods.sat) {
    float result[kLanes];
    for (unsigned i = 0; i < kLanes; ++i) {
      result[i] = static_cast<float>(source[i]);
    }
    storeMasked(warp.lanes<float>(step.operand[0]), result, mask);
    return Outcome::Next;
  }
  if (instruction.type == Type::F32) {
    float result[kLanes];
    for (unsigned i = 0; i < kLanes; ++i) {
      const volatile S in = source[i];
      result[i] = withRounding(controlBits(rounding), [&in] { return static_cast<float>(in); });
      result[i] = instruction.mods.sat ? saturate(result[i]) : result[i];
    }
    storeMasked(warp.lanes<float>(step.operand[0]), result, mask);
    return Outcome::Next;
  }
  double values[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    const volatile S in = source[i];
    values[i] = instruction.type == Type::F64
                    ? withRounding(controlBits(rounding), [&in] { return static_cast<double>(in); })
                    : toOddDouble(source[i]);
  }
  return writeFloats(warp, step, mask, values);
}

/// Reads the floating source of the step into f64, flushed where the instruction says so.
static void readFloats(const Warp &warp, const Step &step, double *values) {
  const Instruction &instruction = *step.instruction;
  if (instruction.srcType == Type::F64) {
    __builtin_memcpy(values, warp.lanes<const double>(step.operand[1]), kLanes * sizeof(double));
    return;
  }
  const auto *bits = warp.lanes<const std::uint32_t>(step.operand[1]);
  for (unsigned i = 0; i < kLanes; ++i) {
    const float value = instruction.srcType == Type::F16    ? widenF16(bits[i] & 0xffffU)
                        : instruction.srcType == Type::BF16 ? widenBf16(bits[i] & 0xffffU)
                                                            : std::bit_cast<float>(bits[i]);
    const bool isFlushed = instruction.mods.ftz && instruction.srcType == Type::F32;
    values[i] = static_cast<double>(isFlushed ? flush(value) : value);
  }
}

static double roundIntegral(double value, Rounding rounding) {
  switch (rounding) {
  case Rounding::Rni:
    return std::nearbyint(value);
  case Rounding::Rzi:
    return std::trunc(value);
  case Rounding::Rmi:
    return std::floor(value);
  case Rounding::Rpi:
    return std::ceil(value);
  case Rounding::None:
  case Rounding::Rn:
  case Rounding::Rz:
  case Rounding::Rm:
  case Rounding::Rp:
  case Rounding::Rna:
    break;
  }
  return value;
}

/// The top bit of an integer type alone.
static std::int64_t nanIntegerOf(Type type) {
  const Range range = rangeOfType(type);
  return range.low < 0 ? range.low : static_cast<std::int64_t>(range.high / 2 + 1);
}

/// Floating point to integer: rounds, clamps; NaN gives 0, or the top bit alone with an f64 source
/// or a 64-bit destination (PTX ISA, "cvt").
static Outcome floatToInteger(Warp &warp, const Step &step, LaneMask mask) {
  const Instruction &instruction = *step.instruction;
  double source[kLanes];
  readFloats(warp, step, source);
  const Range range = rangeOfType(instruction.type);
  const bool is64 = instruction.type == Type::U64 || instruction.type == Type::S64;
  const std::int64_t nanResult =
      is64 || instruction.srcType == Type::F64 ? nanIntegerOf(instruction.type) : 0;
  const auto high = static_cast<double>(range.high); // 2^63 or 2^64 for 64-bit types
  std::int64_t values[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    const double rounded = roundIntegral(source[i], instruction.mods.rounding);
    if (rounded != rounded) {
      values[i] = nanResult;
    } else if (rounded >= high) {
      values[i] = static_cast<std::int64_t>(range.high);
    } else if (rounded <= static_cast<double>(range.low)) {
      values[i] = range.low;
    } else {
      values[i] = instruction.type == Type::U64
                      ? static_cast<std::int64_t>(static_cast<std::uint64_t>(rounded))
                      : static_cast<std::int64_t>(rounded);
    }
  }
  return writeIntegers(warp, step, mask, values);
}

static Outcome floatToFloat(Warp &warp, const Step &step, LaneMask mask) {
  double values[kLanes];
  readFloats(warp, step, values);
  for (double &value : values) {
    value = roundIntegral(value, step.instruction->mods.rounding);
  }
  return writeFloats(warp, step, mask, values);
}

static Half floatToHalf(float value) {
  return {static_cast<std::uint16_t>(narrow<kF16>(value))};
}
static Bfloat floatToBfloat(float value) {
  return {static_cast<std::uint16_t>(narrowBf16(value))};
}
static float halfToFloat(Half value) {
  return widenF16(value.bits);
}
static float bfloatToFloat(Bfloat value) {
  return widenBf16(value.bits);
}

static bool isFloating(Type type) {
  return type == Type::F16 || type == Type::BF16 || type == Type::F32 || type == Type::F64;
}

/// f32 <-> f16 and bf16 without options other than round to nearest.
static Handler selectCommon(const Instruction &instruction) {
  const Modifiers &mods = instruction.mods;
  const bool isPlain = !mods.ftz && !mods.sat && !mods.relu && !mods.satfinite &&
                       (mods.rounding == Rounding::None || mods.rounding == Rounding::Rn);
  if (!isPlain || instruction.dstBits == 64 || instruction.srcBits == 64) {
    return nullptr;
  }
  if (instruction.srcType == Type::F32) {
    return instruction.type == Type::F16    ? &execute<&floatToHalf>
           : instruction.type == Type::BF16 ? &execute<&floatToBfloat>
                                            : nullptr;
  }
  if (instruction.type == Type::F32) {
    return instruction.srcType == Type::F16    ? &execute<&halfToFloat>
           : instruction.srcType == Type::BF16 ? &execute<&bfloatToFloat>
                                               : nullptr;
  }
  return nullptr;
}

Handler selectConvert(const Instruction &instruction) {
  if (instruction.op != Op::Cvt && instruction.op != Op::CvtPack) {
    return nullptr;
  }
  if (const Handler packed = selectPackedConvert(instruction)) {
    return packed;
  }
  const bool fromFloat = isFloating(instruction.srcType);
  const bool toFloating = isFloating(instruction.type);
  if (fromFloat && toFloating) {
    const Handler common = selectCommon(instruction);
    return common != nullptr ? common : &floatToFloat;
  }
  if (fromFloat) {
    return &floatToInteger;
  }
  if (toFloating) {
    return forIntegers(instruction.srcType,
                       []<typename T>() -> Handler { return &integerToFloat<T>; });
  }
  return forIntegers(instruction.srcType, [&instruction]<typename T>() -> Handler {
    return instruction.mods.sat ? &convertIntegersSaturating<T> : &convertIntegers<T>;
  });
}

} // namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET
