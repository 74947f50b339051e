// What the keywords of an opcode mean. Used by the form matcher alone.
#pragma once

#include "emulator/ptx/program.h"

#include <string_view>

namespace fp8jit::emulator {

/// If `keyword` belongs to `group` (the names after @ in forms.h), notes its meaning in
/// `instruction` and returns true. Keywords without an effect on results (cache operators, scopes,
/// memory order) belong to groups as well.
bool applyKeyword(std::string_view group, std::string_view keyword, Instruction &instruction);

/// Notes the meaning of a qualifier that rows name literally; words without a meaning of their own
/// (`sync`, `lo`) change nothing.
void applyWord(std::string_view word, Instruction &instruction);

} // namespace fp8jit::emulator
