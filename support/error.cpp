#include "support/error.h"

#include "llvm/Support/raw_ostream.h"

#include <system_error>
#include <utility>

namespace fp8jit {

char FailureInfo::ID = 0;

FailureInfo::FailureInfo(ErrorCode code, std::string message)
    : code_(code), message_(std::move(message)) {}

FailureInfo::FailureInfo(ErrorCode code, std::string message, std::string details)
    : code_(code), message_(std::move(message)), details_(std::move(details)) {}

void FailureInfo::log(llvm::raw_ostream &os) const {
  os << codeName(code_) << ": " << message_;
}

std::error_code FailureInfo::convertToErrorCode() const {
  return llvm::inconvertibleErrorCode();
}

llvm::Error fail(ErrorCode code, const llvm::Twine &message) {
  return llvm::make_error<FailureInfo>(code, message.str());
}

llvm::Error fail(ErrorCode code, const llvm::Twine &message, std::string details) {
  return llvm::make_error<FailureInfo>(code, message.str(), std::move(details));
}

FailureInfo takeFailure(llvm::Error error) {
  FailureInfo result(ErrorCode::Internal, "an error without a message");
  llvm::handleAllErrors(
      std::move(error), [&](const FailureInfo &info) { result = info; },
      [&](const llvm::ErrorInfoBase &info) {
        result = FailureInfo(ErrorCode::Internal, info.message());
      });
  return result;
}

llvm::Error addContext(llvm::Error error, const llvm::Twine &context) {
  if (!error) {
    return error;
  }
  const FailureInfo info = takeFailure(std::move(error));
  return fail(info.code(), context + ": " + info.text(), info.details());
}

} // namespace fp8jit
