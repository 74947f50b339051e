#include "cli/tensor_convert.h"

#include "support/float_formats.h"

#include <cstring>

namespace fp8jit {

bool isFloating(ElementType type) {
  return type == ElementType::F32 || type == ElementType::F16 || type == ElementType::BF16;
}

bool holdsCodes(ElementType type, Format format) {
  return type == ElementType::U8 || (type == ElementType::E4M3 && format == Format::E4M3) ||
         (type == ElementType::E5M2 && format == Format::E5M2);
}

template <typename T>
static T load(const std::vector<std::uint8_t> &bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
static void store(std::vector<std::uint8_t> &bytes, std::size_t index, T value) {
  std::memcpy(bytes.data() + index * sizeof(T), &value, sizeof(T));
}

static float readFloat(ElementType type, const std::vector<std::uint8_t> &bytes,
                       std::size_t index) {
  switch (type) {
  case ElementType::F16:
    return decodeF16(load<std::uint16_t>(bytes, index));
  case ElementType::BF16:
    return decodeBf16(load<std::uint16_t>(bytes, index));
  case ElementType::F32:
  case ElementType::U8:
  case ElementType::Int32:
  case ElementType::E4M3:
  case ElementType::E5M2:
  case ElementType::E8M0:
    return load<float>(bytes, index);
  }
  return 0;
}

std::vector<std::uint8_t> roundFloats(const HostTensor &tensor, Format format) {
  const auto count = static_cast<std::size_t>(tensor.count());
  if ((format == Format::F32 && tensor.type == ElementType::F32) ||
      (format == Format::F16 && tensor.type == ElementType::F16) ||
      (format == Format::BF16 && tensor.type == ElementType::BF16)) {
    return tensor.bytes;
  }
  std::vector<std::uint8_t> bytes(count * static_cast<std::size_t>(elementBytes(format)));
  for (std::size_t i = 0; i < count; ++i) {
    const float value = readFloat(tensor.type, tensor.bytes, i);
    if (format == Format::F32) {
      store(bytes, i, value);
    } else {
      store(bytes, i, format == Format::BF16 ? encodeBf16(value) : encodeF16(value));
    }
  }
  return bytes;
}

HostTensor widenResult(Format format, TensorDims dims, std::vector<std::uint8_t> bytes) {
  switch (format) {
  case Format::E4M3:
  case Format::E5M2:
    return {ElementType::U8, std::move(dims), std::move(bytes)};
  case Format::BF16:
  case Format::F16: {
    const ElementType type = format == Format::BF16 ? ElementType::BF16 : ElementType::F16;
    const HostTensor narrow{type, dims, std::move(bytes)};
    return {ElementType::F32, std::move(dims), roundFloats(narrow, Format::F32)};
  }
  case Format::F32:
  case Format::None:
    break;
  }
  return {ElementType::F32, std::move(dims), std::move(bytes)};
}

} // namespace fp8jit
