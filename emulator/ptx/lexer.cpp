// PTX ISA section 4 (syntax). A word takes its dots and double colons along, so that an opcode with
// all its qualifiers is one token.
#include "emulator/ptx/lexer.h"

#include <algorithm>
#include <string>

namespace fp8jit::emulator {

static bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}

static bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

static bool isSpace(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

namespace {

class Lexer {
public:
  Lexer(std::string_view text, std::vector<Token> &tokens, PtxError &error)
      : text_(text), tokens_(tokens), error_(error) {}

  bool run() {
    while (skipBlanks()) {
      if (position_ == text_.size()) {
        tokens_.push_back({TokenKind::End, 0, line_, {}});
        return true;
      }
      if (!readToken()) {
        return false;
      }
    }
    return false;
  }

private:
  char at(std::size_t offset) const {
    return position_ + offset < text_.size() ? text_[position_ + offset] : '\0';
  }

  bool fail(std::string message) {
    error_ = {line_, std::move(message)};
    return false;
  }

  void add(TokenKind kind, std::size_t begin, std::size_t end, char punct = 0) {
    tokens_.push_back({kind, punct, line_, text_.substr(begin, end - begin)});
    position_ = end;
  }

  /// Skips white space and comments; false for a comment without an end.
  bool skipBlanks() {
    while (position_ < text_.size()) {
      if (isSpace(at(0))) {
        line_ += at(0) == '\n' ? 1U : 0U;
        ++position_;
      } else if (at(0) == '/' && at(1) == '/') {
        position_ = std::min(text_.find('\n', position_), text_.size());
      } else if (at(0) == '/' && at(1) == '*') {
        const std::size_t end = text_.find("*/", position_ + 2);
        if (end == std::string_view::npos) {
          return fail("comment without an end");
        }
        for (; position_ < end + 2; ++position_) {
          line_ += text_[position_] == '\n' ? 1U : 0U;
        }
      } else {
        return true;
      }
    }
    return true;
  }

  bool readToken() {
    const char c = at(0);
    if (isLetter(c) || (c == '.' && isLetter(at(1)))) {
      readWord();
      return true;
    }
    if (isDigit(c)) {
      readNumber();
      return true;
    }
    if (c == '"') {
      return readString();
    }
    constexpr std::string_view kPuncts = "{}[]()<>,;:+-@!|=&*/~?^.";
    if (kPuncts.find(c) == std::string_view::npos) {
      const auto code = static_cast<unsigned char>(c);
      return fail("unexpected character of code " + std::to_string(code));
    }
    add(TokenKind::Punct, position_, position_ + 1, c);
    return true;
  }

  /// A word that begins with a dot ends before the next one: `.reg.b32` is two tokens.
  void readWord() {
    const bool isDirective = at(0) == '.';
    std::size_t end = position_ + 1;
    while (end < text_.size()) {
      const char c = text_[end];
      if (isLetter(c) || isDigit(c) || (c == '.' && !isDirective)) {
        ++end;
      } else if (c == ':' && end + 2 < text_.size() && text_[end + 1] == ':' &&
                 (isLetter(text_[end + 2]) || isDigit(text_[end + 2]))) {
        end += 2;
      } else {
        break;
      }
    }
    add(TokenKind::Word, position_, end);
  }

  void readNumber() {
    std::size_t end = position_;
    while (end < text_.size()) {
      const char c = text_[end];
      const bool isExponentSign =
          (c == '+' || c == '-') && end > position_ &&
          (text_[end - 1] == 'e' || text_[end - 1] == 'E') &&
          text_.substr(position_, end - position_).find('.') != std::string_view::npos;
      if (!isDigit(c) && c != '.' && !(isLetter(c) && c != '%' && c != '$') && !isExponentSign) {
        break;
      }
      ++end;
    }
    add(TokenKind::Number, position_, end);
  }

  bool readString() {
    const std::size_t end = text_.find('"', position_ + 1);
    if (end == std::string_view::npos) {
      return fail("string without an end");
    }
    const std::string_view content = text_.substr(position_ + 1, end - position_ - 1);
    tokens_.push_back({TokenKind::String, 0, line_, content});
    for (const char c : content) {
      line_ += c == '\n' ? 1U : 0U;
    }
    position_ = end + 1;
    return true;
  }

  std::string_view text_;
  std::vector<Token> &tokens_;
  PtxError &error_;
  std::size_t position_ = 0;
  std::uint32_t line_ = 1;
};

} // namespace

bool tokenize(std::string_view text, std::vector<Token> &tokens, PtxError &error) {
  tokens.reserve(text.size() / 5 + 1);
  return Lexer(text, tokens, error).run();
}

} // namespace fp8jit::emulator
