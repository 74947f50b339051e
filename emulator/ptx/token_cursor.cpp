// Expectations of the parsers and the text that their messages show.
#include "emulator/ptx/token_cursor.h"

#include "emulator/ptx/literal.h"

namespace fp8jit::emulator {

std::string TokenCursor::found() const {
  constexpr std::size_t kMaxShown = 60;
  const Token &token = peek();
  return token.kind == TokenKind::End ? "the end of the text"
                                      : "\"" + std::string(token.text.substr(0, kMaxShown)) + "\"";
}

bool TokenCursor::expectPunct(char c) {
  if (skipPunct(c)) {
    return true;
  }
  return fail("expected \"" + std::string(1, c) + "\", found " + found());
}

bool TokenCursor::expectWord(std::string_view &word, std::string_view what) {
  if (peek().kind != TokenKind::Word) {
    return fail("expected " + std::string(what) + ", found " + found());
  }
  word = next().text;
  return true;
}

bool TokenCursor::expectNumber(std::uint64_t &value, std::uint64_t limit, std::string_view what) {
  const std::optional<Literal> literal =
      peek().kind == TokenKind::Number ? parseLiteral(peek().text) : std::nullopt;
  if (!literal || literal->kind != Literal::Kind::Integer || literal->bits > limit) {
    return fail("expected " + std::string(what) + " from 0 to " + std::to_string(limit) +
                ", found " + found());
  }
  value = literal->bits;
  next();
  return true;
}

void TokenCursor::skipLine() {
  const std::uint32_t line = peek().line;
  while (!isAtEnd() && peek().line == line) {
    next();
  }
}

bool TokenCursor::skipBlock() {
  const std::uint32_t line = peek().line;
  if (!expectPunct('{')) {
    return false;
  }
  for (std::size_t depth = 1; depth > 0;) {
    if (isAtEnd()) {
      return fail(line, "block without an end");
    }
    depth += isPunct('{') ? 1U : 0U;
    depth -= isPunct('}') ? 1U : 0U;
    next();
  }
  return true;
}

std::string TokenCursor::statementText(std::size_t begin) const {
  constexpr std::size_t kMaxShown = 160;
  std::string text;
  for (std::size_t i = begin; i < tokens_.size() && text.size() < kMaxShown; ++i) {
    const Token &token = tokens_[i];
    if (token.punct == ';' || token.kind == TokenKind::End) {
      break;
    }
    const bool isAfterGap =
        i > begin && tokens_[i - 1].text.data() + tokens_[i - 1].text.size() != token.text.data();
    text += isAfterGap ? " " : "";
    text += token.text.substr(0, kMaxShown);
  }
  return text.substr(0, kMaxShown);
}

} // namespace fp8jit::emulator
