// The part of BodyDecoder that expands calls (PTX ISA 9.7.12.5 call, 7.1 parameter passing).
#include "emulator/ptx/body_decoder.h"

namespace fp8jit::emulator {

/// `(a, b)`
bool BodyDecoder::readNameList(std::vector<std::string_view> &names) {
  if (!cursor_.expectPunct('(')) {
    return false;
  }
  if (cursor_.skipPunct(')')) {
    return true;
  }
  do {
    std::string_view name;
    if (!cursor_.expectWord(name, "a .param variable")) {
      return false;
    }
    names.push_back(name);
  } while (cursor_.skipPunct(','));
  return cursor_.expectPunct(')');
}

/// `(result), callee, (arguments);` with each list optional.
bool BodyDecoder::readCallSite(CallSite &site) {
  if (cursor_.isPunct('(') && (!readNameList(site.results) || !cursor_.expectPunct(','))) {
    return false;
  }
  if (!cursor_.expectWord(site.callee, "the name of a function")) {
    return false;
  }
  if (cursor_.skipPunct(',') && !readNameList(site.arguments)) {
    return false;
  }
  if (cursor_.isPunct(',')) {
    return cursor_.fail("indirect calls are not supported");
  }
  return cursor_.expectPunct(';');
}

bool BodyDecoder::readCall(Frame &frame, std::size_t begin, const Guard &guard) {
  constexpr std::size_t kMaxCallDepth = 64;
  CallSite site;
  if (!readCallSite(site)) {
    return false;
  }
  const std::size_t behind = cursor_.position();
  cursor_.setPosition(begin);
  site.line = cursor_.peek().line;
  cursor_.setPosition(behind);
  const std::string quoted = "\"" + std::string(site.callee) + "\"";
  const auto found = module_.functions.find(site.callee);
  if (found == module_.functions.end()) {
    const bool isRegister = frame.scopes.findRegister(site.callee).type != Type::None;
    return failStatement(begin, isRegister ? "indirect calls are not supported"
                                           : "call of unknown function " + quoted);
  }
  const Function &callee = found->second;
  if (callee.isEntry || !callee.hasBody) {
    return failStatement(begin, "call of " + quoted +
                                    ", which has no body here (device printf, assert and malloc "
                                    "are not supported)");
  }
  if (callee.hasRegisterParameters) {
    return failStatement(begin, "call of " + quoted + " with parameters in registers");
  }
  if (active_.size() > kMaxCallDepth) {
    return failStatement(begin, "calls are nested too deeply");
  }
  if (!(callee.isRecursive ? callFunction(frame, site, guard) : expandCall(frame, site, guard))) {
    return false;
  }
  cursor_.setPosition(behind);
  return true;
}

bool BodyDecoder::checkCounts(const CallSite &site, const Function &callee) {
  const auto check = [&](std::size_t found, std::size_t expected) {
    return found == expected ||
           cursor_.fail(site.line, "call of \"" + std::string(site.callee) + "\" with " +
                                       std::to_string(found) + " arguments, " +
                                       std::to_string(expected) + " expected");
  };
  return check(site.results.size(), callee.results.size()) &&
         check(site.arguments.size(), callee.parameters.size());
}

/// The caller's variable that stands for the parameter `formal`, or null after a failure.
const Variable *BodyDecoder::findActual(Frame &caller, const CallSite &site,
                                        const Declaration &formal, std::string_view name) {
  const Variable *actual = caller.scopes.findVariable(name);
  if (actual == nullptr || actual->space != Space::Local ||
      actual->sizeBytes < formal.sizeBytes()) {
    cursor_.fail(site.line, "argument \"" + std::string(name) + "\" of \"" +
                                std::string(site.callee) +
                                "\" is not a .param variable of its size");
    return nullptr;
  }
  return actual;
}

/// Declares the callee's parameters and results as names of the caller's variables.
bool BodyDecoder::bindParameters(Frame &caller, const CallSite &site, Frame &callee) {
  const auto bindList = [&](const std::vector<Declaration> &formals,
                            const std::vector<std::string_view> &actuals) {
    for (std::size_t i = 0; i < formals.size(); ++i) {
      const Variable *actual = findActual(caller, site, formals[i], actuals[i]);
      if (actual == nullptr) {
        return false;
      }
      Variable formal = *actual;
      formal.name = formals[i].name;
      if (!callee.scopes.declareVariable(formal)) {
        return cursor_.fail(formals[i].line,
                            "\"" + std::string(formal.name) + "\" is declared twice");
      }
    }
    return true;
  };
  return checkCounts(site, *callee.function) && bindList(callee.function->results, site.results) &&
         bindList(callee.function->parameters, site.arguments);
}

/// A guarded call becomes code that is jumped over; `skips` receives the branch.
void BodyDecoder::skipUnless(const Guard &guard, std::uint32_t line,
                             std::vector<std::uint32_t> &skips) {
  if (guard.predicate == kNoSlot) {
    return;
  }
  Instruction skip;
  skip.op = Op::Bra;
  skip.guard = guard.predicate;
  skip.guardNegate = !guard.isNegated;
  skip.line = line;
  skip.operands = static_cast<std::uint32_t>(builder_->kernel().operands.size());
  skips.push_back(codeSize());
  builder_->kernel().code.push_back(skip);
}

bool BodyDecoder::expandCall(Frame &caller, const CallSite &site, const Guard &guard) {
  const Function &function = module_.functions.at(site.callee);
  Frame callee{&function, ScopeStack(module_.variables), {}, FrameKind::Expanded};
  callee.scopes.push();
  if (!bindParameters(caller, site, callee)) {
    return false;
  }
  skipUnless(guard, site.line, callee.returns);
  active_.push_back(&function);
  const bool isDecoded = decodeBody(callee);
  active_.pop_back();
  return isDecoded;
}

} // namespace fp8jit::emulator
