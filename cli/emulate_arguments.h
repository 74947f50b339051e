// The arguments of a kernel as the emulate command takes them. Main entry: parseKernelArgument.
//
//   u8: u16: u32: u64: s8: s16: s32: s64: f32: f64:   a number: u32:7, s32:-1, u32:0x1f, f32:1.5
//   in:FILE                        the array of a file, in device memory; its address is passed
//   inout:FILE                     the same, written back to FILE afterwards
//   out:FILE.npy:TYPE:SHAPE        new memory, never written, saved afterwards:
//   out:d.npy:f32:64x128 zeros:TYPE:SHAPE               memory that is zero scratch:TYPE:SHAPE
//   memory that was never written ref:N[+BYTES]                  the address of argument N's memory
//   (N counts from 0), or beyond map:SOURCE,box=SHAPE[,KEY=VALUE...]   a tensor map over SOURCE:
//   FILE, or one of the five above
//
// TYPE is f32, f16, bf16, s32 or u8. SHAPE is 64x128, outermost dimension first as in numpy; so are
// all lists of a map. Keys of a map:
//   box      elements of a box                    type     element type of the copies, else the
//   swizzle  0 (default), 32, 64, 128                      array's: u8 u16 u32 s32 u64 s64 f16 f32
//   fill     zero (default) or nan                         f64 bf16
//   shape    the tensor's elements, else the array's       offset   bytes from the memory's start
//   strides  bytes of all dimensions but the last, joined by x, else dense
//   steps    elements to step along each dimension, else 1
#pragma once

#include "support/host_tensor.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace fp8jit {

/// Where the bytes of a buffer come from and go to.
enum class BufferKind : std::uint8_t { In, InOut, Out, Zeros, Scratch };

/// Memory of a kernel. `type` and `dims` are of Out, Zeros and Scratch; files have their own.
struct BufferSpec {
  BufferKind kind = BufferKind::In;
  std::string file; ///< of In, InOut and Out
  ElementType type = ElementType::U8;
  TensorDims dims;
};

/// The memory of an earlier argument.
struct ReferenceSpec {
  std::size_t argument = 0;
  std::uint64_t offset = 0; ///< bytes
};

/// A tensor map; lists are outermost first, empty where they are not given.
struct MapSpec {
  std::variant<BufferSpec, ReferenceSpec> source;
  TensorDims box, shape, strides, steps;
  std::optional<int> elementType; ///< CUtensorMapDataType
  int swizzle = 0;                ///< CUtensorMapSwizzle
  bool fillsNan = false;
  std::uint64_t offset = 0; ///< bytes
};

/// The bytes of a number, little-endian.
struct ScalarSpec {
  std::vector<std::uint8_t> bytes;
};

using KernelArgument = std::variant<ScalarSpec, BufferSpec, ReferenceSpec, MapSpec>;

/// Reads one argument. Errors: InvalidArgument naming found and expected.
llvm::Expected<KernelArgument> parseKernelArgument(llvm::StringRef text);

/// "64x128": positive numbers joined by x, at most `maxCount` of them. Errors: InvalidArgument.
llvm::Expected<TensorDims> parseShape(llvm::StringRef text, std::size_t maxCount);

/// The CUtensorMapDataType with which elements of `type` are copied.
int tensorMapType(ElementType type);

} // namespace fp8jit
