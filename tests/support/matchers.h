// EXPECT_OK and EXPECT_FAILS for llvm::Error, llvm::Expected and the public Result.
#pragma once

#include "support/error.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace fp8jit::testing {

/// What a call answered, independent of its error type.
struct Outcome {
  bool isOk = true;
  ErrorCode code = ErrorCode::Internal;
  std::string message;
};

inline Outcome outcomeOf(llvm::Error error) {
  if (!error) {
    return {};
  }
  const FailureInfo info = takeFailure(std::move(error));
  return {.isOk = false, .code = info.code(), .message = info.text()};
}

template <typename T>
Outcome outcomeOf(llvm::Expected<T> &&value) {
  return value ? Outcome{} : outcomeOf(value.takeError());
}

template <typename T>
Outcome outcomeOf(llvm::Expected<T> &value) {
  return value ? Outcome{} : outcomeOf(value.takeError());
}

/// The public Result<T>: anything with ok() and error().{code,message}.
template <typename R>
requires requires(const R &result) {
  result.ok();
  result.error().message;
}
Outcome outcomeOf(const R &result) {
  return result.ok() ? Outcome{}
                     : Outcome{.isOk = false,
                               .code = result.error().code,
                               .message = result.error().message};
}

} // namespace fp8jit::testing

#define ASSERT_OK(expression)                                                                      \
  do {                                                                                             \
    const ::fp8jit::testing::Outcome outcome_ = ::fp8jit::testing::outcomeOf(expression);          \
    ASSERT_TRUE(outcome_.isOk) << ::fp8jit::codeName(outcome_.code) << ": " << outcome_.message;   \
  } while (false)

#define EXPECT_OK(expression)                                                                      \
  do {                                                                                             \
    const ::fp8jit::testing::Outcome outcome_ = ::fp8jit::testing::outcomeOf(expression);          \
    EXPECT_TRUE(outcome_.isOk) << ::fp8jit::codeName(outcome_.code) << ": " << outcome_.message;   \
  } while (false)

#define EXPECT_FAILS(expression, expectedCode)                                                     \
  do {                                                                                             \
    const ::fp8jit::testing::Outcome outcome_ = ::fp8jit::testing::outcomeOf(expression);          \
    EXPECT_FALSE(outcome_.isOk) << "expected " << ::fp8jit::codeName(expectedCode);                \
    EXPECT_EQ(::fp8jit::codeName(outcome_.code), ::fp8jit::codeName(expectedCode))                 \
        << outcome_.message;                                                                       \
  } while (false)
