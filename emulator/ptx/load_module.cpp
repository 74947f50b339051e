// The front end from text to program: tokens, module level, then each kernel.
#include "emulator/ptx/body_decoder.h"
#include "emulator/ptx/call_graph.h"

namespace fp8jit::emulator {

bool loadModule(std::string_view text, std::string_view arch, const LoadOptions &options,
                Module &module, PtxError &error) {
  error = {};
  if (!text.empty() && text.back() == '\0') { // the driver takes the text as a C string
    text.remove_suffix(1);
  }
  std::vector<Token> tokens;
  if (!tokenize(text, tokens, error)) {
    return false;
  }
  TokenCursor cursor(tokens, error);
  ParsedModule parsed;
  if (!parseModule(cursor, arch, parsed)) {
    return false;
  }
  markRecursiveFunctions(cursor, parsed);
  OpcodeCache opcodes;
  BodyDecoder decoder(parsed, cursor, opcodes);
  for (const std::string_view name : parsed.entries) {
    Kernel kernel;
    if (!decoder.decodeEntry(parsed.functions.at(name), options.shareSlots, kernel)) {
      return false;
    }
    parsed.module.kernels.push_back(std::move(kernel));
  }
  module = std::move(parsed.module);
  return true;
}

bool loadModule(std::string_view text, std::string_view arch, Module &module, PtxError &error) {
  return loadModule(text, arch, LoadOptions{}, module, error);
}

} // namespace fp8jit::emulator
