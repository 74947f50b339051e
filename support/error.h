// The one error class used inside fp8jit, and how to make it. Main entry: fail().
#pragma once

#include "fp8jit/error_code.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <string>

namespace fp8jit {

/// An error with a code and a message that names what was found and what was expected. Messages
/// start in lower case and carry no final full stop.
class FailureInfo : public llvm::ErrorInfo<FailureInfo> {
public:
  static char ID;

  FailureInfo(ErrorCode code, std::string message);

  /// `details`: long text that belongs to the error but not to its one line, for example a compiler
  /// log with the source it speaks of.
  FailureInfo(ErrorCode code, std::string message, std::string details);

  ErrorCode code() const { return code_; }
  const std::string &text() const { return message_; }
  const std::string &details() const { return details_; }

  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;

private:
  ErrorCode code_;
  std::string message_;
  std::string details_;
};

/// Makes an error: `return fail(ErrorCode::InvalidArgument, llvm::formatv("tileK is {0}, expected
/// 64 or 128", k));`
[[nodiscard]] llvm::Error fail(ErrorCode code, const llvm::Twine &message);
[[nodiscard]] llvm::Error fail(ErrorCode code, const llvm::Twine &message, std::string details);

/// Puts "context: " in front of the message of `error`; code and details stay.
[[nodiscard]] llvm::Error addContext(llvm::Error error, const llvm::Twine &context);

/// Takes `error` apart; errors of other classes become Internal. `error` must not be success.
FailureInfo takeFailure(llvm::Error error);

} // namespace fp8jit
