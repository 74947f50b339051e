#include "support/host_tensor.h"

#include <limits>

namespace fp8jit {

std::int64_t elementBytes(ElementType type) {
  switch (type) {
  case ElementType::F32:
  case ElementType::Int32:
    return 4;
  case ElementType::F16:
  case ElementType::BF16:
    return 2;
  case ElementType::U8:
  case ElementType::E4M3:
  case ElementType::E5M2:
  case ElementType::E8M0:
    return 1;
  }
  return 1;
}

llvm::StringRef elementTypeName(ElementType type) {
  switch (type) {
  case ElementType::F32:
    return "float32";
  case ElementType::F16:
    return "float16";
  case ElementType::BF16:
    return "bf16 (uint16)";
  case ElementType::U8:
    return "uint8";
  case ElementType::Int32:
    return "int32";
  case ElementType::E4M3:
    return "e4m3";
  case ElementType::E5M2:
    return "e5m2";
  case ElementType::E8M0:
    return "e8m0";
  }
  return "";
}

std::optional<std::int64_t> tensorBytes(ElementType type, llvm::ArrayRef<std::int64_t> dims) {
  bool isEmpty = false;
  std::int64_t product = elementBytes(type);
  for (const std::int64_t dim : dims) {
    if (dim < 0) {
      return std::nullopt;
    }
    if (dim == 0) {
      isEmpty = true;
      continue;
    }
    if (product > std::numeric_limits<std::int64_t>::max() / dim) {
      return std::nullopt;
    }
    product *= dim;
  }
  return isEmpty ? 0 : product;
}

std::string printDims(llvm::ArrayRef<std::int64_t> dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(dims[i]);
  }
  return text + "]";
}

} // namespace fp8jit
