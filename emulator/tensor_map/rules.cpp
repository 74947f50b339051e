// The rules of cuTensorMapEncodeTiled, in the order of the driver's documentation.
#include "emulator/tensor_map/tensor_map.h"

namespace fp8jit::emulator {
namespace {

struct ElementInfo {
  std::string_view name;
  unsigned bits;
  bool isFloating;
};

/// By TensorElement; names of PTX ISA, "tensormap.replace".
constexpr ElementInfo kElements[] = {
    {"u8", 8, false},       {"u16", 16, false},  {"u32", 32, false},      {"s32", 32, false},
    {"u64", 64, false},     {"s64", 64, false},  {"f16", 16, true},       {"f32", 32, true},
    {"f64", 64, true},      {"bf16", 16, true},  {"f32.ftz", 32, true},   {"tf32", 32, true},
    {"tf32.ftz", 32, true}, {"b4x16", 4, false}, {"b4x16_p64", 4, false}, {"b6x16_p32", 6, false},
};

} // namespace

static const ElementInfo *infoOf(TensorElement element) {
  const auto index = static_cast<std::size_t>(element);
  return index < std::size(kElements) ? &kElements[index] : nullptr;
}

unsigned elementBits(TensorElement element) {
  const ElementInfo *info = infoOf(element);
  return info == nullptr ? 0 : info->bits;
}

std::string_view elementName(TensorElement element) {
  const ElementInfo *info = infoOf(element);
  return info == nullptr ? "?" : info->name;
}

bool isPacked(TensorElement element) {
  return elementBits(element) < 8;
}

/// "name[i]: found X, expected Y".
static std::string wrong(std::string_view name, unsigned index, std::uint64_t found,
                         std::string_view expected) {
  return std::string(name) + "[" + std::to_string(index) + "]: found " + std::to_string(found) +
         ", expected " + std::string(expected);
}

static std::string wrong(std::string_view name, std::uint64_t found, std::string_view expected) {
  return std::string(name) + ": found " + std::to_string(found) + ", expected " +
         std::string(expected);
}

/// Types whose 16 elements fill 16 bytes of shared memory, gaps included.
static bool isPadded(TensorElement element) {
  return element == TensorElement::U4Align16 || element == TensorElement::U6Align16;
}

/// Enumerators and rank: what the other rules build on.
static std::string checkEnumerators(const TensorMap &map) {
  if (infoOf(map.element) == nullptr) {
    return wrong("tensorDataType", static_cast<unsigned>(map.element), "a type from 0 to 15");
  }
  if (map.interleave > TensorInterleave::Bytes32) {
    return wrong("interleave", static_cast<unsigned>(map.interleave), "a layout from 0 to 2");
  }
  if (map.swizzle > Swizzle::Bytes128Atom64) {
    return wrong("swizzle", static_cast<unsigned>(map.swizzle), "a mode from 0 to 6");
  }
  if (map.l2Promotion > 3) {
    return wrong("l2Promotion", map.l2Promotion, "a size from 0 to 3");
  }
  if (map.fill > TensorFill::NaN) {
    return wrong("oobFill", static_cast<unsigned>(map.fill), "a fill mode, 0 or 1");
  }
  if (map.rank < 1 || map.rank > kMaxTensorRank) {
    return wrong("tensorRank", map.rank, "1 to 5");
  }
  if (map.interleave != TensorInterleave::None && map.rank < 3) {
    return wrong("tensorRank", map.rank, "3 to 5 with an interleaved layout");
  }
  return {};
}

/// Address, dimensions and strides of the tensor in global memory.
static std::string checkTensor(const TensorMap &map) {
  constexpr std::uint64_t kMaxDim = std::uint64_t{1} << 32;
  constexpr std::uint64_t kStrideLimit = std::uint64_t{1} << 40;
  const bool isWide = map.interleave == TensorInterleave::Bytes32 || isPadded(map.element);
  const unsigned alignment = isWide ? 32 : 16;
  const std::string multiple = "a multiple of " + std::to_string(alignment);
  if (map.address % alignment != 0) {
    return wrong("globalAddress", map.address, multiple);
  }
  for (unsigned i = 0; i < map.rank; ++i) {
    if (map.dims[i] < 1 || map.dims[i] > kMaxDim) {
      return wrong("globalDim", i, map.dims[i], "1 to 2^32");
    }
  }
  if (isPadded(map.element) && map.dims[0] % 128 != 0) {
    return wrong("globalDim", 0, map.dims[0], "a multiple of 128 with this type");
  }
  if (map.element == TensorElement::U4Align8 && map.dims[0] % 2 != 0) {
    return wrong("globalDim", 0, map.dims[0], "a multiple of 2 with this type");
  }
  for (unsigned i = 0; i + 1 < map.rank; ++i) {
    if (map.strides[i] % alignment != 0 || map.strides[i] >= kStrideLimit) {
      return wrong("globalStrides", i, map.strides[i], multiple + " below 2^40");
    }
  }
  return {};
}

/// The box and its traversal.
static std::string checkBox(const TensorMap &map) {
  constexpr unsigned kMaxBox = 256;
  constexpr unsigned kMaxElementStride = 8;
  const bool isInterleaved = map.interleave != TensorInterleave::None;
  for (unsigned i = 0; i < map.rank; ++i) {
    if (map.box[i] < 1 || map.box[i] > kMaxBox) {
      return wrong("boxDim", i, map.box[i], "1 to 256");
    }
  }
  if (isPadded(map.element) && map.box[0] != 128) {
    return wrong("boxDim", 0, map.box[0], "128 with this type");
  }
  const unsigned innerBits = map.box[0] * elementBits(map.element);
  if (!isInterleaved && innerBits % 128 != 0) {
    return "boxDim[0]: found " + std::to_string(innerBits / 8) +
           " bytes, expected a multiple of 16";
  }
  // Without interleaving the first one is ignored.
  for (unsigned i = isInterleaved ? 0 : 1; i < map.rank; ++i) {
    if (map.elementStrides[i] < 1 || map.elementStrides[i] > kMaxElementStride) {
      return wrong("elementStrides", i, map.elementStrides[i], "1 to 8");
    }
  }
  return {};
}

static bool isSwizzleOfPaddedType(TensorElement element, Swizzle swizzle) {
  return swizzle == Swizzle::None || swizzle == Swizzle::Bytes128 ||
         swizzle == Swizzle::Bytes128Atom32 ||
         (swizzle == Swizzle::Bytes128Atom64 && element == TensorElement::U6Align16);
}

/// Modes that exclude one another.
static std::string checkModes(const TensorMap &map) {
  if (map.element == TensorElement::U6Align16 && map.interleave != TensorInterleave::None) {
    return wrong("interleave", static_cast<unsigned>(map.interleave), "none (0) with this type");
  }
  const auto swizzle = static_cast<unsigned>(map.swizzle);
  if (map.interleave == TensorInterleave::Bytes32 && map.swizzle != Swizzle::Bytes32) {
    return wrong("swizzle", swizzle, "32B (1) with 32-byte interleaving");
  }
  if (isPadded(map.element) && !isSwizzleOfPaddedType(map.element, map.swizzle)) {
    return wrong("swizzle", swizzle, "a mode that this packed type supports");
  }
  const unsigned innerBytes = map.box[0] * elementBits(map.element) / 8;
  const unsigned span = swizzleRowBytes(map.swizzle);
  if (map.interleave == TensorInterleave::None && map.swizzle != Swizzle::None &&
      innerBytes > span) {
    return "boxDim[0]: found " + std::to_string(innerBytes) + " bytes, expected at most the " +
           std::to_string(span) + " bytes of the swizzle";
  }
  if (map.fill == TensorFill::NaN && !infoOf(map.element)->isFloating) {
    return "oobFill: found NaN with elements of " + std::string(elementName(map.element)) +
           ", expected zero or a floating-point type";
  }
  return {};
}

std::string checkTensorMap(const TensorMap &map) {
  for (const auto check : {checkEnumerators, checkTensor, checkBox, checkModes}) {
    std::string message = check(map);
    if (!message.empty()) {
      return message;
    }
  }
  return {};
}

} // namespace fp8jit::emulator
