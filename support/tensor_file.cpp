#include "support/tensor_file.h"

#include "support/error.h"
#include "support/files.h"
#include "support/npy.h"
#include "support/safetensors.h"

namespace fp8jit {

static constexpr llvm::StringRef kSafetensorsMark = ".safetensors:";

llvm::Expected<HostTensor> readTensorFile(llvm::StringRef name) {
  const std::size_t mark = name.find(kSafetensorsMark);
  if (mark != llvm::StringRef::npos) {
    const std::size_t colon = mark + kSafetensorsMark.size() - 1;
    return readSafetensor(name.take_front(colon), name.drop_front(colon + 1));
  }
  if (name.endswith(".safetensors")) {
    return fail(ErrorCode::InvalidArgument,
                "file " + name + ": expected the tensor's name after it, " + name + ":NAME");
  }
  if (!name.endswith(".npy")) {
    return fail(ErrorCode::InvalidArgument,
                "file " + name + ": expected FILE.npy or FILE.safetensors:NAME");
  }
  return readNpy(name);
}

/// Only .npy files are written.
static llvm::Error checkOutputName(llvm::StringRef name) {
  return name.endswith(".npy")
             ? llvm::Error::success()
             : fail(ErrorCode::InvalidArgument, "file " + name + ": expected FILE.npy as output");
}

llvm::Error checkTensorOutput(llvm::StringRef name) {
  if (llvm::Error error = checkOutputName(name)) {
    return error;
  }
  return checkWritable(name);
}

llvm::Error writeTensorFile(llvm::StringRef name, const HostTensor &tensor) {
  if (llvm::Error error = checkOutputName(name)) {
    return error;
  }
  return writeNpy(name, tensor);
}

} // namespace fp8jit
