// Fields of tensormap.replace. Element types and swizzle modes are numbered otherwise than in the
// driver's interface.
#include "emulator/tensor_map/replace.h"

#include <array>

namespace fp8jit::emulator {

/// By the value of .elemtype.
static constexpr std::array kElementOfPtx = {
    TensorElement::U8,        TensorElement::U16,      TensorElement::U32,
    TensorElement::S32,       TensorElement::U64,      TensorElement::S64,
    TensorElement::F16,       TensorElement::F32,      TensorElement::F32Ftz,
    TensorElement::F64,       TensorElement::BF16,     TensorElement::TF32,
    TensorElement::TF32Ftz,   TensorElement::U4Align8, TensorElement::U4Align16,
    TensorElement::U6Align16,
};

/// By the value of .swizzle_atomicity, for 128-byte swizzling.
static constexpr std::array kSwizzleOfAtom = {
    Swizzle::Bytes128,
    Swizzle::Bytes128Atom32,
    Swizzle::Bytes128Atom32Flip8,
    Swizzle::Bytes128Atom64,
};

std::string_view fieldName(TensormapField field) {
  switch (field) {
  case TensormapField::GlobalAddress:
    return "global_address";
  case TensormapField::Rank:
    return "rank";
  case TensormapField::BoxDim:
    return "box_dim";
  case TensormapField::GlobalDim:
    return "global_dim";
  case TensormapField::GlobalStride:
    return "global_stride";
  case TensormapField::ElementStride:
    return "element_stride";
  case TensormapField::ElementType:
    return "elemtype";
  case TensormapField::Interleave:
    return "interleave_layout";
  case TensormapField::Swizzle:
    return "swizzle_mode";
  case TensormapField::SwizzleAtomicity:
    return "swizzle_atomicity";
  case TensormapField::FillMode:
    return "fill_mode";
  }
  return "?";
}

/// Empty, or that `value` of `field` is not below `limit`.
static std::string checkBelow(TensormapField field, std::uint64_t value, std::uint64_t limit) {
  return value < limit ? std::string()
                       : std::string(fieldName(field)) + ": found " + std::to_string(value) +
                             ", expected 0 to " + std::to_string(limit - 1);
}

static std::string replaceSwizzle(TensorMap &map, std::uint64_t value) {
  constexpr std::uint64_t k128 = 3;
  std::string message = checkBelow(TensormapField::Swizzle, value, k128 + 1);
  const bool keepsAtom = value == k128 && swizzleRowBytes(map.swizzle) == 128;
  if (message.empty() && !keepsAtom) {
    map.swizzle = static_cast<Swizzle>(value); // the first four agree with the driver's
  }
  return message;
}

static std::string replaceAtomicity(TensorMap &map, std::uint64_t value) {
  std::string message = checkBelow(TensormapField::SwizzleAtomicity, value, kSwizzleOfAtom.size());
  if (!message.empty()) {
    return message;
  }
  if (swizzleRowBytes(map.swizzle) != 128) {
    return value == 0 ? std::string()
                      : "swizzle_atomicity: found " + std::to_string(value) +
                            " without 128-byte swizzling, expected 0 (16 bytes)";
  }
  map.swizzle = kSwizzleOfAtom[value];
  return {};
}

/// Fields of one value per dimension.
static std::string replaceOfDimension(TensorMap &map, TensormapField field, unsigned ordinal,
                                      std::uint64_t value) {
  const bool isStride = field == TensormapField::GlobalStride;
  const unsigned count = isStride ? kMaxTensorRank - 1 : kMaxTensorRank;
  if (ordinal >= count) {
    return std::string(fieldName(field)) + ": found dimension " + std::to_string(ordinal) +
           ", expected 0 to " + std::to_string(count - 1);
  }
  const auto narrow = static_cast<std::uint32_t>(value);
  if (isStride) {
    map.strides[ordinal] = value;
  } else if (field == TensormapField::BoxDim) {
    map.box[ordinal] = narrow;
  } else if (field == TensormapField::GlobalDim) {
    map.dims[ordinal] = narrow;
  } else {
    map.elementStrides[ordinal] = narrow;
  }
  return {};
}

std::string replaceField(TensorMap &map, TensormapField field, unsigned ordinal,
                         std::uint64_t value) {
  std::string message;
  switch (field) {
  case TensormapField::GlobalAddress:
    map.address = value;
    return {};
  case TensormapField::BoxDim:
  case TensormapField::GlobalDim:
  case TensormapField::GlobalStride:
  case TensormapField::ElementStride:
    return replaceOfDimension(map, field, ordinal, value);
  case TensormapField::Rank:
    message = checkBelow(field, value, kMaxTensorRank);
    map.rank = message.empty() ? static_cast<std::uint32_t>(value) + 1 : map.rank;
    return message;
  case TensormapField::ElementType:
    message = checkBelow(field, value, kElementOfPtx.size());
    map.element = message.empty() ? kElementOfPtx[value] : map.element;
    return message;
  case TensormapField::Interleave:
    message = checkBelow(field, value, 3);
    map.interleave = message.empty() ? static_cast<TensorInterleave>(value) : map.interleave;
    return message;
  case TensormapField::Swizzle:
    return replaceSwizzle(map, value);
  case TensormapField::SwizzleAtomicity:
    return replaceAtomicity(map, value);
  case TensormapField::FillMode:
    message = checkBelow(field, value, 2);
    map.fill = message.empty() ? static_cast<TensorFill>(value) : map.fill;
    return message;
  }
  return message;
}

} // namespace fp8jit::emulator
