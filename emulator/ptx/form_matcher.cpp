// Interprets the qualifier patterns of forms.h against the text of an opcode. A module uses few
// distinct opcodes and the caller remembers them, so the patterns are read as they stand.
#include "emulator/ptx/forms.h"
#include "emulator/ptx/qualifiers.h"
#include "emulator/ptx/type_info.h"

#include <algorithm>
#include <cassert>

namespace fp8jit::emulator {

static std::string_view takeUntil(std::string_view &text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view head = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return head;
}

/// Whether the type `name` is in `list`: names and classes separated by commas.
static bool isInTypeList(std::string_view list, std::string_view name) {
  constexpr std::array<std::array<std::string_view, 2>, 5> kClasses = {{
      {"int", "u16,u32,u64,s16,s32,s64"},
      {"int8", "u8,u16,u32,u64,s8,s16,s32,s64"},
      {"bits", "b16,b32,b64"},
      {"any", "b8,b16,b32,b64,b128,u8,u16,u32,u64,s8,s16,s32,s64,f32,f64"},
      {"fp8", "e4m3,e5m2"},
  }};
  while (!list.empty()) {
    const std::string_view item = takeUntil(list, ',');
    if (item == name) {
      return true;
    }
    for (const auto &[className, members] : kClasses) {
      if (className == item && isInTypeList(members, name)) {
        return true;
      }
    }
  }
  return false;
}

namespace {

/// The qualifiers of one opcode while a row takes them away one by one.
class QualifierSet {
public:
  explicit QualifierSet(std::span<const std::string_view> qualifiers)
      : left_(qualifiers.begin(), qualifiers.end()) {}

  bool isEmpty() const { return left_.empty(); }

  /// Takes a word, or words joined by dots that stand next to each other.
  bool takeWord(std::string_view words) {
    std::string_view rest = words;
    const auto first = std::find(left_.begin(), left_.end(), takeUntil(rest, '.'));
    auto last = first;
    while (last != left_.end() && !rest.empty()) {
      ++last;
      if (last == left_.end() || *last != takeUntil(rest, '.')) {
        return false;
      }
    }
    if (last == left_.end()) {
      return false;
    }
    left_.erase(first, last + 1);
    return true;
  }

  /// Takes a keyword of `group`, limited to `allowed` unless that is empty, and applies it.
  bool takeKeyword(std::string_view group, std::string_view allowed, Instruction &instruction) {
    for (const Keyword &keyword : keywordsOf(group)) {
      if ((allowed.empty() || isInTypeList(allowed, keyword.name)) && takeWord(keyword.name)) {
        applyKeyword(keyword, instruction);
        return true;
      }
    }
    return group == "wgmmaShape" && takeWgmmaShape(allowed, instruction);
  }

  /// Takes the first type left if it is in `list`.
  std::optional<Type> takeType(std::string_view list) {
    const auto found = std::find_if(left_.begin(), left_.end(), [](std::string_view name) {
      return typeFromName(name).has_value();
    });
    if (found == left_.end() || !isInTypeList(list, *found)) {
      return std::nullopt;
    }
    const std::optional<Type> type = typeFromName(*found);
    left_.erase(found);
    return type;
  }

private:
  /// m64nNk with N a multiple of 8 up to 256 and a k in `depths`.
  bool takeWgmmaShape(std::string_view depths, Instruction &instruction) {
    for (auto it = left_.begin(); it != left_.end(); ++it) {
      if (applyWgmmaShape(*it, depths, instruction.mods)) {
        left_.erase(it);
        return true;
      }
    }
    return false;
  }

