// A position in the token list, with the first error. Every parser of this folder moves one of
// these; a failed call has filled the error and returns false, and callers only pass that on.
#pragma once

#include "emulator/ptx/lexer.h"

#include <span>
#include <string>
#include <string_view>

namespace fp8jit::emulator {

class TokenCursor {
public:
  /// `tokens` ends with an End token; both outlive this.
  TokenCursor(std::span<const Token> tokens, PtxError &error) : tokens_(tokens), error_(error) {}

  const Token &peek(std::size_t ahead = 0) const {
    return tokens_[position_ + ahead < tokens_.size() ? position_ + ahead : tokens_.size() - 1];
  }
  std::size_t position() const { return position_; }
  void setPosition(std::size_t position) { position_ = position; }
  bool isAtEnd() const { return peek().kind == TokenKind::End; }
  bool isPunct(char c) const { return peek().punct == c; }
  bool isWord(std::string_view text) const {
    return peek().kind == TokenKind::Word && peek().text == text;
  }

  const Token &next() {
    const Token &token = peek();
    if (position_ + 1 < tokens_.size()) {
      ++position_;
    }
    return token;
  }
  bool skipPunct(char c) {
    const bool isThere = isPunct(c);
    if (isThere) {
      next();
    }
    return isThere;
  }
  bool skipWord(std::string_view text) {
    const bool isThere = isWord(text);
    if (isThere) {
      next();
    }
    return isThere;
  }

  /// Takes the character or fails with what was found instead.
  bool expectPunct(char c);
  /// Takes a word into `word` or fails; `what` says which one is missing.
  bool expectWord(std::string_view &word, std::string_view what);
  /// Takes an unsigned integer up to `limit`.
  bool expectNumber(std::uint64_t &value, std::uint64_t limit, std::string_view what);

  /// Skips to the token after the current line.
  void skipLine();
  /// Skips a block in braces, which begins here; false when it does not end.
  bool skipBlock();

  bool fail(std::uint32_t line, std::string message) {
    error_ = {line, std::move(message)};
    return false;
  }
  bool fail(std::string message) { return fail(peek().line, std::move(message)); }

  /// The current token as a message shows it.
  std::string found() const;
  /// The text of the statement that begins at token `begin`, up to its semicolon, on one line.
  std::string statementText(std::size_t begin) const;

private:
  std::span<const Token> tokens_;
  PtxError &error_;
  std::size_t position_ = 0;
};

} // namespace fp8jit::emulator
