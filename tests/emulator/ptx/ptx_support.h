// Helpers of the front-end tests: small texts around one statement, files of real PTX.
#pragma once

#include "emulator/ptx/program.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fp8jit::emulator::testing {

/// Names of the NVRTC-made files in tests/emulator/data.
const std::vector<std::string> &realPtxFiles();

/// The text of tests/emulator/data/`name`.
std::string readPtxFile(const std::string &name);

/// A module for sm_89 with `body` as the only kernel's body; the registers %p, %h (16 bits), %r,
/// %f, %rd, %d and %hf (f16) of ten each, a parameter block, and some variables are there. The
/// first line of `body` is line kBodyLine.
std::string moduleWith(const std::string &body, const std::string &target = "sm_89");

inline constexpr std::uint32_t kBodyLine = 9;

/// The kernel of moduleWith(body), every register with a slot of its own; a failed load ends
/// the test program, since callers index into the code.
Kernel decodeKernel(const std::string &body, const std::string &target = "sm_89");

/// What loading `text` for `arch` is refused with; an empty message when it is not.
PtxError loadError(const std::string &text, const std::string &arch = "89");

/// The refusal of a kernel with `body`.
PtxError bodyError(const std::string &body, const std::string &target = "sm_89");

/// The bits of the constant in slot `slot`; fails the test when there is none.
std::uint64_t constantIn(const Kernel &kernel, std::uint32_t slot);

/// The offset of the shared address in slot `slot`; fails the test when there is none.
std::uint32_t sharedOffsetIn(const Kernel &kernel, std::uint32_t slot);

/// Operand `index` of an instruction, destinations first.
std::uint32_t operandOf(const Kernel &kernel, const Instruction &instruction, std::uint32_t index);

} // namespace fp8jit::emulator::testing
