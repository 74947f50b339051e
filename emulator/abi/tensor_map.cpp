// Tensor maps as the driver encodes them. The rules and the 128 bytes are in emulator/tensor_map.
#include "emulator/tensor_map/tensor_map.h"

#include "emulator/abi/log.h"
#include "emulator/abi/process.h"
#include "entry_points.h"

#include <algorithm>
#include <cstring>

namespace fp8jit::emulator {

/// Says on the log what the caller got wrong.
static CUresult refuse(std::string_view function, std::string_view message) {
  logLine(std::string(function) + ": " + std::string(message));
  return CUDA_ERROR_INVALID_VALUE;
}

static bool isAligned(const void *pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % kTensorMapAlignment == 0;
}

/// Whether the current context's device has tensor maps.
static bool hasTensorMaps() {
  return Process::instance().currentContext()->device.profile->computeMajor >= 9;
}

/// An enumerator of the driver as ours; one that no byte holds stays invalid.
template <typename Ours, typename Theirs>
static Ours convert(Theirs value) {
  const auto number = static_cast<unsigned>(value);
  return static_cast<Ours>(std::min(number, 0xffU));
}

namespace driver {

CUresult cuTensorMapEncodeTiled(CUtensorMap *tensorMap, CUtensorMapDataType type, cuuint32_t rank,
                                void *globalAddress, const cuuint64_t *globalDim,
                                const cuuint64_t *globalStrides, const cuuint32_t *boxDim,
                                const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion,
                                CUtensorMapFloatOOBfill oobFill) {
  constexpr std::string_view kName = "cuTensorMapEncodeTiled";
  if (!hasTensorMaps()) {
    logLine("cuTensorMapEncodeTiled: the device has no tensor maps, expected sm_90 or newer");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (tensorMap == nullptr || !isAligned(tensorMap)) {
    return refuse(kName,
                  "tensorMap: found a null or misaligned pointer, expected 64-byte alignment");
  }
  const bool isRankKnown = rank >= 1 && rank <= kMaxTensorRank;
  if (globalDim == nullptr || boxDim == nullptr || elementStrides == nullptr ||
      (globalStrides == nullptr && rank > 1)) {
    return refuse(kName, "found a null array of dimensions, strides or box sizes");
  }
  TensorMap map{.address = reinterpret_cast<std::uint64_t>(globalAddress),
                .rank = rank,
                .element = convert<TensorElement>(type),
                .interleave = convert<TensorInterleave>(interleave),
                .swizzle = convert<Swizzle>(swizzle),
                .fill = convert<TensorFill>(oobFill),
                .l2Promotion = convert<std::uint8_t>(l2Promotion)};
  if (isRankKnown) { // else the rank is what gets reported
    std::copy_n(globalDim, rank, map.dims.begin());
    std::copy_n(globalStrides, rank - 1, map.strides.begin());
    std::copy_n(boxDim, rank, map.box.begin());
    std::copy_n(elementStrides, rank, map.elementStrides.begin());
  }
  const std::string message = checkTensorMap(map);
  if (!message.empty()) {
    return refuse(kName, message);
  }
  const auto bytes = encodeTensorMap(map);
  std::memcpy(tensorMap, bytes.data(), bytes.size());
  return CUDA_SUCCESS;
}

CUresult cuTensorMapReplaceAddress(CUtensorMap *tensorMap, void *globalAddress) {
  constexpr std::string_view kName = "cuTensorMapReplaceAddress";
  if (tensorMap == nullptr || !isAligned(tensorMap)) {
    return refuse(kName,
                  "tensorMap: found a null or misaligned pointer, expected 64-byte alignment");
  }
  std::array<std::byte, kTensorMapBytes> bytes;
  std::memcpy(bytes.data(), tensorMap, bytes.size());
  std::optional<TensorMap> map = decodeTensorMap(bytes);
  if (!map) {
    return refuse(kName, "tensorMap: found bytes that no encode function wrote");
  }
  map->address = reinterpret_cast<std::uint64_t>(globalAddress);
  const std::string message = checkTensorMap(*map);
  if (!message.empty()) {
    return refuse(kName, message);
  }
  bytes = encodeTensorMap(*map);
  std::memcpy(tensorMap, bytes.data(), bytes.size());
  return CUDA_SUCCESS;
}

} // namespace driver
} // namespace fp8jit::emulator
