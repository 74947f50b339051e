// The one conversion from the errors used inside to the public Result. Main entry: toPublicError.
#pragma once

#include "fp8jit/result.h"

#include "llvm/Support/Error.h"

#include <utility>

namespace fp8jit {

/// `error` must be a failure.
Error toPublicError(llvm::Error error);

inline Result<void> toResult(llvm::Error error) {
  return error ? Result<void>(toPublicError(std::move(error))) : Result<void>();
}

template <typename T>
Result<T> toResult(llvm::Expected<T> value) {
  return value ? Result<T>(std::move(*value)) : Result<T>(toPublicError(value.takeError()));
}

} // namespace fp8jit
