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
      {"any", "b8,b16,b32,b64,u8,u16,u32,u64,s8,s16,s32,s64,f32,f64"},
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

  bool takeWord(std::string_view word) {
    const auto found = std::find(left_.begin(), left_.end(), word);
    if (found == left_.end()) {
      return false;
    }
    left_.erase(found);
    return true;
  }

  /// Takes a keyword of `group`, limited to `allowed` unless that is empty, and applies it.
  bool takeKeyword(std::string_view group, std::string_view allowed, Instruction &instruction) {
    for (auto it = left_.begin(); it != left_.end(); ++it) {
      if ((allowed.empty() || isInTypeList(allowed, *it)) &&
          applyKeyword(group, *it, instruction)) {
        left_.erase(it);
        return true;
      }
    }
    return false;
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
    return true;
  }
  return isOptional;
}

/// Fills what the row as a whole implies.
static void finishCandidate(const Form &form, Candidate &candidate) {
  Instruction &instruction = candidate.instruction;
  instruction.op = form.op;
  instruction.immediate = form.op == Op::CpAsync ? 0 : form.immediate;
  instruction.type = candidate.types[0];
  instruction.srcType = candidate.types[1];
  instruction.mods.carryIn =
      form.mnemonic == "addc" || form.mnemonic == "subc" || form.mnemonic == "madc";
  instruction.mods.aligned |= form.mnemonic == "bar";
  if (form.op == Op::Mma) {
    instruction.mods.formatA = static_cast<std::uint8_t>(candidate.types[1]);
    instruction.mods.formatB = static_cast<std::uint8_t>(candidate.types[2]);
    instruction.srcType = candidate.types[3];
  }
}

static bool matchForm(const Form &form, std::span<const std::string_view> names,
                      Candidate &candidate) {
  QualifierSet qualifiers(names);
  candidate = Candidate{.form = &form, .instruction = {}, .types = {}};
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

/// All tables, in the order of the description.
static std::array<std::span<const Form>, 5> allForms() {
  return {moveForms(), integerForms(), floatForms(), memoryForms(), controlForms()};
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

bool matchOpcode(std::string_view text, unsigned arch, std::vector<Candidate> &candidates,
                 std::string &message) {
  candidates.clear();
  std::string_view rest = text;
  const std::string_view mnemonic = takeUntil(rest, '.');
  std::vector<std::string_view> qualifiers;
  while (!rest.empty()) {
    qualifiers.push_back(takeUntil(rest, '.'));
  }
  bool isMnemonicKnown = false;
  unsigned neededArch = 0;
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
      if (form.minArch <= arch) {
        candidates.push_back(candidate);
      } else if (neededArch == 0 || form.minArch < neededArch) {
        neededArch = form.minArch;
      }
    }
  }
  if (!candidates.empty()) {
    return true;
  }
  if (neededArch != 0) {
    message = "\"" + std::string(text) + "\" needs target sm_" + std::to_string(neededArch) +
              " or newer, found sm_" + std::to_string(arch);
  } else {
    message = explainRefusal(text, mnemonic, isMnemonicKnown);
  }
  return false;
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
      text += form.minArch == 0 ? "" : " sm_" + std::to_string(form.minArch);
      text += '\n';
    }
  }
  return text;
}

} // namespace fp8jit::emulator
