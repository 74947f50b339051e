// The module level of PTX: directives, variables and the headers of functions. Bodies are only
// marked; body_decoder.h reads them. Main entry: parseModule.
#pragma once

#include "emulator/ptx/declaration.h"
#include "emulator/ptx/scopes.h"
#include "emulator/ptx/target.h"

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fp8jit::emulator {

/// An entry or a device function.
struct Function {
  std::string_view name;
  std::uint32_t line = 0;
  bool isEntry = false;
  bool hasBody = false;
  bool hasRegisterParameters = false; ///< the old style, which calls do not support
  std::vector<Declaration> parameters, results;
  std::size_t bodyToken = 0; ///< the one behind the opening brace
  std::uint32_t minBlocksPerSm = 0, maxRegisters = 0, maxClusterRank = 0;
  std::uint32_t maxBlock[3] = {0, 0, 0}; ///< .maxntid
  std::uint32_t requiredThreads[3] = {0, 0, 0}, requiredCluster[3] = {0, 0, 0};
  bool explicitCluster = false, blocksAreClusters = false, isNoReturn = false;
  bool isRecursive = false; ///< its calls lead back to it or to a function that is recursive
};

/// A text whose function bodies are still tokens.
struct ParsedModule {
  Module module; ///< without kernels
  VariableMap variables;
  std::unordered_map<std::string_view, Function> functions;
  std::vector<std::string_view> entries; ///< with a body, in the text's order
  Arch target;                           ///< sm_89 and the like
};

/// Reads all of the text at `cursor` for a device of architecture `arch` ("89", "90a"). Returns
/// false after a failure.
bool parseModule(TokenCursor &cursor, std::string_view arch, ParsedModule &parsed);

} // namespace fp8jit::emulator
