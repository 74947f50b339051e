// Tensor files as the command names them: "FILE.npy" or "FILE.safetensors:tensor.name". Main
// entries: readTensorFile, checkTensorOutput, writeTensorFile.
#pragma once

#include "support/host_tensor.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace fp8jit {

/// Reads the array that `name` names. Errors: InvalidArgument for another kind of name; else those
/// of readNpy and readSafetensor.
llvm::Expected<HostTensor> readTensorFile(llvm::StringRef name);

/// Whether writeTensorFile(name, ...) would work now, so that it can be refused before any work.
/// Errors: InvalidArgument if `name` is no .npy file or cannot be written.
llvm::Error checkTensorOutput(llvm::StringRef name);

/// Writes a .npy file, whole or not at all. Errors: as checkTensorOutput.
llvm::Error writeTensorFile(llvm::StringRef name, const HostTensor &tensor);

} // namespace fp8jit
