// Rows of a box. A row is contiguous in global memory: without interleaving the traversal stride of
// dimension 0 is 1.
#include "emulator/tensor_map/box.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace fp8jit::emulator {

Box::Box(const TensorMap &map, std::span<const std::int32_t> coordinates) : map_(map) {
  assert(coordinates.size() == map.rank && "one coordinate per dimension");
  elementBytes_ = elementBits(map.element) / 8;
  for (unsigned d = 0; d < map.rank; ++d) {
    const std::uint32_t stride = d == 0 ? 1 : map.elementStrides[d];
    start_[d] = coordinates[d];
    counts_[d] = (map.box[d] + stride - 1) / stride;
    rowCount_ *= d == 0 ? 1 : counts_[d];
  }
  rowBytes_ = counts_[0] * elementBytes_;
}

BoxRow Box::row(std::uint32_t index) const {
  BoxRow row{.offset = index * rowBytes_, .tailBytes = rowBytes_};
  std::uint64_t address = map_.address;
  for (unsigned d = 1; d < map_.rank; ++d) {
    const std::int64_t place =
        start_[d] + static_cast<std::int64_t>(index % counts_[d]) * map_.elementStrides[d];
    index /= counts_[d];
    if (place < 0 || place >= static_cast<std::int64_t>(map_.dims[d])) {
      return row;
    }
    address += static_cast<std::uint64_t>(place) * map_.strides[d - 1];
  }
  const std::int64_t count = counts_[0];
  const std::int64_t first = std::clamp<std::int64_t>(-start_[0], 0, count);
  const std::int64_t last =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(map_.dims[0]) - start_[0], first, count);
  row.leadBytes = static_cast<std::uint32_t>(first) * elementBytes_;
  row.insideBytes = static_cast<std::uint32_t>(last - first) * elementBytes_;
  row.tailBytes = static_cast<std::uint32_t>(count - last) * elementBytes_;
  row.address = address + static_cast<std::uint64_t>(start_[0] + first) * elementBytes_;
  return row;
}

void fillOutside(const TensorMap &map, std::span<std::byte> bytes) {
  if (map.fill == TensorFill::Zero) {
    std::memset(bytes.data(), 0, bytes.size());
    return;
  }
  std::memset(bytes.data(), 0xff, bytes.size());
  const std::size_t elementBytes = elementBits(map.element) / 8;
  for (std::size_t i = elementBytes; i <= bytes.size(); i += elementBytes) {
    bytes[i - 1] = std::byte{0x7f};
  }
}

std::string unsupportedByCopies(const TensorMap &map) {
  if (map.interleave != TensorInterleave::None) {
    return "interleaved layouts are not emulated";
  }
  if (isPacked(map.element)) {
    return "elements of " + std::string(elementName(map.element)) + " need a newer target";
  }
  return {};
}

} // namespace fp8jit::emulator
