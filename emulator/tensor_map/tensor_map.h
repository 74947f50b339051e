// Tensor maps: what cuTensorMapEncodeTiled writes into its 128 opaque bytes and tensor copies read.
// Main entries: TensorMap, checkTensorMap, encodeTensorMap, decodeTensorMap.
//
// Source of the rules: the CUDA driver's documentation of cuTensorMapEncodeTiled and PTX ISA,
// "Tensors". The layout of the 128 bytes is the emulator's own; hardware's is not published.
#pragma once

#include "emulator/tensor/swizzle.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fp8jit::emulator {

/// Element types; the values of CUtensorMapDataType. Uxx_AlignN are packed sub-byte types.
enum class TensorElement : std::uint8_t {
  U8,
  U16,
  U32,
  S32,
  U64,
  S64,
  F16,
  F32,
  F64,
  BF16,
  F32Ftz,
  TF32,
  TF32Ftz,
  U4Align8,
  U4Align16,
  U6Align16,
};

/// The values of CUtensorMapInterleave.
enum class TensorInterleave : std::uint8_t { None, Bytes16, Bytes32 };

/// The values of CUtensorMapFloatOOBfill.
enum class TensorFill : std::uint8_t { Zero, NaN };

inline constexpr unsigned kMaxTensorRank = 5;
inline constexpr std::size_t kTensorMapBytes = 128;
/// Alignment of a tensor map in host memory, parameters and device memory.
inline constexpr std::size_t kTensorMapAlignment = 64;

/// A tensor in global memory and the box of it that one copy moves. Dimension 0 is innermost. Any
/// field may hold any value: checkTensorMap says whether they make sense together.
struct TensorMap {
  std::uint64_t address = 0; ///< of element (0, 0, ...)
  std::uint32_t rank = 1;    ///< dimensions: 1 to 5
  TensorElement element = TensorElement::U8;
  TensorInterleave interleave = TensorInterleave::None;
  Swizzle swizzle = Swizzle::None; ///< the values of CUtensorMapSwizzle
  TensorFill fill = TensorFill::Zero;
  std::uint8_t l2Promotion = 0; ///< the value of CUtensorMapL2promotion; a hint, without effect
  std::array<std::uint64_t, kMaxTensorRank> dims = {1, 1, 1, 1, 1};        ///< elements
  std::array<std::uint64_t, kMaxTensorRank - 1> strides = {};              ///< bytes, of dims 1..
  std::array<std::uint32_t, kMaxTensorRank> box = {1, 1, 1, 1, 1};         ///< elements
  std::array<std::uint32_t, kMaxTensorRank> elementStrides{1, 1, 1, 1, 1}; ///< of the traversal

  bool operator==(const TensorMap &) const = default;
};

/// Bits of one element in global memory: 4, 6, 8, 16, 32 or 64; 0 for no element type.
unsigned elementBits(TensorElement element);
/// The PTX name of the type, for example "u8" or "b4x16_p64"; "?" for no element type.
std::string_view elementName(TensorElement element);
/// Whether the type holds several elements of less than a byte each.
bool isPacked(TensorElement element);
/// Empty if `map` follows every rule of cuTensorMapEncodeTiled, else which field does not, what was
/// found and what is expected: "boxDim[0]: found 24 bytes, expected a multiple of 16".
std::string checkTensorMap(const TensorMap &map);

/// The 128 bytes that stand for `map`. Values that do not fit become the largest that fits, which
/// no rule allows.
std::array<std::byte, kTensorMapBytes> encodeTensorMap(const TensorMap &map);

/// The map in 128 bytes, or nothing if encodeTensorMap did not write them (never a tensor map, or
/// overwritten since). The fields may still break rules: tensormap.replace changes them one by one.
std::optional<TensorMap> decodeTensorMap(std::span<const std::byte, kTensorMapBytes> bytes);

} // namespace fp8jit::emulator
