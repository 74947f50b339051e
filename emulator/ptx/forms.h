// The instruction forms that the emulator takes, as data. Main entries: instructionForms (the
// table) and matchOpcode; a row is the parser, the checker and the documentation of its form.
//
// Qualifiers of a row, separated by blanks, in any order in the text except that types keep theirs:
//   word          must be there                     ?word        may be there
//   @group        one keyword of the group          @group:a,b   only these of the group
//   T:list S:list A:list C:list                     the first, second, third, fourth type; a list
//                 holds type names and the classes int, int8, bits, any, fp8
//
// Operands of a row, separated by blanks, destinations first:
//   d s           destination, source register (a source may be an immediate, special register or
//                 the address of a variable), then the type: `T`, `S`, `W` (T of twice the width)
//                 or
//                 `:u32`; a count in front of it asks for a vector in braces; `+` behind it lets
//                 the register be wider than the type
//   dN sN         vector or scalar of T, counted by .v2, .v4 or .x1, .x2, .x4; `+` as above
//   dE sE         elements in braces that make up one T
//   dp sp         predicate; sp may be negated       x|dp?       with or without a second
//   destination m             address in brackets                i           immediate l label sA
//   address in a 32- or 64-bit register
#pragma once

#include "emulator/ptx/program.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fp8jit::emulator {

/// One row of the table.
struct Form {
  std::string_view mnemonic; ///< the opcode up to its first dot
  std::string_view qualifiers;
  std::string_view operands;
  Op op = Op::Invalid;
  std::uint16_t minArch = 0; ///< the lowest sm_XX that has it, 0 for all
  /// Value of Instruction::immediate where the form decides it; of cp.async the only size, or 0.
  std::int64_t immediate = 0;
};

/// Data movement and conversion; integer and logic; floating point; comparison; memory, atomics,
/// copies and matrices; control flow, barriers and warp collectives.
std::span<const Form> moveForms();
std::span<const Form> integerForms();
std::span<const Form> floatForms();
std::span<const Form> memoryForms();
std::span<const Form> controlForms();

/// Instruction families that exist but are refused, with the reason in `operands`.
std::span<const Form> refusedForms();

/// A row together with what the opcode's text chose in it.
struct Candidate {
  const Form *form = nullptr;
  Instruction instruction;     ///< op, types, space, modifiers, vector; operands still empty
  std::array<Type, 4> types{}; ///< T, S, A, C
};

/// Finds the rows that the opcode `text` (with its qualifiers) can be, for code of target `arch`
/// (89 for sm_89). Returns false and fills `message` when there is none: unknown instruction,
/// unknown qualifier, a combination that no row has, or one that needs a newer target.
bool matchOpcode(std::string_view text, unsigned arch, std::vector<Candidate> &candidates,
                 std::string &message);

/// One line per form: mnemonic, qualifiers, operands, lowest target. For documentation and tests.
std::string describeForms();

} // namespace fp8jit::emulator
