// Between the element types of files and those of problems. Main entries: roundFloats,
// widenResult.
#pragma once

#include "fp8jit/problem.h"
#include "support/host_tensor.h"

#include <cstdint>
#include <vector>

namespace fp8jit {

/// Whether `type` is float32, float16 or bf16.
bool isFloating(ElementType type);

/// Whether a file of elements `type` may hold codes of `format` (E4M3 or E5M2): uint8, or that
/// format by name.
bool holdsCodes(ElementType type, Format format);

/// The elements of a floating tensor rounded to `format` (BF16, F16 or F32; nearest even, overflow
/// to infinity), as a device buffer holds them.
std::vector<std::uint8_t> roundFloats(const HostTensor &tensor, Format format);

/// A result of `format` in memory as the command writes it: float32 for BF16, F16 and F32 (exact),
/// uint8 for FP8.
HostTensor widenResult(Format format, TensorDims dims, std::vector<std::uint8_t> bytes);

} // namespace fp8jit
