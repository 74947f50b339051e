// PTX ISA section 11 (directives). Function bodies are skipped by their braces and decoded later,
// a kernel at a time and a device function at each of its calls.
#include "emulator/ptx/module_parser.h"

#include "emulator/ptx/target.h"
#include "emulator/ptx/tuning_directives.h"
#include "emulator/ptx/type_info.h"

#include <algorithm>
#include <charconv>

namespace fp8jit::emulator {

namespace {

class ModuleParser {
public:
  ModuleParser(TokenCursor &cursor, std::string_view arch, ParsedModule &parsed)
      : cursor_(cursor), arch_(arch), parsed_(parsed) {}

  bool run() {
    if (!readHeader()) {
      return false;
    }
    while (!cursor_.isAtEnd()) {
      if (!readDirective()) {
        return false;
      }
    }
    return resolveRelocations();
  }

private:
  /// `.version 9.0 .target sm_89 .address_size 64`, in this order.
  bool readHeader() {
    if (!cursor_.skipWord(".version")) {
      return cursor_.fail("expected .version first, found " + cursor_.found());
    }
    if (!readVersion()) {
      return false;
    }
    if (!cursor_.skipWord(".target")) {
      return cursor_.fail("expected .target behind .version, found " + cursor_.found());
    }
    const std::uint32_t line = cursor_.peek().line;
    std::string_view target;
    if (!cursor_.expectWord(target, "a target")) {
      return false;
    }
    std::string message;
    if (!checkTarget(target, arch_, parsed_.target, message)) {
      return cursor_.fail(line, message);
    }
    parsed_.module.target = std::string(target);
    while (cursor_.skipPunct(',')) {
      std::string_view option;
      if (!cursor_.expectWord(option, "a target option")) {
        return false;
      }
    }
    std::uint64_t bits = 64;
    if (cursor_.skipWord(".address_size") && !cursor_.expectNumber(bits, 64, "an address size")) {
      return false;
    }
    return bits == 64 || cursor_.fail("address size " + std::to_string(bits) + " is not 64");
  }

  bool readVersion() {
    constexpr int kNewestMajor = 9;
    constexpr int kNewestMinor = 1;
    const std::string_view text = cursor_.peek().text;
    const std::size_t dot = text.find('.');
    int &major = parsed_.module.ptxMajor;
    int &minor = parsed_.module.ptxMinor;
    const char *end = text.data() + text.size();
    const bool isNumber =
        cursor_.peek().kind == TokenKind::Number && dot != std::string_view::npos &&
        std::from_chars(text.data(), text.data() + dot, major).ptr == text.data() + dot &&
        std::from_chars(text.data() + dot + 1, end, minor).ptr == end && dot + 1 < text.size();
    if (!isNumber) {
      return cursor_.fail("expected a version like 9.0, found " + cursor_.found());
    }
    if (major > kNewestMajor || (major == kNewestMajor && minor > kNewestMinor)) {
      return cursor_.fail("PTX version " + std::string(text) + " is newer than 9.1");
    }
    cursor_.next();
    return true;
  }

  bool readDirective() {
    bool isExtern = false;
    while (cursor_.isWord(".extern") || cursor_.isWord(".visible") || cursor_.isWord(".weak") ||
           cursor_.isWord(".common")) {
      isExtern = isExtern || cursor_.isWord(".extern");
      cursor_.next();
    }
    if (cursor_.skipWord(".entry")) {
      return readFunction(true);
    }
    if (cursor_.skipWord(".func")) {
      return readFunction(false);
    }
    if (cursor_.isWord(".file") || cursor_.isWord(".loc")) {
      cursor_.skipLine();
      return true;
    }
    if (cursor_.skipWord(".section")) {
      cursor_.next();
      return cursor_.skipBlock();
    }
    if (cursor_.skipWord(".pragma")) {
      cursor_.next();
      return cursor_.expectPunct(';');
    }
    if (cursor_.skipWord(".global")) {
      return readGlobals(Space::Global, isExtern);
    }
    if (cursor_.skipWord(".const")) {
      return readGlobals(Space::Const, isExtern);
    }
    if (cursor_.skipWord(".shared")) {
      return readShared(isExtern);
    }
    return cursor_.fail("unsupported directive, found " + cursor_.found());
  }

  bool declare(const Variable &variable) {
    return parsed_.variables.try_emplace(variable.name, variable).second ||
           cursor_.fail(variable.line, "\"" + std::string(variable.name) + "\" is declared twice");
  }

  bool readGlobals(Space space, bool isExtern) {
    Declaration declaration;
    if (!readDeclaration(cursor_, declaration)) {
      return false;
    }
    for (;;) {
      if (isExtern) {
        return cursor_.fail(declaration.line, "variable \"" + std::string(declaration.name) +
                                                  "\" is extern and has no definition");
      }
      if (!defineGlobal(space, declaration)) {
        return false;
      }
      if (!cursor_.skipPunct(',')) {
        return cursor_.expectPunct(';');
      }
      if (!readNextDeclarator(cursor_, declaration)) {
        return false;
      }
    }
  }

