// PTX ISA 5.4 (variables). Initialisers may nest braces as the dimensions do; since every level
// must be complete except the last values, the bytes are the values in order.
#include "emulator/ptx/declaration.h"

#include "emulator/ptx/literal.h"
#include "emulator/ptx/type_info.h"

namespace fp8jit::emulator {

std::uint64_t Declaration::sizeBytes() const {
  return elements * (typeBits(type) / 8);
}

static bool readAlign(TokenCursor &cursor, std::uint64_t &align) {
  constexpr std::uint64_t kMaxAlign = 1U << 16;
  if (!cursor.expectNumber(align, kMaxAlign, "an alignment")) {
    return false;
  }
  if (align == 0 || (align & (align - 1)) != 0) {
    return cursor.fail("alignment " + std::to_string(align) + " is not a power of two");
  }
  return true;
}

static bool readDimensions(TokenCursor &cursor, Declaration &declaration) {
  while (cursor.skipPunct('[')) {
    if (cursor.skipPunct(']')) {
      declaration.isUnsized = true;
      continue;
    }
    std::uint64_t count = 0;
    if (!cursor.expectNumber(count, kMaxVariableBytes, "an array size") ||
        !cursor.expectPunct(']')) {
      return false;
    }
    if (count == 0 || count > kMaxVariableBytes / declaration.elements) {
      return cursor.fail("array size " + std::to_string(count) + " of \"" +
                         std::string(declaration.name) + "\" is out of range");
    }
    declaration.elements *= count;
  }
  return true;
}

bool readDeclaration(TokenCursor &cursor, Declaration &declaration) {
  declaration = {};
  std::uint64_t align = 0;
  bool hasType = false;
  while (cursor.peek().kind == TokenKind::Word && cursor.peek().text[0] == '.') {
    const std::string_view word = cursor.peek().text.substr(1);
    const std::optional<Type> type = typeFromName(word);
    if (type && *type != Type::Pred && !hasType) {
      declaration.type = *type;
      hasType = true;
    } else if (word == "v2" || word == "v4") {
      declaration.vectorWidth = word == "v2" ? 2 : 4;
    } else if (word == "align") {
      cursor.next();
      if (!readAlign(cursor, align)) {
        return false;
      }
      continue;
    } else if (word == "ptr") {
      // What the pointer points to says nothing about the parameter itself.
      cursor.next();
      while (cursor.isWord(".global") || cursor.isWord(".shared") || cursor.isWord(".local") ||
             cursor.isWord(".const")) {
        cursor.next();
      }
      std::uint64_t pointee = 0;
      if (cursor.skipWord(".align") && !readAlign(cursor, pointee)) {
        return false;
      }
      continue;
    } else {
      return cursor.fail("unsupported declaration, found " + cursor.found());
    }
    cursor.next();
  }
  if (!hasType) {
    return cursor.fail("declaration without a type, found " + cursor.found());
  }
  declaration.elements = declaration.vectorWidth;
  declaration.align =
      align != 0 ? align : declaration.vectorWidth * (typeBits(declaration.type) / 8);
  declaration.line = cursor.peek().line;
  return cursor.expectWord(declaration.name, "a name") && readDimensions(cursor, declaration);
}

bool readNextDeclarator(TokenCursor &cursor, Declaration &declaration) {
  declaration.elements = declaration.vectorWidth;
  declaration.isUnsized = false;
  declaration.line = cursor.peek().line;
  return cursor.expectWord(declaration.name, "a name") && readDimensions(cursor, declaration);
}

namespace {

class InitializerReader {
public:
  InitializerReader(TokenCursor &cursor, const Declaration &declaration, GlobalVariable &variable,
                    std::uint32_t index, std::vector<PendingRelocation> &pending)
      : cursor_(cursor), declaration_(declaration), variable_(variable), index_(index),
        pending_(pending) {}

  bool read() {
    std::uint64_t depth = 0;
    do {
      while (cursor_.skipPunct('{')) {
        ++depth;
      }
      if (!(depth > 0 && cursor_.isPunct('}')) && !readValue()) {
        return false;
      }
      while (depth > 0 && cursor_.skipPunct('}')) {
        --depth;
      }
    } while (depth > 0 && cursor_.skipPunct(','));
    return depth == 0 || cursor_.fail("expected \"}\", found " + cursor_.found());
  }

private:
  bool readValue() {
    const std::uint64_t offset = variable_.initial.size();
    if (!declaration_.isUnsized && offset >= declaration_.sizeBytes()) {
      return cursor_.fail("more initial values than \"" + std::string(declaration_.name) +
                          "\" has elements");
    }
    if (cursor_.peek().kind == TokenKind::Word) {
      return readSymbol(offset);
    }
    const bool isNegative = cursor_.skipPunct('-');
    const std::optional<Literal> literal =
        cursor_.peek().kind == TokenKind::Number ? parseLiteral(cursor_.peek().text) : std::nullopt;
    const std::optional<std::uint64_t> bits =
        literal ? literalBits(isNegative ? negated(*literal) : *literal, declaration_.type)
                : std::nullopt;
    if (!bits) {
      return cursor_.fail("expected an initial value of type ." +
                          std::string(typeName(declaration_.type)) + ", found " + cursor_.found());
    }
    cursor_.next();
    append(*bits);
    return true;
  }

  /// `name`, `name+8`, `generic(name)` or `generic(name)+8`.
  bool readSymbol(std::uint64_t offset) {
    PendingRelocation relocation{
        .variable = index_, .offset = offset, .symbol = {}, .line = cursor_.peek().line};
    const bool isGeneric = cursor_.skipWord("generic");
    if ((isGeneric && !cursor_.expectPunct('(')) ||
        !cursor_.expectWord(relocation.symbol, "a variable")) {
      return false;
    }
    std::uint64_t addend = 0;
    const auto readAddend = [&] {
      return !cursor_.skipPunct('+') ||
             cursor_.expectNumber(addend, kMaxVariableBytes, "a displacement");
    };
    if (!readAddend() || (isGeneric && (!cursor_.expectPunct(')') || !readAddend()))) {
      return false;
    }
    if (typeBits(declaration_.type) != 64) {
      return cursor_.fail(relocation.line, "the address of \"" + std::string(relocation.symbol) +
                                               "\" needs elements of 64 bits");
    }
    relocation.addend = static_cast<std::int64_t>(addend);
    pending_.push_back(relocation);
    append(0);
    return true;
  }

  void append(std::uint64_t bits) {
    for (unsigned i = 0; i < typeBits(declaration_.type) / 8; ++i) {
      variable_.initial.push_back(static_cast<std::uint8_t>(bits >> (8 * i)));
    }
  }

  TokenCursor &cursor_;
  const Declaration &declaration_;
  GlobalVariable &variable_;
  std::uint32_t index_;
  std::vector<PendingRelocation> &pending_;
};

} // namespace

bool readInitializer(TokenCursor &cursor, Declaration &declaration, GlobalVariable &variable,
                     std::uint32_t index, std::vector<PendingRelocation> &pending) {
  if (!InitializerReader(cursor, declaration, variable, index, pending).read()) {
    return false;
  }
  if (declaration.isUnsized) {
    const std::uint64_t rowBytes = declaration.sizeBytes();
    const std::uint64_t rows = (variable.initial.size() + rowBytes - 1) / rowBytes;
    declaration.elements *= rows;
    declaration.isUnsized = false;
  }
  return true;
}

} // namespace fp8jit::emulator
