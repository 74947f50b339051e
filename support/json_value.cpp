#include "support/json_value.h"

#include "support/error.h"
#include "support/quote.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ConvertUTF.h"

#include <cstdlib>

namespace fp8jit {

static constexpr int kDeepestNesting = 64;
static constexpr llvm::StringRef kJsonSpaces = " \t\r\n";

const JsonValue *JsonValue::find(llvm::StringRef name) const {
  for (const auto &[key, value] : members) {
    if (key == name) {
      return &value;
    }
  }
  return nullptr;
}

std::optional<std::int64_t> JsonValue::asIndex() const {
  std::int64_t value = 0;
  if (kind != Kind::Number || !llvm::all_of(text, llvm::isDigit) ||
      llvm::StringRef(text).getAsInteger(10, value)) {
    return std::nullopt;
  }
  return value;
}

std::optional<double> JsonValue::asNumber() const {
  double value = 0;
  if (kind != Kind::Number || llvm::StringRef(text).getAsDouble(value)) {
    return std::nullopt;
  }
  return value;
}

namespace {

/// Recursive descent over one text; each parse function leaves `rest_` behind what it read.
class JsonReader {
public:
  explicit JsonReader(llvm::StringRef text) : all_(text), rest_(text) {}

  llvm::Expected<JsonValue> readAll() {
    JsonValue value;
    if (llvm::Error error = readValue(value, 0)) {
      return error;
    }
    skipSpaces();
    if (!rest_.empty()) {
      return bad("the end of the text");
    }
    return value;
  }

private:
  llvm::Error bad(const llvm::Twine &expected) const {
    return fail(ErrorCode::InvalidArgument,
                "JSON at byte " + llvm::Twine(all_.size() - rest_.size()) + ": found " +
                    (rest_.empty() ? "the end" : quoteText(rest_.take_front(12))) + ", expected " +
                    expected);
  }
  void skipSpaces() { rest_ = rest_.ltrim(kJsonSpaces); }
  bool take(llvm::StringRef expected) {
    skipSpaces();
    return rest_.consume_front(expected);
  }

  llvm::Error readValue(JsonValue &value, int depth);
  llvm::Error readObject(JsonValue &value, int depth);
  llvm::Error readArray(JsonValue &value, int depth);
  llvm::Error readNumber(JsonValue &value);
  llvm::Error readText(std::string &text);
  llvm::Error readEscape(std::string &text);
  bool readUnit(std::uint32_t &unit);

