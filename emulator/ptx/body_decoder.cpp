// Statements of function bodies: labels, guards and instructions (PTX ISA 4.3, 9.3); declarations
// are in body_declarations.cpp.
#include "emulator/ptx/body_decoder.h"

#include "emulator/ptx/operand_binder.h"

#include <algorithm>

namespace fp8jit::emulator {

bool BodyDecoder::failStatement(std::size_t begin, const std::string &message) {
  const std::size_t here = cursor_.position();
  cursor_.setPosition(begin);
  const std::uint32_t line = cursor_.peek().line;
  cursor_.setPosition(here);
  return cursor_.fail(line, message + ", in: " + cursor_.statementText(begin));
}

/// Kernel parameters in declaration order, each at its natural alignment (PTX ISA 7.1). Returns the
/// bytes of all of them.
static std::uint64_t placeParameters(const Function &entry, Kernel &kernel, ScopeStack &scopes) {
  std::uint64_t offset = 0;
  for (const Declaration &parameter : entry.parameters) {
    offset = (offset + parameter.align - 1) / parameter.align * parameter.align;
    kernel.parameters.push_back({.name = std::string(parameter.name),
                                 .offset = static_cast<std::uint32_t>(offset),
                                 .sizeBytes = static_cast<std::uint32_t>(parameter.sizeBytes()),
                                 .align = static_cast<std::uint32_t>(parameter.align)});
    scopes.declareVariable({.name = parameter.name,
                            .line = parameter.line,
                            .space = Space::Param,
                            .type = parameter.type,
                            .sizeBytes = parameter.sizeBytes(),
                            .align = parameter.align,
                            .offset = offset});
    offset += parameter.sizeBytes();
  }
  kernel.paramBytes = static_cast<std::uint32_t>(offset);
  return offset;
}

/// The largest parameter block of a kernel (PTX ISA 7.1: 32764 bytes from sm_70 and PTX 8.1).
static constexpr std::uint64_t kMaxParameterBytes = 32764;

static void copyDirectives(const Function &entry, Kernel &kernel) {
  const std::uint32_t(&block)[3] =
      entry.requiredThreads[0] != 0 ? entry.requiredThreads : entry.maxBlock;
  kernel.maxThreads = block[0] * block[1] * block[2];
  kernel.minBlocksPerSm = entry.minBlocksPerSm;
  kernel.maxRegisters = entry.maxRegisters;
  kernel.maxClusterRank = entry.maxClusterRank;
  kernel.explicitCluster = entry.explicitCluster;
  kernel.blocksAreClusters = entry.blocksAreClusters;
  std::copy(std::begin(entry.requiredThreads), std::end(entry.requiredThreads),
            kernel.requiredThreads);
  std::copy(std::begin(entry.requiredCluster), std::end(entry.requiredCluster),
            kernel.requiredCluster);
}

bool BodyDecoder::decodeEntry(const Function &entry, bool shareSlots, Kernel &kernel) {
  builder_ = std::make_unique<KernelBuilder>();
  Kernel &started = builder_->kernel();
  started.name = std::string(entry.name);
  copyDirectives(entry, started);
  called_.clear();
  Frame frame{&entry, ScopeStack(module_.variables), {}, FrameKind::Entry};
  frame.scopes.push();
  if (placeParameters(entry, started, frame.scopes) > kMaxParameterBytes) {
    return cursor_.fail(entry.line, "kernel \"" + std::string(entry.name) + "\" has more than " +
                                        std::to_string(kMaxParameterBytes) +
                                        " bytes of parameters");
  }
  active_ = {&entry};
  if (!decodeBody(frame)) {
    return false;
  }
  addReturn();
  if (!decodeCalledFunctions()) {
    return false;
  }
  if (builder_->isTooLarge()) {
    return cursor_.fail(entry.line, "kernel \"" + std::string(entry.name) +
                                        "\" declares too much shared or local memory");
  }
  kernel = builder_->finish(shareSlots);
  return true;
}

/// The end of a function, so that every path ends and every label stands before an instruction.
void BodyDecoder::addReturn() {
  addRegisterInstruction(Op::Ret, {});
}

/// Reads the statements of `frame.function`, whose outermost scope is open, up to its closing
/// brace.
bool BodyDecoder::decodeBody(Frame &frame) {
  cursor_.setPosition(frame.function->bodyToken);
  while (!frame.scopes.isEmpty()) {
    if (!readStatement(frame)) {
      return false;
    }
  }
  for (const std::uint32_t branch : frame.returns) {
    builder_->kernel().code[branch].target = codeSize();
  }
  return true;
}

bool BodyDecoder::leaveScope(Frame &frame) {
  Kernel &kernel = builder_->kernel();
  const std::vector<LabelUse> unresolved =
      frame.scopes.pop([&](const LabelUse &use, std::uint32_t target) {
        (use.isTable ? kernel.branchTargets[use.index] : kernel.code[use.index].target) = target;
      });
  if (!unresolved.empty()) {
    return cursor_.fail(unresolved.front().line,
                        "unknown label \"" + std::string(unresolved.front().label) + "\"");
  }
  return true;
}

bool BodyDecoder::readStatement(Frame &frame) {
  if (cursor_.isAtEnd()) {
    return cursor_.fail("unexpected end of the text in \"" + std::string(frame.function->name) +
                        "\"");
  }
  if (cursor_.skipPunct('{')) {
    frame.scopes.push();
    return true;
  }
  if (cursor_.skipPunct('}')) {
    return leaveScope(frame);
  }
  if (cursor_.skipPunct(';')) {
    return true;
  }
  const Token &token = cursor_.peek();
  if (token.kind == TokenKind::Word && token.text[0] == '.') {
    return readDirective(frame);
  }
  if (token.kind == TokenKind::Word && cursor_.peek(1).punct == ':') {
    return readLabel(frame);
  }
  return readInstruction(frame);
}

bool BodyDecoder::readLabel(Frame &frame) {
  const Token name = cursor_.next();
  cursor_.next();
  if (cursor_.skipWord(".branchtargets")) {
    LabelList labels;
    do {
      std::string_view label;
      if (!cursor_.expectWord(label, "a label")) {
        return false;
      }
      labels.push_back(label);
    } while (cursor_.skipPunct(','));
    return (frame.scopes.declareLabelList(name.text, std::move(labels)) ||
            cursor_.fail(name.line, "\"" + std::string(name.text) + "\" is declared twice")) &&
           cursor_.expectPunct(';');
  }
  return frame.scopes.declareLabel(name.text, codeSize()) ||
         cursor_.fail(name.line, "label \"" + std::string(name.text) + "\" is defined twice");
}

bool BodyDecoder::readGuard(Frame &frame, Guard &guard) {
  if (!cursor_.skipPunct('@')) {
    return true;
  }
  guard.isNegated = cursor_.skipPunct('!');
  std::string_view name;
  if (!cursor_.expectWord(name, "a predicate")) {
    return false;
  }
  const RegisterName reg = frame.scopes.findRegister(name);
  if (reg.type != Type::Pred) {
    return cursor_.fail("guard \"" + std::string(name) + "\" is not a predicate");
  }
  guard.predicate = refNumber(reg.ref);
  return true;
}

const std::vector<Candidate> *BodyDecoder::findCandidates(std::size_t begin,
                                                          std::string_view opcode) {
  const auto [entry, isNew] = opcodes_.try_emplace(opcode);
  if (isNew) {
    std::string message;
    if (!matchOpcode(opcode, module_.target, entry->second, message)) {
      failStatement(begin, message);
      return nullptr;
    }
  }
  return &entry->second;
}

bool BodyDecoder::readInstruction(Frame &frame) {
  const std::size_t begin = cursor_.position();
  Guard guard;
  std::string_view opcode;
  if (!readGuard(frame, guard) || !cursor_.expectWord(opcode, "an instruction")) {
    return false;
  }
  if (opcode == "call" || opcode == "call.uni") {
    return readCall(frame, begin, guard);
  }
  const std::vector<Candidate> *candidates = findCandidates(begin, opcode);
  return candidates != nullptr && readOperands(cursor_, frame.scopes, operands_) &&
         bindInstruction(frame, begin, guard, *candidates);
}

bool BodyDecoder::bindInstruction(Frame &frame, std::size_t begin, const Guard &guard,
                                  const std::vector<Candidate> &candidates) {
  std::string message;
  std::size_t bestProgress = 0;
  OperandBinder binder(*builder_, operands_, frame.kind == FrameKind::Entry);
  for (const Candidate &candidate : candidates) {
    Instruction instruction;
    std::string_view label;
    std::string reason;
    std::size_t progress = 0;
    if (binder.bind(candidate, instruction, label, reason, progress)) {
      instruction.guard = guard.predicate;
      instruction.guardNegate = guard.isNegated;
      for (Instruction addition : binder.additions()) {
        addition.guard = guard.predicate;
        addition.guardNegate = guard.isNegated;
        if (!addInstruction(frame, addition, {}, begin)) {
          return false;
        }
      }
      return addInstruction(frame, instruction, label, begin);
    }
    if (progress >= bestProgress) { // the row that fits best explains best
      message = reason;
      bestProgress = progress;
    }
  }
  return failStatement(begin, message);
}

bool BodyDecoder::addBranchTable(Frame &frame, Instruction &instruction, std::string_view label,
                                 std::size_t begin) {
  const LabelList *labels = frame.scopes.findLabelList(label);
  if (labels == nullptr) {
    return failStatement(begin, "unknown list of branch targets \"" + std::string(label) + "\"");
  }
  std::vector<std::uint32_t> &targets = builder_->kernel().branchTargets;
  instruction.immediate = static_cast<std::int64_t>(targets.size());
  instruction.immediate2 = static_cast<std::int64_t>(labels->size());
  for (const std::string_view target : *labels) {
    frame.scopes.useLabel({.label = target,
                           .line = instruction.line,
                           .index = static_cast<std::uint32_t>(targets.size()),
                           .isTable = true});
    targets.push_back(0);
  }
  return true;
}

bool BodyDecoder::addInstruction(Frame &frame, Instruction instruction, std::string_view label,
                                 std::size_t begin) {
  std::vector<Instruction> &code = builder_->kernel().code;
  if (code.size() >= kMaxInstructions) {
    return failStatement(begin, "more than " + std::to_string(kMaxInstructions) +
                                    " instructions with calls expanded");
  }
  const std::size_t here = cursor_.position();
  cursor_.setPosition(begin);
  instruction.line = cursor_.peek().line;
  cursor_.setPosition(here);
  if (instruction.op == Op::BrxIdx) {
    if (!addBranchTable(frame, instruction, label, begin)) {
      return false;
    }
  } else if (instruction.op == Op::Bra) {
    frame.scopes.useLabel({.label = label, .line = instruction.line, .index = codeSize()});
  } else if (instruction.op == Op::Ret && frame.kind == FrameKind::Expanded) {
    instruction.op = Op::Bra;
    frame.returns.push_back(codeSize());
  }
  code.push_back(instruction);
  return true;
}

} // namespace fp8jit::emulator
