// An array in host memory with its element type and shape: what tensor files hold. Main entry:
// HostTensor.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fp8jit {

/// Elements of tensor files. A .npy file has no BF16 and no FP8: there uint16 stands for BF16 bits
/// and uint8 for FP8 or E8M0 bytes; a .safetensors file names them.
enum class ElementType : std::uint8_t { F32, F16, BF16, U8, Int32, E4M3, E5M2, E8M0 };

/// Size of one element: 1, 2 or 4.
std::int64_t elementBytes(ElementType type);

/// For messages: "float32", "float16", "bf16 (uint16)", "uint8", "int32", "e4m3", "e5m2", "e8m0".
llvm::StringRef elementTypeName(ElementType type);

using TensorDims = llvm::SmallVector<std::int64_t, 4>;

/// Bytes of an array, or nothing if a dimension is negative or the size does not fit in 63 bits.
std::optional<std::int64_t> tensorBytes(ElementType type, llvm::ArrayRef<std::int64_t> dims);

/// "[128, 256]", for messages.
std::string printDims(llvm::ArrayRef<std::int64_t> dims);

/// Row-major (C order), little-endian. `bytes.size()` is tensorBytes(type, dims).
struct HostTensor {
  ElementType type = ElementType::F32;
  TensorDims dims;
  std::vector<std::uint8_t> bytes;

  std::int64_t count() const {
    return static_cast<std::int64_t>(bytes.size()) / elementBytes(type);
  }
};

} // namespace fp8jit
