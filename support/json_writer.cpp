#include "support/json_writer.h"

#include "llvm/Support/ConvertUTF.h"

#include <array>
#include <charconv>
#include <cmath>

namespace fp8jit {

/// Bytes of the UTF-8 sequence that `text` begins with; 0 if it begins with none.
static std::size_t sequenceLength(llvm::StringRef text) {
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.data());
  const unsigned length = llvm::getNumBytesForUTF8(*begin);
  if (length > text.size() || llvm::isLegalUTF8Sequence(begin, begin + length) == 0) {
    return 0;
  }
  return length;
}

static void appendControl(std::string &out, unsigned char byte) {
  constexpr llvm::StringRef kDigits = "0123456789abcdef";
  if (byte == '\n') {
    out += "\\n";
    return;
  }
  if (byte == '\t') {
    out += "\\t";
    return;
  }
  out += "\\u00";
  out += kDigits[byte >> 4];
  out += kDigits[byte & 0xFU];
}

static void appendText(std::string &out, llvm::StringRef text) {
  out += '"';
  while (!text.empty()) {
    const char first = text.front();
    std::size_t length = 1;
    if (first == '"' || first == '\\') {
      out += '\\';
      out += first;
    } else if (static_cast<unsigned char>(first) < 0x20 || first == 0x7F) {
      appendControl(out, static_cast<unsigned char>(first));
    } else if (const std::size_t sequence = sequenceLength(text); sequence > 0) {
      length = sequence;
      out += text.take_front(length);
    } else {
      out += "\xEF\xBF\xBD";
    }
    text = text.drop_front(length);
  }
  out += '"';
}

void JsonObject::beginMember(llvm::StringRef name) {
  if (!members_.empty()) {
    members_ += ',';
  }
  appendText(members_, name);
  members_ += ':';
}

JsonObject &JsonObject::addText(llvm::StringRef name, llvm::StringRef value) {
  beginMember(name);
  appendText(members_, value);
  return *this;
}

JsonObject &JsonObject::addNumber(llvm::StringRef name, double value) {
  if (!std::isfinite(value)) {
    return addNull(name);
  }
  beginMember(name);
  std::array<char, 32> digits{};
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  members_.append(digits.data(), result.ptr);
  return *this;
}

JsonObject &JsonObject::addInteger(llvm::StringRef name, std::int64_t value) {
  beginMember(name);
  members_ += std::to_string(value);
  return *this;
}

JsonObject &JsonObject::addBool(llvm::StringRef name, bool value) {
  beginMember(name);
  members_ += value ? "true" : "false";
  return *this;
}

JsonObject &JsonObject::addNull(llvm::StringRef name) {
  beginMember(name);
  members_ += "null";
  return *this;
}

JsonObject &JsonObject::addObject(llvm::StringRef name, const JsonObject &value) {
  beginMember(name);
  members_ += value.str();
  return *this;
}

JsonObject &JsonObject::addObjects(llvm::StringRef name, llvm::ArrayRef<JsonObject> values) {
  beginMember(name);
  members_ += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    members_ += (i == 0 ? "" : ",") + values[i].str();
  }
  members_ += ']';
  return *this;
}

JsonObject &JsonObject::addTexts(llvm::StringRef name, llvm::ArrayRef<std::string> values) {
  beginMember(name);
  members_ += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    members_ += i == 0 ? "" : ",";
    appendText(members_, values[i]);
  }
  members_ += ']';
  return *this;
}

} // namespace fp8jit
