// Single faults put into the PTX of a kernel. Main type: Mutation.
//
// Kernels mark instructions with comments, "// site NAME", which the compiler passes on. A mutation
// changes the first instruction of some opcode behind each comment of a name (loops that the
// compiler unrolls and functions that it inlines repeat them). Lines keep their numbers.
#pragma once

#include <string>
#include <vector>

namespace fp8jit::testing {

/// One fault and where the emulator has to point at.
struct Mutation {
  enum class Edit {
    Remove,      ///< the instruction
    SkipWait,    ///< mbarrier.try_wait: its answer is yes, unasked
    FlipParity,  ///< mbarrier.try_wait: asks for the other parity
    LastOperand, ///< becomes `text`
    Replace,     ///< `opcode`, where it begins, by `text`
  };

  std::string site;
  Edit edit = Edit::Remove;
  std::string opcode; ///< the instruction begins with it, or an inner qualifier
  std::string text;
  /// The report contains this ...
  std::string found;
  /// ... and the PTX line of an instruction between the comment of this site and the next site;
  /// empty: of `site`.
  std::string at;

  /// "remove fence.proxy.async at 'tile to the async proxy'".
  std::string name() const;
};

/// The PTX with the fault. Empty if the site or the instruction is not there, which is the test's
/// mistake.
std::string mutate(const std::string &ptx, const Mutation &mutation);

/// Whether the report names a line of the PTX that belongs to the site.
bool namesSite(const std::string &report, const std::string &ptx, const std::string &site);

// Short forms for tables.

inline Mutation removed(std::string opcode, std::string site, std::string found,
                        std::string at = "") {
  return {std::move(site),  Mutation::Edit::Remove, std::move(opcode), "",
          std::move(found), std::move(at)};
}
inline Mutation skippedWait(std::string site, std::string found, std::string at = "") {
  return {std::move(site), Mutation::Edit::SkipWait, "mbarrier.try_wait", "", std::move(found),
          std::move(at)};
}
inline Mutation flippedParity(std::string site, std::string found, std::string at = "") {
  return {std::move(site), Mutation::Edit::FlipParity, "mbarrier.try_wait", "", std::move(found),
          std::move(at)};
}
/// The count of mbarrier.init, the bytes of expect_tx or of a bulk copy, the number of wait_group.
inline Mutation operand(std::string opcode, std::string site, std::string value, std::string found,
                        std::string at = "") {
  return {std::move(site),   Mutation::Edit::LastOperand,
          std::move(opcode), std::move(value),
          std::move(found),  std::move(at)};
}
inline Mutation replaced(std::string from, std::string to, std::string site, std::string found,
                         std::string at = "") {
  return {std::move(site), Mutation::Edit::Replace, std::move(from),
          std::move(to),   std::move(found),        std::move(at)};
}

} // namespace fp8jit::testing