  bool defineGlobal(Space space, Declaration &declaration) {
    const auto index = static_cast<std::uint32_t>(parsed_.module.globals.size());
    GlobalVariable global;
    global.name = std::string(declaration.name);
    global.align = static_cast<std::uint32_t>(declaration.align);
    global.isConst = space == Space::Const;
    if (cursor_.skipPunct('=') && !readInitializer(cursor_, declaration, global, index, pending_)) {
      return false;
    }
    if (declaration.isUnsized) {
      return cursor_.fail(declaration.line, "array \"" + global.name + "\" has no size");
    }
    global.sizeBytes = declaration.sizeBytes();
    parsed_.module.globals.push_back(std::move(global));
    return declare({.name = declaration.name,
                    .line = declaration.line,
                    .space = space,
                    .type = declaration.type,
                    .sizeBytes = declaration.sizeBytes(),
                    .align = declaration.align,
                    .offset = 0,
                    .global = index});
  }

  bool readShared(bool isExtern) {
    Declaration declaration;
    if (!readDeclaration(cursor_, declaration)) {
      return false;
    }
    for (;;) {
      if (!isExtern && declaration.isUnsized) {
        return cursor_.fail(declaration.line,
                            "array \"" + std::string(declaration.name) + "\" has no size");
      }
      if (!declare({.name = declaration.name,
                    .line = declaration.line,
                    .space = Space::Shared,
                    .type = declaration.type,
                    .sizeBytes = isExtern ? 0 : declaration.sizeBytes(),
                    .align = declaration.align,
                    .isDynamicShared = isExtern,
                    .isUnplaced = !isExtern})) {
        return false;
      }
      if (!cursor_.skipPunct(',')) {
        return cursor_.expectPunct(';');
      }
      if (!readNextDeclarator(cursor_, declaration)) {
        return false;
      }
    }
  }

  /// `(.param .u64 a, .param .u32 b)`, at its parenthesis.
  bool readParameters(Function &function, std::vector<Declaration> &parameters) {
    cursor_.next();
    if (cursor_.skipPunct(')')) {
      return true;
    }
    do {
      const bool isRegister = cursor_.skipWord(".reg");
      function.hasRegisterParameters = function.hasRegisterParameters || isRegister;
      if (!isRegister && !cursor_.skipWord(".param")) {
        return cursor_.fail("expected .param, found " + cursor_.found());
      }
      Declaration declaration;
      if (!readDeclaration(cursor_, declaration)) {
        return false;
      }
      if (declaration.isUnsized && function.isEntry) {
        return cursor_.fail("parameter \"" + std::string(declaration.name) + "\" has no size");
      }
      parameters.push_back(declaration);
    } while (cursor_.skipPunct(','));
    return cursor_.expectPunct(')');
  }

  bool readFunction(bool isEntry) {
    Function function;
    function.isEntry = isEntry;
    if (!isEntry && cursor_.isPunct('(') && !readParameters(function, function.results)) {
      return false;
    }
    function.line = cursor_.peek().line;
    if (!cursor_.expectWord(function.name, "a function name") ||
        (cursor_.isPunct('(') && !readParameters(function, function.parameters)) ||
        !readTuningDirectives(cursor_, function)) {
      return false;
    }
    if (!cursor_.skipPunct(';')) {
      function.hasBody = true;
      function.bodyToken = cursor_.position() + 1;
      if (!cursor_.skipBlock()) {
        return false;
      }
    }
    return define(function);
  }

  bool define(const Function &function) {
    const auto [entry, isNew] = parsed_.functions.try_emplace(function.name, function);
    if (!isNew && function.hasBody) {
      if (entry->second.hasBody) {
        return cursor_.fail(function.line,
                            "function \"" + std::string(function.name) + "\" is defined twice");
      }
      entry->second = function;
    }
    if (function.isEntry && function.hasBody) {
      parsed_.entries.push_back(function.name);
    }
    return true;
  }

  bool resolveRelocations() {
    for (const PendingRelocation &pending : pending_) {
      const auto found = parsed_.variables.find(pending.symbol);
      if (found == parsed_.variables.end() || found->second.space == Space::Shared) {
        return cursor_.fail(pending.line, "initial value names \"" + std::string(pending.symbol) +
                                              "\", which is no global variable");
      }
      parsed_.module.globals[pending.variable].relocations.push_back(
          {.offset = pending.offset, .global = found->second.global, .addend = pending.addend});
    }
    return true;
  }

  TokenCursor &cursor_;
  std::string_view arch_;
  ParsedModule &parsed_;
  std::vector<PendingRelocation> pending_;
};

} // namespace

bool parseModule(TokenCursor &cursor, std::string_view arch, ParsedModule &parsed) {
  return ModuleParser(cursor, arch, parsed).run();
}

} // namespace fp8jit::emulator
