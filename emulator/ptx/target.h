// Targets of PTX text and what runs them. Main entry: checkTarget.
#pragma once

#include <string>
#include <string_view>

namespace fp8jit::emulator {

/// The target of code, or the architecture of a device: number and variant of `sm_90a`.
struct Arch {
  unsigned number = 0;
  char variant = 0; ///< 'a', 'f' or none
};

/// `sm_90a`.
std::string describeArch(const Arch &arch);

/// Checks that a device of architecture `arch` ("89", "90a") runs code for `target` ("sm_89") and
/// gives the `code`'s target. Plain targets run on the same and newer devices; `sm_90a` on a device
/// "90a" only; `sm_100f` on devices of the same major number that are not older. Returns false with
/// a `message`.
bool checkTarget(std::string_view target, std::string_view arch, Arch &code, std::string &message);

} // namespace fp8jit::emulator
