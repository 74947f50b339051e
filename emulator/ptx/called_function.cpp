// The part of BodyDecoder that deals with recursive functions. Arguments and results pass by
// address: they are variables in the caller's frame, as PTX has them.
//
//   caller     argument[i] = address of the variable      callee     formal[i] = argument[i]
//              sp = sp + size of the caller's frame                  ...
//              call                                                  ret
//              sp = sp - size of the caller's frame
//
// The kernel's own frame is not at the stack pointer: there the addresses are constants, and the
// stack begins where that frame ends.
#include "emulator/ptx/body_decoder.h"

#include <algorithm>

namespace fp8jit::emulator {

/// An operation on 64-bit registers: the destination, then the sources.
void BodyDecoder::addRegisterInstruction(Op op, std::initializer_list<std::uint32_t> operands) {
  Kernel &kernel = builder_->kernel();
  Instruction instruction;
  instruction.op = op;
  instruction.line = cursor_.peek().line;
  instruction.operands = static_cast<std::uint32_t>(kernel.operands.size());
  if (operands.size() != 0) {
    instruction.type = Type::U64;
    instruction.numDst = 1;
    instruction.numSrc = static_cast<std::uint8_t>(operands.size() - 1);
    instruction.dstBits = instruction.srcBits = 64;
  }
  kernel.operands.insert(kernel.operands.end(), operands);
  kernel.code.push_back(instruction);
}

/// The index of `function` in called_, where it is added if need be.
bool BodyDecoder::findCalled(const Function &function, std::size_t &index) {
  const auto isSame = [&](const CalledFunction &called) { return called.function == &function; };
  index = static_cast<std::size_t>(std::find_if(called_.begin(), called_.end(), isSame) -
                                   called_.begin());
  if (index < called_.size()) {
    return true;
  }
  CalledFunction called{.function = &function, .arguments = {}, .formals = {}, .calls = {}};
  for (std::size_t i = 0; i < function.results.size() + function.parameters.size(); ++i) {
    called.arguments.push_back(builder_->addPinnedRegister());
    called.formals.push_back(builder_->addRegisters(Type::U64, 1));
    if (called.arguments.back() == kNoSlot || called.formals.back() == kNoSlot) {
      return cursor_.fail("more than " + std::to_string(kMaxRegisters) + " registers");
    }
  }
  called_.push_back(std::move(called));
  return true;
}

bool BodyDecoder::passArguments(Frame &caller, const CallSite &site, std::size_t index) {
  const Function &callee = *called_[index].function;
  std::size_t next = 0;
  const auto passList = [&](const std::vector<Declaration> &formals,
                            const std::vector<std::string_view> &actuals) {
    for (std::size_t i = 0; i < formals.size(); ++i) {
      const Variable *actual = findActual(caller, site, formals[i], actuals[i]);
      if (actual == nullptr) {
        return false;
      }
      const std::uint32_t offset = builder_->addConstant(actual->offset, true);
      const std::uint32_t argument = called_[index].arguments[next++];
      if (actual->base == kNoSlot) {
        addRegisterInstruction(Op::Mov, {argument, offset});
      } else {
        addRegisterInstruction(Op::Add, {argument, actual->base, offset});
      }
    }
    return true;
  };
  return passList(callee.results, site.results) && passList(callee.parameters, site.arguments);
}

bool BodyDecoder::callFunction(Frame &caller, const CallSite &site, const Guard &guard) {
  const Function &function = module_.functions.at(site.callee);
  std::size_t index = 0;
  std::vector<std::uint32_t> skips;
  if (!checkCounts(site, function) || !findCalled(function, index)) {
    return false;
  }
  skipUnless(guard, site.line, skips);
  if (!passArguments(caller, site, index)) {
    return false;
  }
  const std::uint32_t stackPointer = builder_->stackPointer();
  if (stackPointer == kNoSlot || codeSize() > kMaxInstructions) {
    return cursor_.fail(site.line, "too many registers or instructions");
  }
  const std::uint32_t size = builder_->addFrameSize();
  if (builder_->isOnStack()) {
    addRegisterInstruction(Op::Add, {stackPointer, stackPointer, size});
  } else {
    addRegisterInstruction(Op::Mov, {stackPointer, size});
  }
  called_[index].calls.push_back(codeSize());
  addRegisterInstruction(Op::Call, {});
  builder_->kernel().code.back().immediate = static_cast<std::int64_t>(index);
  builder_->kernel().code.back().line = site.line;
  if (builder_->isOnStack()) {
    addRegisterInstruction(Op::Sub, {stackPointer, stackPointer, size});
  }
  for (const std::uint32_t branch : skips) {
    builder_->kernel().code[branch].target = codeSize();
  }
  return true;
}

bool BodyDecoder::decodeCalled(std::size_t index) {
  const Function &function = *called_[index].function;
  Kernel &kernel = builder_->kernel();
  kernel.functions.push_back({.name = std::string(function.name),
                              .first = codeSize(),
                              .end = 0,
                              .frameBytes = 0,
                              .slots = {},
                              .wideSlots = {},
                              .predicates = {}});
  builder_->beginFrame();
  Frame frame{&function, ScopeStack(module_.variables), {}, FrameKind::Called};
  frame.scopes.push();
  std::size_t next = 0;
  for (const std::vector<Declaration> *list : {&function.results, &function.parameters}) {
    for (const Declaration &formal : *list) {
      const std::uint32_t base = called_[index].formals[next];
      addRegisterInstruction(Op::Mov, {base, called_[index].arguments[next++]});
      if (!frame.scopes.declareVariable({.name = formal.name,
                                         .line = formal.line,
                                         .space = Space::Local,
                                         .type = formal.type,
                                         .sizeBytes = formal.sizeBytes(),
                                         .align = formal.align,
                                         .base = base})) {
        return cursor_.fail(formal.line, "\"" + std::string(formal.name) + "\" is declared twice");
      }
    }
  }
  active_ = {&function};
  if (!decodeBody(frame)) {
    return false;
  }
  addReturn();
  kernel.functions.back().end = codeSize();
  return true;
}

/// Decodes the functions that were called, and those that these call; then all calls have targets.
bool BodyDecoder::decodeCalledFunctions() {
  for (std::size_t i = 0; i < called_.size(); ++i) {
    if (!decodeCalled(i)) {
      return false;
    }
  }
  Kernel &kernel = builder_->kernel();
  for (std::size_t i = 0; i < called_.size(); ++i) {
    for (const std::uint32_t call : called_[i].calls) {
      kernel.code[call].target = kernel.functions[i].first;
    }
  }
  return true;
}

} // namespace fp8jit::emulator
