// Reading one tensor of a .safetensors file. Source: the format description of the safetensors
// project (8 bytes of header length, JSON header, data without holes). Main entry:
// readSafetensor.
#pragma once

#include "support/host_tensor.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace fp8jit {

/// Reads the tensor `name` of `path`. The whole header is checked first: JSON without repeated
/// names, shapes and sizes that agree, offsets that cover the data without holes, overlaps or rest.
/// U16 is taken as BF16 bits.
/// Errors: NotFound if there is no such file or tensor (the message lists names that exist);
/// Unsupported for element types other than F32, F16, BF16, U16, U8, I32, F8_E4M3, F8_E5M2,
/// F8_E8M0; InvalidArgument for a malformed file.
llvm::Expected<HostTensor> readSafetensor(llvm::StringRef path, llvm::StringRef name);

} // namespace fp8jit
