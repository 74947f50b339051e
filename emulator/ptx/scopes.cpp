// Look-up goes from the innermost block outwards; a `%r<10>` range is matched by prefix and number
// instead of by ten names.
#include "emulator/ptx/scopes.h"

#include <charconv>

namespace fp8jit::emulator {

bool ScopeStack::declareRegister(std::string_view name, RegisterName reg) {
  return scopes_.back().registers.try_emplace(name, reg).second;
}

bool ScopeStack::declareRegisters(std::string_view prefix, std::uint32_t count,
                                  RegisterName first) {
  for (const RegisterRange &range : scopes_.back().ranges) {
    if (range.prefix == prefix) {
      return false;
    }
  }
  scopes_.back().ranges.push_back({prefix, count, first});
  return true;
}

bool ScopeStack::declareVariable(const Variable &variable) {
  return scopes_.back().variables.try_emplace(variable.name, variable).second;
}

bool ScopeStack::declareLabel(std::string_view name, std::uint32_t target) {
  return scopes_.back().labels.try_emplace(name, target).second;
}

bool ScopeStack::declareLabelList(std::string_view name, LabelList labels) {
  return scopes_.back().labelLists.try_emplace(name, std::move(labels)).second;
}

/// The number in `digits` written without leading zeros, or `limit`.
static std::uint32_t registerNumber(std::string_view digits, std::uint32_t limit) {
  std::uint32_t number = 0;
  const char *end = digits.data() + digits.size();
  const auto [stop, status] = std::from_chars(digits.data(), end, number);
  const bool isCanonical = !digits.empty() && (digits.size() == 1 || digits[0] != '0');
  return isCanonical && status == std::errc() && stop == end && number < limit ? number : limit;
}

std::uint32_t registersOf(Type type) {
  return type == Type::B128 ? 2 : 1;
}

RegisterName ScopeStack::findRegister(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (!scope->registers.empty()) {
      const auto found = scope->registers.find(name);
      if (found != scope->registers.end()) {
        return found->second;
      }
    }
    for (const RegisterRange &range : scope->ranges) {
      if (name.substr(0, range.prefix.size()) != range.prefix) {
        continue;
      }
      const std::uint32_t number = registerNumber(name.substr(range.prefix.size()), range.count);
      if (number < range.count) {
        return {range.first.type, range.first.ref + number * registersOf(range.first.type)};
      }
    }
  }
  return {};
}

const Variable *ScopeStack::findVariable(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->variables.find(name);
    if (found != scope->variables.end()) {
      return &found->second;
    }
  }
  const auto found = moduleVariables_.find(name);
  return found == moduleVariables_.end() ? nullptr : &found->second;
}

const LabelList *ScopeStack::findLabelList(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->labelLists.find(name);
    if (found != scope->labelLists.end()) {
      return &found->second;
    }
  }
  return nullptr;
}

} // namespace fp8jit::emulator
