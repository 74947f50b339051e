// Reading JSON (RFC 8259) strictly: a repeated key is an error, which the headers of tensor files
// need. Main entry: parseJson.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fp8jit {

/// A parsed value; which members mean something follows from `kind`.
struct JsonValue {
  enum class Kind : std::uint8_t { Null, Bool, Number, Text, Array, Object };

  Kind kind = Kind::Null;
  bool boolean = false;
  std::string text; ///< Text: decoded; Number: as it is written
  std::vector<JsonValue> items;
  std::vector<std::pair<std::string, JsonValue>> members; ///< in the order of the file

  /// The member `name` of an object, or null.
  const JsonValue *find(llvm::StringRef name) const;
  /// A number that is an integer from 0 to 2^63-1, else nothing.
  std::optional<std::int64_t> asIndex() const;
  /// A number as double, else nothing.
  std::optional<double> asNumber() const;
};

/// Reads exactly one value with white space around it. Errors: InvalidArgument naming the byte
/// offset, what was found and expected; also for repeated keys and more than 64 levels.
llvm::Expected<JsonValue> parseJson(llvm::StringRef text);

} // namespace fp8jit
