// Which bytes a tensor copy moves: the rows of a box in global memory and their places in shared
// memory. Main type: Box. Source: PTX ISA, "Tiled mode" (bounding box, traversal stride, access out
// of bounds) and "Swizzling modes".
#pragma once

#include "emulator/tensor_map/tensor_map.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace fp8jit::emulator {

/// One innermost row of a box. Its bytes lie densely behind one another in the box:
/// leadBytes outside the tensor, then insideBytes inside, then tailBytes outside.
struct BoxRow {
  std::uint32_t offset = 0;  ///< of the row's first byte in the dense box
  std::uint64_t address = 0; ///< global address of the first byte inside; none if insideBytes is 0
  std::uint32_t leadBytes = 0, insideBytes = 0, tailBytes = 0;
};

/// The box of a map at a place in its tensor. Rows are numbered in the order of the dense box:
/// dimension 1 fastest.
class Box {
public:
  /// `map` satisfies checkTensorMap, is not interleaved nor packed (see unsupportedByCopies), and
  /// has as many dimensions as there are coordinates; it must outlive the box. Coordinates may lie
  /// anywhere.
  Box(const TensorMap &map, std::span<const std::int32_t> coordinates);

  std::uint64_t rowCount() const { return rowCount_; }
  std::uint32_t rowBytes() const { return rowBytes_; }
  /// Bytes of the whole box, which is also what a copy announces to its barrier, wherever the box
  /// lies. At most 2^43.
  std::uint64_t sizeBytes() const { return rowCount_ * rowBytes_; }
  /// Row `index`; the box is at most 4 GiB.
  BoxRow row(std::uint32_t index) const;

private:
  const TensorMap &map_;
  std::array<std::int64_t, kMaxTensorRank> start_{};
  std::array<std::uint32_t, kMaxTensorRank> counts_{}; ///< elements along each dimension
  std::uint32_t elementBytes_ = 1, rowBytes_ = 0;
  std::uint64_t rowCount_ = 1;
};

/// Bytes that every swizzle mode keeps together: 16, or 8 where halves of 16 bytes change places.
inline constexpr std::uint32_t swizzleChunkBytes(Swizzle mode) {
  return mode == Swizzle::Bytes128Atom32Flip8 ? 8 : 16;
}
/// Alignment of the box in shared memory: 128 bytes (PTX ISA, "cp.async.bulk.tensor").
inline constexpr std::uint32_t kBoxAlignment = 128;

/// Writes the fill pattern of `map` over whole elements; `bytes` is a multiple of the element size.
/// NaN is all ones but the sign (PTX names it OOB-NaN and gives no bits).
void fillOutside(const TensorMap &map, std::span<std::byte> bytes);

/// Empty if tensor copies can execute `map`, which satisfies checkTensorMap; else what they lack:
/// interleaved layouts and packed types, which no kernel for sm_90 of ours uses.
std::string unsupportedByCopies(const TensorMap &map);

} // namespace fp8jit::emulator