  llvm::StringRef all_;
  llvm::StringRef rest_;
};

} // namespace

llvm::Error JsonReader::readValue(JsonValue &value, int depth) {
  if (depth > kDeepestNesting) {
    return bad("at most " + llvm::Twine(kDeepestNesting) + " levels");
  }
  if (take("{")) {
    return readObject(value, depth);
  }
  if (take("[")) {
    return readArray(value, depth);
  }
  if (rest_.startswith("\"")) {
    value.kind = JsonValue::Kind::Text;
    return readText(value.text);
  }
  if (rest_.consume_front("null")) {
    return llvm::Error::success();
  }
  value.boolean = rest_.startswith("true");
  if (rest_.consume_front("true") || rest_.consume_front("false")) {
    value.kind = JsonValue::Kind::Bool;
    return llvm::Error::success();
  }
  return readNumber(value);
}

llvm::Error JsonReader::readObject(JsonValue &value, int depth) {
  value.kind = JsonValue::Kind::Object;
  llvm::StringSet<> names;
  if (take("}")) {
    return llvm::Error::success();
  }
  do {
    std::string name;
    skipSpaces();
    if (llvm::Error error = readText(name)) {
      return error;
    }
    if (!names.insert(name).second) {
      return fail(ErrorCode::InvalidArgument, "JSON: key " + quoteText(name) + " stands twice");
    }
    if (!take(":")) {
      return bad("':'");
    }
    JsonValue member;
    if (llvm::Error error = readValue(member, depth + 1)) {
      return error;
    }
    value.members.emplace_back(std::move(name), std::move(member));
  } while (take(","));
  return take("}") ? llvm::Error::success() : bad("',' or '}'");
}

llvm::Error JsonReader::readArray(JsonValue &value, int depth) {
  value.kind = JsonValue::Kind::Array;
  if (take("]")) {
    return llvm::Error::success();
  }
  do {
    if (llvm::Error error = readValue(value.items.emplace_back(), depth + 1)) {
      return error;
    }
  } while (take(","));
  return take("]") ? llvm::Error::success() : bad("',' or ']'");
}

llvm::Error JsonReader::readNumber(JsonValue &value) {
  value.kind = JsonValue::Kind::Number;
  const llvm::StringRef start = rest_;
  rest_.consume_front("-");
  const llvm::StringRef whole = rest_.take_while(llvm::isDigit);
  rest_ = rest_.drop_front(whole.size());
  bool isLegal = !whole.empty() && (whole.size() == 1 || !whole.startswith("0"));
  if (isLegal && rest_.consume_front(".")) {
    const llvm::StringRef fraction = rest_.take_while(llvm::isDigit);
    rest_ = rest_.drop_front(fraction.size());
    isLegal = !fraction.empty();
  }
  if (isLegal && (rest_.consume_front("e") || rest_.consume_front("E"))) {
    if (!rest_.consume_front("+")) {
      rest_.consume_front("-");
    }
    const llvm::StringRef exponent = rest_.take_while(llvm::isDigit);
    rest_ = rest_.drop_front(exponent.size());
    isLegal = !exponent.empty();
  }
  if (!isLegal) {
    rest_ = start;
    return bad("a value");
  }
  value.text = start.drop_back(rest_.size()).str();
  return llvm::Error::success();
}

llvm::Error JsonReader::readText(std::string &text) {
  if (!rest_.consume_front("\"")) {
    return bad("a text in quotes");
  }
  while (!rest_.consume_front("\"")) {
    if (rest_.empty() || static_cast<unsigned char>(rest_.front()) < 0x20) {
      return bad("'\"' at the end of a text");
    }
    if (rest_.consume_front("\\")) {
      if (llvm::Error error = readEscape(text)) {
        return error;
      }
      continue;
    }
    text += rest_.front();
    rest_ = rest_.drop_front();
  }
  return llvm::Error::success();
}

/// Four hex digits.
bool JsonReader::readUnit(std::uint32_t &unit) {
  const llvm::StringRef digits = rest_.take_front(4);
  if (digits.size() < 4 || !llvm::all_of(digits, llvm::isHexDigit) ||
      digits.getAsInteger(16, unit)) {
    return false;
  }
  rest_ = rest_.drop_front(4);
  return true;
}

llvm::Error JsonReader::readEscape(std::string &text) {
  constexpr llvm::StringRef kNames = "\"\\/bfnrt";
  constexpr llvm::StringRef kMeanings = "\"\\/\b\f\n\r\t";
  const std::size_t index = rest_.empty() ? llvm::StringRef::npos : kNames.find(rest_.front());
  if (index != llvm::StringRef::npos) {
    text += kMeanings[index];
    rest_ = rest_.drop_front();
    return llvm::Error::success();
  }
  std::uint32_t codePoint = 0;
  if (!rest_.consume_front("u") || !readUnit(codePoint)) {
    return bad("an escape such as \\n or \\u0041");
  }
  const bool isHighSurrogate = codePoint >= 0xD800 && codePoint < 0xDC00;
  std::uint32_t low = 0;
  if (isHighSurrogate && rest_.consume_front("\\u") && readUnit(low) && low >= 0xDC00 &&
      low < 0xE000) {
    codePoint = 0x10000 + ((codePoint - 0xD800) << 10) + (low - 0xDC00);
  } else if (codePoint >= 0xD800 && codePoint < 0xE000) {
    return bad("a pair of surrogates");
  }
  char buffer[UNI_MAX_UTF8_BYTES_PER_CODE_POINT];
  char *end = buffer;
  llvm::ConvertCodePointToUTF8(codePoint, end);
  text.append(buffer, end);
  return llvm::Error::success();
}

llvm::Expected<JsonValue> parseJson(llvm::StringRef text) {
  return JsonReader(text).readAll();
}

} // namespace fp8jit
