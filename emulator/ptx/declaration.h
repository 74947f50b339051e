// Declarations of variables and parameters. Main entries: readDeclaration, readInitializer.
#pragma once

#include "emulator/ptx/program.h"
#include "emulator/ptx/token_cursor.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace fp8jit::emulator {

/// `.align 16 .b8 name[4][8]`: what stands behind the state space of a variable or parameter.
struct Declaration {
  std::string_view name;
  std::uint32_t line = 0;
  Type type = Type::B8;
  std::uint64_t align = 1;
  std::uint64_t vectorWidth = 1;
  std::uint64_t elements = 1; ///< product of the vector width and all dimensions
  bool isUnsized = false;     ///< `name[]`; elements is then the product of the others

  std::uint64_t sizeBytes() const;
};

/// Largest variable or parameter in bytes that is taken.
inline constexpr std::uint64_t kMaxVariableBytes = std::uint64_t{1} << 36;

/// Reads a declaration up to its `=`, `,`, `;` or `)`. Returns false after a failure.
bool readDeclaration(TokenCursor &cursor, Declaration &declaration);

/// Reads another name behind a comma: `, name[4]`, with type and alignment of the first.
bool readNextDeclarator(TokenCursor &cursor, Declaration &declaration);

/// A name in an initialiser, whose address is known when the whole module is.
struct PendingRelocation {
  std::uint32_t variable = 0; ///< index in Module::globals of the initialised one
  std::uint64_t offset = 0;
  std::string_view symbol;
  std::uint32_t line = 0;
  std::int64_t addend = 0;
};

/// Reads what follows `=` into `variable.initial`; names go to `pending` for variable `index`. An
/// unsized array gets its size from the values.
bool readInitializer(TokenCursor &cursor, Declaration &declaration, GlobalVariable &variable,
                     std::uint32_t index, std::vector<PendingRelocation> &pending);

} // namespace fp8jit::emulator
