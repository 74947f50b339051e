// Operands as they stand in the text, before a form says what they mean. Main entry: OperandReader.
#pragma once

#include "emulator/ptx/literal.h"
#include "emulator/ptx/scopes.h"
#include "emulator/ptx/token_cursor.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fp8jit::emulator {

struct Operand {
  enum class Kind : std::uint8_t {
    Register,
    Literal,
    Variable, ///< its address plus `addend`
    Special,
    Sink, ///< `_`
    Name, ///< none of the others: a label or function, or an error
    Vector,
  };
  Kind kind = Kind::Name;
  bool isAddress = false;      ///< in brackets; `addend` is the displacement
  bool isNegated = false;      ///< `!`
  bool hasCoordinates = false; ///< `[map, {x, y}]`: the coordinates are the parts from firstPart
  bool hasPair = false;        ///< `|` and the operand at `pair` follow
  RegisterName reg;
  Literal literal;
  const Variable *variable = nullptr;
  Special special = Special::TidX;
  unsigned specialBits = 32;
  std::int64_t addend = 0;
  std::string_view name;     ///< the word
  std::size_t pair = 0;      ///< index in OperandList::parts
  std::size_t firstPart = 0; ///< of a Vector or of coordinates, in OperandList::parts
  std::size_t partCount = 0;
};

/// The operands of one instruction; `parts` holds the elements of vectors and the second members of
/// pairs.
struct OperandList {
  std::vector<Operand> operands, parts;

  void clear() {
    operands.clear();
    parts.clear();
  }
};

/// Reads `operand, operand, ... ;` at the cursor, the semicolon included. Returns false after a
/// failure (see TokenCursor).
bool readOperands(TokenCursor &cursor, ScopeStack &scopes, OperandList &list);

/// The operand as a message names it.
std::string describeOperand(const Operand &operand);

} // namespace fp8jit::emulator
