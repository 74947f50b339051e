// NumPy's .npy files, versions 1 and 2. Source: numpy.lib.format (NEP 1). Main entries: readNpy,
// writeNpy.
#pragma once

#include "support/host_tensor.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace fp8jit {

/// Reads float32, float16, uint16 (as BF16 bits), uint8 or int32, little endian, C order.
/// Errors: NotFound if there is no such file; InvalidArgument naming what was found and expected
/// for everything else: magic, version, header, element type, byte order, Fortran order,
/// truncation, bytes after the array.
llvm::Expected<HostTensor> readNpy(llvm::StringRef path);

/// Writes `tensor` as version 1, whole or not at all; BF16 as uint16, FP8 and E8M0 as uint8.
/// Errors: InvalidArgument with the reason.
llvm::Error writeNpy(llvm::StringRef path, const HostTensor &tensor);

} // namespace fp8jit
