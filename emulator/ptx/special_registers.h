// Names of the special registers (PTX ISA section 10). Main entry: findSpecialRegister.
#pragma once

#include "emulator/ptx/program.h"

#include <string_view>

namespace fp8jit::emulator {

/// A name and what it stands for.
struct SpecialRegister {
  std::string_view name;
  Special special = Special::TidX;
  unsigned bits = 32; ///< 1 for a predicate
};

/// The special register of that name (with its %), or null.
const SpecialRegister *findSpecialRegister(std::string_view name);

/// Whether its value changes while a thread runs.
constexpr bool changesWithTime(Special special) {
  return special >= Special::Clock;
}

} // namespace fp8jit::emulator
