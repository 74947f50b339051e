// The part of BodyDecoder that reads directives and declarations in a function (PTX ISA 5.4, 11).
#include "emulator/ptx/body_decoder.h"
#include "emulator/ptx/type_info.h"

namespace fp8jit::emulator {

bool BodyDecoder::readDirective(Frame &frame) {
  if (cursor_.isWord(".loc") || cursor_.isWord(".file")) {
    cursor_.skipLine();
    return true;
  }
  if (cursor_.skipWord(".reg")) {
    return readRegisters(frame);
  }
  if (cursor_.skipWord(".local") || cursor_.skipWord(".param")) {
    return readVariables(frame, Space::Local);
  }
  if (cursor_.skipWord(".shared")) {
    return readVariables(frame, Space::Shared);
  }
  if (cursor_.skipWord(".pragma")) {
    cursor_.next();
    return cursor_.expectPunct(';');
  }
  return cursor_.fail("unsupported directive in a function, found " + cursor_.found());
}

/// `.reg .b32 %r<10>, a, b;`
bool BodyDecoder::readRegisters(Frame &frame) {
  std::string_view typeWord;
  if (!cursor_.expectWord(typeWord, "a register type")) {
    return false;
  }
  const std::optional<Type> type = typeFromName(typeWord.substr(typeWord[0] == '.' ? 1 : 0));
  if (!type) {
    return cursor_.fail("unsupported register type \"" + std::string(typeWord) + "\"");
  }
  do {
    std::string_view name;
    if (!cursor_.expectWord(name, "a register name")) {
      return false;
    }
    std::uint64_t count = 1;
    const bool isRange = cursor_.skipPunct('<');
    if (isRange && (!cursor_.expectNumber(count, kMaxRegisters, "a register count") ||
                    !cursor_.expectPunct('>'))) {
      return false;
    }
    const RegisterName first{
        *type, builder_->addRegisters(*type == Type::B128 ? Type::B64 : *type,
                                      static_cast<std::uint32_t>(count) * registersOf(*type))};
    if (first.ref == kNoSlot) {
      return cursor_.fail("more than " + std::to_string(kMaxRegisters) + " registers");
    }
    const bool isNew =
        isRange ? frame.scopes.declareRegisters(name, static_cast<std::uint32_t>(count), first)
                : frame.scopes.declareRegister(name, first);
    if (!isNew) {
      return cursor_.fail("register \"" + std::string(name) + "\" is declared twice");
    }
  } while (cursor_.skipPunct(','));
  return cursor_.expectPunct(';');
}

bool BodyDecoder::readVariables(Frame &frame, Space space) {
  Declaration declaration;
  if (!readDeclaration(cursor_, declaration)) {
    return false;
  }
  for (;;) {
    if (declaration.isUnsized) {
      return cursor_.fail(declaration.line,
                          "array \"" + std::string(declaration.name) + "\" has no size");
    }
    const bool isOnStack = space != Space::Shared && builder_->isOnStack();
    const std::uint64_t offset =
        space == Space::Shared ? builder_->addShared(declaration.sizeBytes(), declaration.align)
                               : builder_->addLocal(declaration.sizeBytes(), declaration.align);
    if (!frame.scopes.declareVariable({.name = declaration.name,
                                       .line = declaration.line,
                                       .space = space,
                                       .type = declaration.type,
                                       .sizeBytes = declaration.sizeBytes(),
                                       .align = declaration.align,
                                       .offset = offset,
                                       .base = isOnStack ? builder_->stackPointer() : kNoSlot})) {
      return cursor_.fail(declaration.line,
                          "\"" + std::string(declaration.name) + "\" is declared twice");
    }
    if (!cursor_.skipPunct(',')) {
      return cursor_.expectPunct(';');
    }
    if (!readNextDeclarator(cursor_, declaration)) {
      return false;
    }
  }
}

} // namespace fp8jit::emulator
