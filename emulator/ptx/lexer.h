// Splits PTX text into tokens. Main entry: tokenize.
#pragma once

#include "emulator/ptx/program.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace fp8jit::emulator {

enum class TokenKind : std::uint8_t {
  Word,   ///< names, registers, directives, and opcodes with their dots: `%tid.x`, `add.s32`
  Number, ///< begins with a digit; without sign
  String, ///< without the quotes
  Punct,  ///< one character
  End,
};

/// A view into the text; valid as long as the text is.
struct Token {
  TokenKind kind = TokenKind::End;
  char punct = 0; ///< the character of a Punct, else 0
  std::uint32_t line = 0;
  std::string_view text;
};

/// Appends the tokens of `text` and a final End to `tokens`. Comments vanish. Returns false and
/// fills `error` for an unterminated comment or string and for a character that PTX does not use.
bool tokenize(std::string_view text, std::vector<Token> &tokens, PtxError &error);

} // namespace fp8jit::emulator
