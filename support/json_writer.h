// One-line JSON objects for the command's --json output. Main entry: JsonObject.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace fp8jit {

/// A JSON object that is written member by member, in the order of the calls, on one line. Names
/// must differ.
class JsonObject {
public:
  /// Text; bytes that are no UTF-8 become U+FFFD.
  JsonObject &addText(llvm::StringRef name, llvm::StringRef value);
  /// The shortest decimal number that reads back as `value`; null if it is not finite.
  JsonObject &addNumber(llvm::StringRef name, double value);
  JsonObject &addInteger(llvm::StringRef name, std::int64_t value);
  JsonObject &addBool(llvm::StringRef name, bool value);
  JsonObject &addNull(llvm::StringRef name);
  JsonObject &addObject(llvm::StringRef name, const JsonObject &value);
  JsonObject &addObjects(llvm::StringRef name, llvm::ArrayRef<JsonObject> values);
  JsonObject &addTexts(llvm::StringRef name, llvm::ArrayRef<std::string> values);

  /// The object, without a newline.
  std::string str() const { return "{" + members_ + "}"; }

private:
  void beginMember(llvm::StringRef name);

  std::string members_;
};

} // namespace fp8jit
