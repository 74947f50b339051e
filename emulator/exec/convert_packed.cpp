// cvt to and from f16x2, bf16x2, e4m3x2 and e5m2x2, to tf32, and cvt.pack (PTX ISA, "cvt",
// "cvt.pack"). Of two sources the first becomes the upper half.
#include "emulator/exec/convert_packed.h"

#include "emulator/exec/half_encode.h"
#include "emulator/exec/lane_ops.h"
#include "emulator/exec/narrow_float.h"

#include <limits>

namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET {

/// .relu: negative results become +0, NaN becomes the canonical NaN.
template <bool IsRelu>
static float clampNegative(float value) {
  return IsRelu && value < 0.0F ? 0.0F : IsRelu && value == 0.0F ? 0.0F : value;
}

template <const NarrowFormat &Format, bool IsRelu>
static std::uint32_t packFp8(float a, float b) {
  return (narrow<Format>(clampNegative<IsRelu>(a)) << 8) | narrow<Format>(clampNegative<IsRelu>(b));
}

template <const NarrowFormat &Format, bool IsRelu>
static std::uint32_t packFp8FromHalves(std::uint32_t pair) {
  return packFp8<Format, IsRelu>(widenF16(pair >> 16), widenF16(pair & 0xffffU));
}

template <bool IsE5m2, bool IsRelu>
static std::uint32_t unpackFp8(std::uint32_t pair) {
  const auto widenPart = IsE5m2 ? &widenE5m2 : &widenE4m3;
  const float high = clampNegative<IsRelu>(widenPart((pair >> 8) & 0xffU));
  const float low = clampNegative<IsRelu>(widenPart(pair & 0xffU));
  return (narrow<kF16>(high) << 16) | narrow<kF16>(low);
}

template <bool IsRelu>
static std::uint32_t packHalves(float a, float b) {
  return (narrow<kF16>(clampNegative<IsRelu>(a)) << 16) | narrow<kF16>(clampNegative<IsRelu>(b));
}
template <bool IsRelu>
static std::uint32_t packBfloats(float a, float b) {
  return (narrowBf16(clampNegative<IsRelu>(a)) << 16) | narrowBf16(clampNegative<IsRelu>(b));
}

/// Every other combination of rounding, .relu and .satfinite.
template <bool IsBfloat>
static Outcome packAnyMode(Warp &warp, const Step &step, LaneMask mask) {
  const Modifiers &mods = step.instruction->mods;
  const auto *a = warp.lanes<const float>(step.operand[1]);
  const auto *b = warp.lanes<const float>(step.operand[2]);
  std::uint32_t result[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    result[i] = (encodeHalf<IsBfloat>(mods, static_cast<double>(a[i])) << 16) |
                encodeHalf<IsBfloat>(mods, static_cast<double>(b[i]));
  }
  storeMasked(warp.lanes<std::uint32_t>(step.operand[0]), result, mask);
  return Outcome::Next;
}

template <const NarrowFormat &Format>
static Handler selectToFp8(const Instruction &instruction) {
  const bool isRelu = instruction.mods.relu;
  if (instruction.srcType == Type::F32 && instruction.numSrc == 2) {
    return isRelu ? &execute<&packFp8<Format, true>> : &execute<&packFp8<Format, false>>;
  }
  if (instruction.srcType == Type::F16x2) {
    return isRelu ? &execute<&packFp8FromHalves<Format, true>>
                  : &execute<&packFp8FromHalves<Format, false>>;
  }
  return nullptr;
}

/// cvt to TF32: an f32 whose low 13 bits are zero, by .rna, .rn or .rz.
static Outcome roundToTf32(Warp &warp, const Step &step, LaneMask mask) {
  constexpr std::uint32_t kInfinity = 0x7f800000U;
  constexpr std::uint32_t kDropped = 0x1fffU;
  const Modifiers &mods = step.instruction->mods;
  const auto *from = warp.lanes<const std::uint32_t>(step.operand[1]);
  std::uint32_t result[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    const std::uint32_t magnitude = from[i] & 0x7fffffffU;
    const std::uint32_t half = mods.rounding == Rounding::Rna  ? 0x1000U
                               : mods.rounding == Rounding::Rn ? 0xfffU + ((magnitude >> 13) & 1U)
                                                               : 0U;
    std::uint32_t rounded = (magnitude + half) & ~kDropped;
    if (mods.satfinite && rounded >= kInfinity) {
      rounded = (kInfinity - 1U) & ~kDropped;
    }
    const bool isNegative = (from[i] >> 31) != 0;
    result[i] = magnitude > kInfinity     ? 0x7fffffffU
                : isNegative && mods.relu ? 0U
                                          : rounded | (from[i] & 0x80000000U);
  }
  storeMasked(warp.lanes<std::uint32_t>(step.operand[0]), result, mask);
  return Outcome::Next;
}

/// cvt.pack: b and then a, clamped to T, from the low bits on; above them the low bits of c.
template <typename T>
static std::uint32_t packInteger(std::int32_t value) {
  const std::int32_t low = std::numeric_limits<T>::min();
  const std::int32_t high = std::numeric_limits<T>::max();
  const std::int32_t clamped = value < low ? low : value > high ? high : value;
  return static_cast<std::make_unsigned_t<T>>(clamped);
}
template <typename T>
static std::uint32_t packPair(std::int32_t a, std::int32_t b) {
  return (packInteger<T>(a) << 16) | packInteger<T>(b);
}
template <typename T>
static std::uint32_t packBytes(std::int32_t a, std::int32_t b, std::uint32_t c) {
  return (c << 16) | (packInteger<T>(a) << 8) | packInteger<T>(b);
}

static Handler selectPackIntegers(const Instruction &instruction) {
  if (instruction.op != Op::CvtPack) {
    return nullptr;
  }
  switch (instruction.type) {
  case Type::U16:
    return &execute<&packPair<std::uint16_t>>;
  case Type::S16:
    return &execute<&packPair<std::int16_t>>;
  case Type::U8:
    return &execute<&packBytes<std::uint8_t>>;
  default: // S8
    return &execute<&packBytes<std::int8_t>>;
  }
}

static bool isPlain(const Modifiers &mods) {
  return mods.rounding != Rounding::Rz && !mods.satfinite;
}

static Handler selectToHalves(const Instruction &instruction) {
  const Modifiers &mods = instruction.mods;
  if (instruction.srcType == Type::E4M3x2) {
    return mods.relu ? &execute<&unpackFp8<false, true>> : &execute<&unpackFp8<false, false>>;
  }
  if (instruction.srcType == Type::E5M2x2) {
    return mods.relu ? &execute<&unpackFp8<true, true>> : &execute<&unpackFp8<true, false>>;
  }
  if (instruction.srcType != Type::F32 || instruction.numSrc != 2) {
    return nullptr;
  }
  if (!isPlain(mods)) {
    return &packAnyMode<false>;
  }
  return mods.relu ? &execute<&packHalves<true>> : &execute<&packHalves<false>>;
}

static Handler selectToBfloats(const Instruction &instruction) {
  const Modifiers &mods = instruction.mods;
  if (instruction.srcType != Type::F32 || instruction.numSrc != 2) {
    return nullptr;
  }
  if (!isPlain(mods)) {
    return &packAnyMode<true>;
  }
  return mods.relu ? &execute<&packBfloats<true>> : &execute<&packBfloats<false>>;
}

Handler selectPackedConvert(const Instruction &instruction) {
  switch (instruction.type) {
  case Type::E4M3x2:
    return selectToFp8<kE4m3>(instruction);
  case Type::E5M2x2:
    return selectToFp8<kE5m2>(instruction);
  case Type::F16x2:
    return selectToHalves(instruction);
  case Type::BF16x2:
    return selectToBfloats(instruction);
  case Type::TF32:
    return &roundToTf32;
  case Type::U16:
  case Type::S16:
  case Type::U8:
  case Type::S8:
    return selectPackIntegers(instruction);
  default: // scalars
    return nullptr;
  }
}

} // namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET
