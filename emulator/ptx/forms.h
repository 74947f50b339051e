// The instruction forms that the emulator takes, as data. Main entries: instructionForms (the
// table) and matchOpcode; a row is the parser, the checker and the documentation of its form.
//
// Qualifiers of a row, separated by blanks, in any order in the text except that types keep theirs:
//   word          must be there                     ?word        may be there
//   a.b           these words, next to each other in this order
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
//   dF            the accumulator fragment of wgmma in braces: n / 2 values of 32 bits
//   dE sE         elements in braces that make up one T
//   dp sp         predicate; sp may be negated       x|dp?       with or without a second
//   o             the sink `_`: no result            l           label
//   m             address in brackets                a           the same, without a displacement
//                 of its own in the instruction (an addition in front of it takes it)
//   sA            address in a 32- or 64-bit register
//   t             tensor map and coordinates in brackets: [map, {x, y}]
//   i i:what      immediate number; `what` is a name of operand_immediate.cpp
//   u             mask of blocks, where .multicast::cluster is there
//   c             cache policy, where .L2::cache_hint is there: checked, then dropped
//   x             a value that is checked, then dropped; then the type as above
#pragma once

#include "emulator/ptx/program.h"
#include "emulator/ptx/target.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fp8jit::emulator {

/// Which targets have a form.
struct Availability {
  /// Whether only targets with architecture-specific features have it: sm_90a, not sm_90.
  enum class Features : std::uint8_t {
    All,      ///< every target from `minArch` on
    Specific, ///< those with an `a` or `f`, from `minArch` on
    Only,     ///< the target of exactly this number with an `a`
  };
  std::uint16_t minArch = 0; ///< the number of the lowest sm_XX, 0 for all
  Features features = Features::All;

  constexpr Availability(std::uint16_t number = 0, Features set = Features::All)
      : minArch(number), features(set) {}
};

/// sm_90a and later targets with an `a`, and sm_90a alone.
inline constexpr Availability kFrom90a{90, Availability::Features::Specific};
inline constexpr Availability kOnly90a{90, Availability::Features::Only};

/// One row of the table.
struct Form {
  std::string_view mnemonic; ///< the opcode up to its first dot
  std::string_view qualifiers;
  std::string_view operands;
  Op op = Op::Invalid;
  Availability availability = {};
  /// Value of Instruction::immediate where the form decides it; of cp.async the only size, or 0.
  std::int64_t immediate = 0;
};

/// Data movement and conversion; integer and logic; floating point and comparison; loads, stores
/// and atomics; matrices; asynchronous copies; control flow and warp collectives; barriers and
/// fences.
std::span<const Form> moveForms();
std::span<const Form> integerForms();
std::span<const Form> floatForms();
std::span<const Form> memoryForms();
std::span<const Form> matrixForms();
std::span<const Form> copyForms();
std::span<const Form> controlForms();
std::span<const Form> barrierForms();

/// All of these, in the order of the description.
std::array<std::span<const Form>, 8> allForms();

/// Instruction families that exist but are refused, with the reason in `operands`.
std::span<const Form> refusedForms();

/// A row together with what the opcode's text chose in it.
struct Candidate {
  const Form *form = nullptr;
  Instruction instruction;     ///< op, types, space, modifiers, vector; operands still empty
  std::array<Type, 4> types{}; ///< T, S, A, C
  bool hasCacheHint = false;   ///< .L2::cache_hint: the operands end with a policy
};

/// Finds the rows that the opcode `text` (with its qualifiers) can be, for code of `target`.
/// Returns false and fills `message` when there is none: unknown instruction,
/// unknown qualifier, a combination that no row has, or one that needs a newer target.
bool matchOpcode(std::string_view text, const Arch &target, std::vector<Candidate> &candidates,
                 std::string &message);

/// One line per form: mnemonic, qualifiers, operands, lowest target. For documentation and tests.
std::string describeForms();

} // namespace fp8jit::emulator
