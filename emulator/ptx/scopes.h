// Names of PTX: variables, registers and labels with lexical scoping. Main types: Variable,
// ScopeStack.
#pragma once

#include "emulator/ptx/program.h"

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fp8jit::emulator {

/// Something with an address. Which of offset and global counts depends on the space.
struct Variable {
  std::string_view name;
  std::uint32_t line = 0;
  Space space = Space::Global;
  Type type = Type::B8; ///< of an element
  std::uint64_t sizeBytes = 0;
  std::uint64_t align = 1;
  std::uint64_t offset = 0; ///< in shared, local or parameter memory
  /// A 64-bit register that holds the address to which `offset` counts; kNoSlot: none.
  std::uint32_t base = kNoSlot;
  std::uint32_t global = 0;     ///< index in Module::globals for Global and Const
  bool isDynamicShared = false; ///< .extern .shared: begins where the static ones end
  /// A module-scope .shared array: takes its place in a kernel when the kernel first names it.
  bool isUnplaced = false;
};

/// A declared register. One of 128 bits is two of 64 bits, the lower half first.
struct RegisterName {
  Type type = Type::None;
  std::uint32_t ref = kNoSlot; ///< kernel_builder.h
};

/// The number of references that a register of `type` takes.
std::uint32_t registersOf(Type type);

using VariableMap = std::unordered_map<std::string_view, Variable>;

/// A branch, or an entry of Kernel::branchTargets, that waits for its label.
struct LabelUse {
  std::string_view label;
  std::uint32_t line = 0;
  std::uint32_t index = 0; ///< into the code or, for a table, into branchTargets
  bool isTable = false;
};

/// The label lists of `.branchtargets`.
using LabelList = std::vector<std::string_view>;

/// The nested blocks of one function body, innermost last. Names of an inner block hide those of
/// the outer ones; labels are visible in their block and in the blocks inside it, before and after.
class ScopeStack {
public:
  /// `moduleVariables` outlives this.
  explicit ScopeStack(const VariableMap &moduleVariables) : moduleVariables_(moduleVariables) {}

  void push() { scopes_.emplace_back(); }
  bool isEmpty() const { return scopes_.empty(); }

  /// Leaves the innermost block: gives each use of one of its labels to `resolve(use, target)` and
  /// keeps the others for the block around it, or returns them when there is none.
  template <typename Resolve>
  std::vector<LabelUse> pop(Resolve resolve) {
    Scope scope = std::move(scopes_.back());
    scopes_.pop_back();
    std::vector<LabelUse> unresolved;
    for (const LabelUse &use : scope.uses) {
      const auto label = scope.labels.find(use.label);
      if (label != scope.labels.end()) {
        resolve(use, label->second);
      } else if (!scopes_.empty()) {
        scopes_.back().uses.push_back(use);
      } else {
        unresolved.push_back(use);
      }
    }
    return unresolved;
  }

  // Declarations in the innermost block; false when it has the name already.
  bool declareRegister(std::string_view name, RegisterName reg);
  /// `prefix`0 to `prefix`(count-1), whose references follow `first`.
  bool declareRegisters(std::string_view prefix, std::uint32_t count, RegisterName first);
  bool declareVariable(const Variable &variable);
  bool declareLabel(std::string_view name, std::uint32_t target);
  bool declareLabelList(std::string_view name, LabelList labels);

  void useLabel(const LabelUse &use) { scopes_.back().uses.push_back(use); }

  /// The register of that name in the innermost block that has one, or null type.
  RegisterName findRegister(std::string_view name) const;
  /// The variable, the module's ones included, or null. Valid until the next declaration.
  const Variable *findVariable(std::string_view name) const;
  const LabelList *findLabelList(std::string_view name) const;

private:
  struct RegisterRange {
    std::string_view prefix;
    std::uint32_t count = 0;
    RegisterName first;
  };
  struct Scope {
    std::unordered_map<std::string_view, RegisterName> registers;
    std::vector<RegisterRange> ranges;
    VariableMap variables;
    std::unordered_map<std::string_view, std::uint32_t> labels;
    std::unordered_map<std::string_view, LabelList> labelLists;
    std::vector<LabelUse> uses;
  };

  const VariableMap &moduleVariables_;
  std::vector<Scope> scopes_;
};

} // namespace fp8jit::emulator
