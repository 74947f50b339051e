// The cases of tests/emulator/forms/data: one or more PTX instructions with inputs and expected
// outputs, worked out from the PTX ISA. Main entries: readCases, kernelOf. The format is described
// in the folder's README.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fp8jit::emulator::testing {

/// Values of one register, thread by thread; thread t takes values[t % values.size()].
struct LaneValues {
  std::string name; ///< of the register without "%"; of an input also a, b or c
  std::vector<std::uint64_t> values;
  std::vector<bool> isAnyNan;      ///< expected: every NaN of the register's format will do
  std::uint64_t toleranceUlps = 0; ///< expected: how far the pattern may be off
};

/// One case.
struct FormCase {
  std::string where;  ///< file and line
  std::string opcode; ///< the opcode under test; it stands in the body
  std::string title;
  std::string arch = "90a";
  unsigned threads = 32; ///< of a block
  unsigned blocks = 1;   ///< of the grid, which is one cluster
  std::vector<LaneValues> inputs, outputs;
  std::string body;
  std::string module; ///< declarations in front of the kernel
};

/// Reads the cases of a file; `problem` says what is wrong with it, or is empty.
std::vector<FormCase> readCases(const std::string &path, std::string &problem);

/// Bytes of each thread's cell in global and in shared memory.
inline constexpr unsigned kCellBytes = 64;

/// The PTX text of the case's kernel; parameters: inputs, outputs and cells, as addresses.
/// `bodyLine` becomes the line of the body's first line.
std::string kernelOf(const FormCase &formCase, unsigned &bodyLine);

/// Bits of a register of the harness, and whether it holds a floating-point value.
struct RegisterInfo {
  unsigned bits = 0; ///< 1 for a predicate, 0 for an unknown name
  bool isFloat = false;
};
RegisterInfo registerInfo(std::string_view name);

} // namespace fp8jit::emulator::testing
