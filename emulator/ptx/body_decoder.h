// Decodes the body of a kernel, with the device functions that it calls expanded in place. Main
// entry: BodyDecoder::decodeEntry.
//
// Calls. A direct call becomes a copy of the function's code with registers and labels of its own;
// its parameters are the caller's `.param` variables, which lie in local memory, and `ret` jumps
// behind the copy. Only recursive functions stand once, behind the kernel's own code, and are
// called (called_function.cpp). Indirect calls and functions without a body (printf, assert,
// malloc) are refused.
#pragma once

#include "emulator/ptx/forms.h"
#include "emulator/ptx/kernel_builder.h"
#include "emulator/ptx/module_parser.h"
#include "emulator/ptx/operand.h"

#include <initializer_list>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fp8jit::emulator {

/// What the opcodes of a module can be, each worked out once.
using OpcodeCache = std::unordered_map<std::string_view, std::vector<Candidate>>;

/// Reads function bodies into kernels, one kernel after the other.
class BodyDecoder {
public:
  /// All references outlive this.
  BodyDecoder(const ParsedModule &module, TokenCursor &cursor, OpcodeCache &opcodes)
      : module_(module), cursor_(cursor), opcodes_(opcodes) {}

  /// Decodes the kernel of `entry` into `kernel`; `shareSlots` as in KernelBuilder::finish. Returns
  /// false after a failure.
  bool decodeEntry(const Function &entry, bool shareSlots, Kernel &kernel);

private:
  /// How a body became part of the kernel.
  enum class FrameKind : std::uint8_t { Entry, Expanded, Called };
  /// One function whose body is being read.
  struct Frame {
    const Function *function;
    ScopeStack scopes;
    std::vector<std::uint32_t> returns; ///< branches that jump behind an expanded copy
    FrameKind kind;
  };
  /// A recursive function of the kernel. The caller puts the addresses of results and arguments
  /// into `arguments`; the function copies them to `formals` before it calls anything.
  struct CalledFunction {
    const Function *function;
    std::vector<std::uint32_t> arguments, formals;
    std::vector<std::uint32_t> calls; ///< instructions whose target is its first one
  };
  struct Guard {
    std::uint32_t predicate = kNoSlot;
    bool isNegated = false;
  };
  struct CallSite {
    std::uint32_t line = 0;
    std::string_view callee;
    std::vector<std::string_view> results, arguments;
  };

  bool decodeBody(Frame &frame);
  bool readStatement(Frame &frame);
  bool readDirective(Frame &frame);
  bool readRegisters(Frame &frame);
  bool readVariables(Frame &frame, Space space);
  bool readLabel(Frame &frame);
  bool readGuard(Frame &frame, Guard &guard);
  bool readInstruction(Frame &frame);
  bool bindInstruction(Frame &frame, std::size_t begin, const Guard &guard,
                       const std::vector<Candidate> &candidates);
  bool addInstruction(Frame &frame, Instruction instruction, std::string_view label,
                      std::size_t begin);
  bool addBranchTable(Frame &frame, Instruction &instruction, std::string_view label,
                      std::size_t begin);
  bool readCall(Frame &frame, std::size_t begin, const Guard &guard);
  bool readCallSite(CallSite &site);
  bool readNameList(std::vector<std::string_view> &names);
  bool expandCall(Frame &caller, const CallSite &site, const Guard &guard);
  bool callFunction(Frame &caller, const CallSite &site, const Guard &guard);
  bool passArguments(Frame &caller, const CallSite &site, std::size_t index);
  bool findCalled(const Function &function, std::size_t &index);
  bool decodeCalled(std::size_t index);
  bool decodeCalledFunctions();
  const Variable *findActual(Frame &caller, const CallSite &site, const Declaration &formal,
                             std::string_view name);
  bool checkCounts(const CallSite &site, const Function &callee);
  void addRegisterInstruction(Op op, std::initializer_list<std::uint32_t> operands);
  void skipUnless(const Guard &guard, std::uint32_t line, std::vector<std::uint32_t> &skips);
  void addReturn();
  bool bindParameters(Frame &caller, const CallSite &site, Frame &callee);
  bool leaveScope(Frame &frame);
  const std::vector<Candidate> *findCandidates(std::size_t begin, std::string_view opcode);
  bool failStatement(std::size_t begin, const std::string &message);
  std::uint32_t codeSize() { return static_cast<std::uint32_t>(builder_->kernel().code.size()); }

  const ParsedModule &module_;
  TokenCursor &cursor_;
  OpcodeCache &opcodes_;
  std::unique_ptr<KernelBuilder> builder_;
  OperandList operands_;
  std::vector<const Function *> active_; ///< functions being expanded, outermost first
  std::vector<CalledFunction> called_;
};

} // namespace fp8jit::emulator
