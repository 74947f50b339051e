// Result<T>: a value or an error, the way every public call of fp8jit answers. Standard library
// only; no exceptions.
#pragma once

#include "fp8jit/error_code.h"

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace fp8jit {

/// An error as the caller sees it.
struct Error {
  ErrorCode code = ErrorCode::Internal;
  std::string message; ///< one line: what, found, expected
  std::string details; ///< compile errors: the log and the source; else empty
};

/// Either a T or an Error. Must be looked at.
template <typename T>
class [[nodiscard]] Result {
public:
  // NOLINTNEXTLINE(google-explicit-constructor): return value;
  Result(T value) : state_(std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor): return error;
  Result(Error error) : state_(std::move(error)) {}

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }

  /// Only when ok().
  T &value() & {
    assert(ok() && "value() of a failed Result");
    return *std::get_if<T>(&state_);
  }
  const T &value() const & {
    assert(ok() && "value() of a failed Result");
    return *std::get_if<T>(&state_);
  }
  T &&value() && {
    assert(ok() && "value() of a failed Result");
    return std::move(*std::get_if<T>(&state_));
  }
  T &operator*() { return value(); }
  const T &operator*() const { return value(); }
  T *operator->() { return &value(); }
  const T *operator->() const { return &value(); }

  /// Only when !ok().
  const Error &error() const {
    assert(!ok() && "error() of a good Result");
    return *std::get_if<Error>(&state_);
  }

private:
  std::variant<T, Error> state_;
};

/// Success or an Error.
template <>
class [[nodiscard]] Result<void> {
public:
  Result() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): return error;
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error &error() const {
    assert(!ok() && "error() of a good Result");
    return *error_;
  }

private:
  std::optional<Error> error_;
};

} // namespace fp8jit
