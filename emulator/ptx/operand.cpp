// A recursive descent over one operand list: registers, numbers, names, addresses, vectors, pairs.
// Names are looked up here, since what a name is decides what may follow it.
#include "emulator/ptx/operand.h"

#include "emulator/ptx/special_registers.h"
#include "emulator/ptx/type_info.h"

namespace fp8jit::emulator {

namespace {

/// Most elements of a vector operand; mma needs 4, the text may not make us allocate more.
constexpr std::size_t kMaxElements = 256;

class OperandReader {
public:
  OperandReader(TokenCursor &cursor, ScopeStack &scopes, OperandList &list)
      : cursor_(cursor), scopes_(scopes), list_(list) {}

  bool readAll() {
    if (cursor_.skipPunct(';')) {
      return true;
    }
    do {
      Operand operand;
      if (!readOperand(operand)) {
        return false;
      }
      list_.operands.push_back(operand);
    } while (cursor_.skipPunct(','));
    return cursor_.expectPunct(';');
  }

private:
  bool readOperand(Operand &operand) {
    if (cursor_.isPunct('[')) {
      return readAddress(operand);
    }
    if (cursor_.isPunct('{')) {
      return readVector(operand);
    }
    if (!readScalar(operand)) {
      return false;
    }
    if (cursor_.skipPunct('|')) {
      Operand second;
      if (!readScalar(second)) {
        return false;
      }
      operand.hasPair = true;
      operand.pair = list_.parts.size();
      list_.parts.push_back(second);
    }
    return true;
  }

  bool readVector(Operand &operand) {
    operand.kind = Operand::Kind::Vector;
    return readElements(operand);
  }

  /// `{a, b}`, at its brace.
  bool readElements(Operand &operand) {
    cursor_.next();
    std::vector<Operand> elements;
    do {
      Operand element;
      if (!readScalar(element)) {
        return false;
      }
      elements.push_back(element);
      if (elements.size() > kMaxElements) {
        return cursor_.fail("vector of more than " + std::to_string(kMaxElements) + " elements");
      }
    } while (cursor_.skipPunct(','));
    operand.firstPart = list_.parts.size();
    operand.partCount = elements.size();
    list_.parts.insert(list_.parts.end(), elements.begin(), elements.end());
    return cursor_.expectPunct('}');
  }

  bool readAddress(Operand &operand) {
    cursor_.next();
    if (!readScalar(operand)) {
      return false;
    }
    if (operand.kind == Operand::Kind::Register && !readAddend(operand)) {
      return false;
    }
    operand.isAddress = true;
    if (cursor_.skipPunct(',')) {
      operand.hasCoordinates = true;
      if (!cursor_.isPunct('{')) {
        return cursor_.fail("expected coordinates in braces, found " + cursor_.found());
      }
      if (!readElements(operand)) {
        return false;
      }
    }
    return cursor_.expectPunct(']');
  }

  bool readScalar(Operand &operand) {
    operand.isNegated = cursor_.skipPunct('!');
    if (cursor_.isPunct('-') || cursor_.peek().kind == TokenKind::Number) {
      return readLiteral(operand);
    }
    std::string_view word;
    if (!cursor_.expectWord(word, "an operand")) {
      return false;
    }
    return resolve(word, operand);
  }

  bool readLiteral(Operand &operand) {
    const bool isNegative = cursor_.skipPunct('-');
    const std::optional<Literal> literal =
        cursor_.peek().kind == TokenKind::Number ? parseLiteral(cursor_.peek().text) : std::nullopt;
    if (!literal) {
      return cursor_.fail("expected a number, found " + cursor_.found());
    }
    cursor_.next();
    operand.kind = Operand::Kind::Literal;
    operand.literal = isNegative ? negated(*literal) : *literal;
    return true;
  }

  bool resolve(std::string_view word, Operand &operand) {
    operand.name = word;
    operand.reg = scopes_.findRegister(word);
    if (operand.reg.type != Type::None) {
      operand.kind = Operand::Kind::Register;
      return true;
    }
    if (word == "_") {
      operand.kind = Operand::Kind::Sink;
      return true;
    }
    if (word == "WARP_SZ") {
      operand.kind = Operand::Kind::Literal;
      operand.literal.bits = 32;
      return true;
    }
    operand.variable = scopes_.findVariable(word);
    if (operand.variable != nullptr) {
      operand.kind = Operand::Kind::Variable;
      return readAddend(operand);
    }
    if (const SpecialRegister *special = findSpecialRegister(word)) {
      operand.kind = Operand::Kind::Special;
      operand.special = special->special;
      operand.specialBits = special->bits;
      return true;
    }
    if (word.starts_with("%envreg")) { // what the driver would put there: nothing
      operand.kind = Operand::Kind::Literal;
      return true;
    }
    if (word[0] == '%') {
      return cursor_.fail("unknown register \"" + std::string(word) + "\"");
    }
    operand.kind = Operand::Kind::Name;
    return true;
  }

  /// An optional `+n`, `-n` or `+-n`.
  bool readAddend(Operand &operand) {
    bool isNegative = cursor_.skipPunct('-');
    if (!isNegative && !cursor_.skipPunct('+')) {
      return true;
    }
    isNegative = isNegative || cursor_.skipPunct('-');
    std::uint64_t value = 0;
    if (!cursor_.expectNumber(value, std::uint64_t{1} << 62, "a displacement")) {
      return false;
    }
    operand.addend =
        isNegative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
    return true;
  }

  TokenCursor &cursor_;
  ScopeStack &scopes_;
  OperandList &list_;
};

} // namespace

bool readOperands(TokenCursor &cursor, ScopeStack &scopes, OperandList &list) {
  list.clear();
  return OperandReader(cursor, scopes, list).readAll();
}

std::string describeOperand(const Operand &operand) {
  const std::string name = "\"" + std::string(operand.name) + "\"";
  switch (operand.kind) {
  case Operand::Kind::Register:
    return "register " + name + " of type ." + std::string(typeName(operand.reg.type));
  case Operand::Kind::Literal:
    return "a number";
  case Operand::Kind::Variable:
    return "variable " + name;
  case Operand::Kind::Special:
    return "special register " + name;
  case Operand::Kind::Sink:
    return "\"_\"";
  case Operand::Kind::Name:
    return "unknown name " + name;
  case Operand::Kind::Vector:
    return "a vector of " + std::to_string(operand.partCount) + " elements";
  }
  return name;
}

} // namespace fp8jit::emulator
