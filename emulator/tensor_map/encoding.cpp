// The 128 bytes of a tensor map: a mark, the fields, and a sum over both, so that bytes which are
// no map, or which a stray store hit, are told from a map.
#include "emulator/tensor_map/tensor_map.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace fp8jit::emulator {
namespace {

struct Encoded {
  std::uint64_t mark = 0;
  std::uint64_t address = 0;
  std::uint64_t dims[kMaxTensorRank] = {};
  std::uint64_t strides[kMaxTensorRank - 1] = {};
  std::uint16_t box[kMaxTensorRank] = {};
  std::uint8_t elementStrides[kMaxTensorRank] = {};
  std::uint8_t rank = 0;
  std::uint8_t element = 0, interleave = 0, swizzle = 0, fill = 0, l2Promotion = 0;
  std::uint8_t unused[7] = {};
  std::uint64_t sum = 0;
};
static_assert(sizeof(Encoded) == kTensorMapBytes);
constexpr std::size_t kSummedBytes = offsetof(Encoded, sum);
constexpr std::uint64_t kMark = 0x70'61'6d'2d'74'69'6a'38ULL; // "8jit-map"

} // namespace

/// FNV-1a over 64-bit words; zero bytes alone do not give the sum 0.
static std::uint64_t sumOf(const Encoded &encoded) {
  std::uint64_t words[kSummedBytes / sizeof(std::uint64_t)];
  std::memcpy(words, &encoded, kSummedBytes);
  std::uint64_t sum = 0xcbf29ce484222325ULL;
  for (const std::uint64_t word : words) {
    sum = (sum ^ word) * 0x100000001b3ULL;
    sum ^= sum >> 29;
  }
  return sum;
}

template <typename T>
static T saturate(std::uint64_t value) {
  return static_cast<T>(std::min<std::uint64_t>(value, std::numeric_limits<T>::max()));
}

std::array<std::byte, kTensorMapBytes> encodeTensorMap(const TensorMap &map) {
  Encoded encoded;
  encoded.mark = kMark;
  encoded.address = map.address;
  std::copy(map.dims.begin(), map.dims.end(), encoded.dims);
  std::copy(map.strides.begin(), map.strides.end(), encoded.strides);
  std::transform(map.box.begin(), map.box.end(), encoded.box, saturate<std::uint16_t>);
  std::transform(map.elementStrides.begin(), map.elementStrides.end(), encoded.elementStrides,
                 saturate<std::uint8_t>);
  encoded.rank = saturate<std::uint8_t>(map.rank);
  encoded.element = static_cast<std::uint8_t>(map.element);
  encoded.interleave = static_cast<std::uint8_t>(map.interleave);
  encoded.swizzle = static_cast<std::uint8_t>(map.swizzle);
  encoded.fill = static_cast<std::uint8_t>(map.fill);
  encoded.l2Promotion = map.l2Promotion;
  encoded.sum = sumOf(encoded);
  std::array<std::byte, kTensorMapBytes> bytes;
  std::memcpy(bytes.data(), &encoded, sizeof encoded);
  return bytes;
}

std::optional<TensorMap> decodeTensorMap(std::span<const std::byte, kTensorMapBytes> bytes) {
  Encoded encoded;
  std::memcpy(&encoded, bytes.data(), sizeof encoded);
  if (encoded.mark != kMark || encoded.sum != sumOf(encoded)) {
    return std::nullopt;
  }
  TensorMap map{.address = encoded.address,
                .rank = encoded.rank,
                .element = static_cast<TensorElement>(encoded.element),
                .interleave = static_cast<TensorInterleave>(encoded.interleave),
                .swizzle = static_cast<Swizzle>(encoded.swizzle),
                .fill = static_cast<TensorFill>(encoded.fill),
                .l2Promotion = encoded.l2Promotion};
  std::copy(std::begin(encoded.dims), std::end(encoded.dims), map.dims.begin());
  std::copy(std::begin(encoded.strides), std::end(encoded.strides), map.strides.begin());
  std::copy(std::begin(encoded.box), std::end(encoded.box), map.box.begin());
  std::copy(std::begin(encoded.elementStrides), std::end(encoded.elementStrides),
            map.elementStrides.begin());
  return map;
}

} // namespace fp8jit::emulator
