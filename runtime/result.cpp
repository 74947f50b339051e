#include "runtime/result.h"

#include "support/error.h"

namespace fp8jit {

Error toPublicError(llvm::Error error) {
  const FailureInfo failure = takeFailure(std::move(error));
  return {.code = failure.code(), .message = failure.text(), .details = failure.details()};
}

} // namespace fp8jit