  std::vector<std::string_view> left_;
};

} // namespace

static std::size_t typePosition(char name) {
  constexpr std::string_view kNames = "TSAC";
  const std::size_t position = kNames.find(name);
  assert(position != std::string_view::npos && "type item of a form");
  return position;
}

/// Matches one item of a row's pattern; false when a required one is missing.
static bool matchItem(std::string_view item, QualifierSet &qualifiers, Candidate &candidate) {
  const bool isOptional = item[0] == '?';
  item.remove_prefix(isOptional ? 1 : 0);
  if (item[0] == '@') {
    item.remove_prefix(1);
    const std::string_view group = takeUntil(item, ':');
    return qualifiers.takeKeyword(group, item, candidate.instruction) || isOptional;
  }
  if (item.size() > 1 && item[1] == ':') {
    const std::optional<Type> type = qualifiers.takeType(item.substr(2));
    if (type) {
      candidate.types[typePosition(item[0])] = *type;
    }
    return type.has_value();
  }
  if (qualifiers.takeWord(item)) {
    applyWord(item, candidate.instruction);
    candidate.hasCacheHint = candidate.hasCacheHint || item == "L2::cache_hint";
    return true;
  }
  return isOptional;
}

/// The row's place in the table.
static std::uint16_t rowOf(const Form &form) {
  std::size_t before = 0;
  for (const std::span<const Form> forms : allForms()) {
    const auto found = std::find_if(forms.begin(), forms.end(),
                                    [&form](const Form &other) { return &other == &form; });
    before += static_cast<std::size_t>(found - forms.begin());
    if (found != forms.end()) {
      break;
    }
  }
  return static_cast<std::uint16_t>(before);
}

/// Fills what the row as a whole implies.
static void finishCandidate(const Form &form, Candidate &candidate) {
  Instruction &instruction = candidate.instruction;
  instruction.op = form.op;
  instruction.form = rowOf(form);
  instruction.immediate = form.op == Op::CpAsync ? 0 : form.immediate;
  instruction.type = candidate.types[0];
  instruction.srcType = candidate.types[1];
  instruction.mods.carryIn =
      form.mnemonic == "addc" || form.mnemonic == "subc" || form.mnemonic == "madc";
  instruction.mods.aligned |= form.mnemonic == "bar";
  if (form.op == Op::Vabsdiff4) {
    instruction.type = candidate.types[1]; // of the bytes
    instruction.srcType = Type::None;
  }
  if (form.op == Op::TensorStore || form.op == Op::TensorReduce) {
    instruction.space = Space::Shared; // of its one address besides the tensor map
    instruction.srcSpace = Space::Generic;
  }
  if (form.mnemonic == "membar") {
    instruction.mods.semantics = Semantics::Sc;
  } else if (form.mnemonic == "fence" && instruction.mods.semantics == Semantics::None) {
    instruction.mods.semantics = Semantics::AcqRel;
  }
  if (form.op == Op::Mma || form.op == Op::Wgmma) {
    instruction.mods.formatA = static_cast<std::uint8_t>(candidate.types[1]);
    instruction.mods.formatB = static_cast<std::uint8_t>(candidate.types[2]);
    instruction.srcType = form.op == Op::Mma ? candidate.types[3] : instruction.type;
    instruction.mods.descriptorA = form.operands.starts_with("dF s:b64");
  }
}

static bool matchForm(const Form &form, std::span<const std::string_view> names,
                      Candidate &candidate) {
  QualifierSet qualifiers(names);
  candidate = Candidate{.form = &form, .instruction = {}, .types = {}, .hasCacheHint = false};
  std::string_view pattern = form.qualifiers;
  while (!pattern.empty()) {
    if (!matchItem(takeUntil(pattern, ' '), qualifiers, candidate)) {
      return false;
    }
  }
  if (!qualifiers.isEmpty()) {
    return false;
  }
  finishCandidate(form, candidate);
  return true;
}

std::array<std::span<const Form>, 8> allForms() {
  return {moveForms(),   integerForms(), floatForms(),   memoryForms(),
          matrixForms(), copyForms(),    controlForms(), barrierForms()};
}

/// The lowest target that a matched row needs; the cluster's shared memory is there from sm_90 on.
static unsigned neededNumber(const Form &form, const Instruction &instruction) {
  constexpr unsigned kFirstWithClusters = 90;
  const bool usesCluster = instruction.space == Space::SharedCluster ||
                           instruction.srcSpace == Space::SharedCluster ||
                           instruction.mods.scope == Scope::Cluster;
  return std::max<unsigned>(form.availability.minArch, usesCluster ? kFirstWithClusters : 0);
}

static bool isAvailable(const Availability &availability, unsigned needed, const Arch &target) {
  using Features = Availability::Features;
  switch (availability.features) {
  case Features::All:
    return target.number >= needed;
  case Features::Specific:
    return target.number >= needed && target.variant != 0;
  case Features::Only:
    return target.number == needed && target.variant == 'a';
  }
  return false;
}

static std::string describeAvailability(const Availability &availability, unsigned needed) {
  using Features = Availability::Features;
  const std::string name = "sm_" + std::to_string(needed);
  switch (availability.features) {
  case Features::All:
    return name + " or newer";
  case Features::Specific:
    return name + "a or newer with architecture-specific features";
  case Features::Only:
    return name + "a";
  }
  return name;
}

static std::string explainRefusal(std::string_view text, std::string_view mnemonic,
                                  bool isMnemonicKnown) {
  const std::string quoted = "\"" + std::string(text) + "\"";
  for (const Form &form : refusedForms()) {
    if (form.mnemonic == mnemonic) {
      return quoted + " is not supported: " + std::string(form.operands) +
             " are not part of the emulated instruction set";
    }
  }
  if (!isMnemonicKnown) {
    return "unknown instruction " + quoted;
  }
  return quoted + " is not supported: no form of " + std::string(mnemonic) +
         " has this combination of qualifiers";
}

bool matchOpcode(std::string_view text, const Arch &target, std::vector<Candidate> &candidates,
                 std::string &message) {
  candidates.clear();
  std::string_view rest = text;
  const std::string_view mnemonic = takeUntil(rest, '.');
  std::vector<std::string_view> qualifiers;
  while (!rest.empty()) {
    qualifiers.push_back(takeUntil(rest, '.'));
  }
  bool isMnemonicKnown = false;
  std::string needs;
  Candidate candidate;
  for (const std::span<const Form> forms : allForms()) {
    for (const Form &form : forms) {
      if (form.mnemonic != mnemonic) {
        continue;
      }
      isMnemonicKnown = true;
      if (!matchForm(form, qualifiers, candidate)) {
        continue;
      }
      const unsigned needed = neededNumber(form, candidate.instruction);
      if (isAvailable(form.availability, needed, target)) {
        candidates.push_back(candidate);
      } else if (needs.empty()) {
        needs = describeAvailability(form.availability, needed);
      }
    }
  }
  if (!candidates.empty()) {
    return true;
  }
  if (!needs.empty()) {
    message =
        "\"" + std::string(text) + "\" needs target " + needs + ", found " + describeArch(target);
  } else {
    message = explainRefusal(text, mnemonic, isMnemonicKnown);
  }
  return false;
}

/// ` sm_90`, ` sm_90a`, ` sm_90a+`; nothing for forms that every target has.
static std::string describeTargets(const Availability &availability) {
  using Features = Availability::Features;
  if (availability.minArch == 0) {
    return "";
  }
  std::string text = " sm_" + std::to_string(availability.minArch);
  text += availability.features == Features::All ? "" : "a";
  text += availability.features == Features::Specific ? "+" : "";
  return text;
}

std::string describeForms() {
  std::string text;
  for (const std::span<const Form> forms : allForms()) {
    for (const Form &form : forms) {
      text += form.mnemonic;
      text += form.qualifiers.empty() ? "" : " ";
      text += form.qualifiers;
      text += form.operands.empty() ? "" : " ( ";
      text += form.operands;
      text += form.operands.empty() ? "" : " )";
      text += describeTargets(form.availability);
      text += '\n';
    }
  }
  return text;
}

} // namespace fp8jit::emulator
