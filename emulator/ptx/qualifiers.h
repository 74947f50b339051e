// What the keywords of an opcode mean. Used by the form matcher alone.
#pragma once

#include "emulator/ptx/program.h"

#include <span>
#include <string_view>

namespace fp8jit::emulator {

/// A qualifier that is one of several choices.
struct Keyword {
  std::string_view group; ///< the name behind @ in forms.h
  std::string_view name;  ///< words that belong together are joined by dots: `global.shared::cta`
  int value = 0;          ///< enumerator or count; its meaning depends on the group
  int value2 = 0;         ///< of a direction: the space of the source
};

/// The keywords of `group`; keywords without an effect on results (cache operators) are in groups
/// as well. A longer keyword stands before those that it contains.
std::span<const Keyword> keywordsOf(std::string_view group);

/// Notes the meaning of a keyword in `instruction`.
void applyKeyword(const Keyword &keyword, Instruction &instruction);

/// If `word` is a shape m64nNkK of wgmma with N a multiple of 8 up to 256 and `kK` in the list
/// `depths`, notes it and returns true.
bool applyWgmmaShape(std::string_view word, std::string_view depths, Modifiers &mods);

/// Notes the meaning of a qualifier that rows name literally; words without a meaning of their own
/// (`sync`, `lo`) change nothing.
void applyWord(std::string_view word, Instruction &instruction);

} // namespace fp8jit::emulator
