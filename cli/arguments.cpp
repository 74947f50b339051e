#include "cli/arguments.h"

#include "cli/console.h"
#include "support/quote.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <charconv>
#include <cmath>

namespace fp8jit {

char UsageError::ID = 0;

llvm::Error usageError(const llvm::Twine &message) {
  return llvm::make_error<UsageError>(ErrorCode::InvalidArgument, message.str());
}

llvm::ArrayRef<FlagSpec> commonFlags() {
  static const FlagSpec kFlags[] = {
      {"--json", "", "one JSON object per line on standard output, nothing else there"},
      {"--cache", "DIR", "folder of the cache; 'none' keeps nothing on disk"},
      {"--templates", "DIR", "read the kernel templates from this folder"},
      {"--help", "", "this text"},
  };
  return kFlags;
}

static const FlagSpec *findFlag(const CommandSpec &spec, llvm::StringRef name) {
  for (const llvm::ArrayRef<FlagSpec> flags : {spec.flags, commonFlags()}) {
    const auto *found =
        llvm::find_if(flags, [&](const FlagSpec &flag) { return flag.name == name; });
    if (found != flags.end()) {
      return found;
    }
  }
  return nullptr;
}

static std::string flagNames(const CommandSpec &spec) {
  std::vector<std::string> names;
  for (const llvm::ArrayRef<FlagSpec> flags : {spec.flags, commonFlags()}) {
    for (const FlagSpec &flag : flags) {
      if (flag.unsupported.empty()) {
        names.push_back(flag.name.str());
      }
    }
  }
  return llvm::join(names, ", ");
}

llvm::StringRef Arguments::value(llvm::StringRef flag) const {
  const auto found = values_.find(flag);
  return found == values_.end() ? llvm::StringRef() : llvm::StringRef(found->second.front());
}

llvm::ArrayRef<std::string> Arguments::values(llvm::StringRef flag) const {
  const auto found = values_.find(flag);
  return found == values_.end() ? llvm::ArrayRef<std::string>() : llvm::makeArrayRef(found->second);
}

llvm::Error Arguments::checkSupportedFlags() const {
  for (const FlagSpec &flag : spec_->flags) {
    if (has(flag.name) && !flag.unsupported.empty()) {
      return fail(ErrorCode::Unsupported,
                  "flag " + flag.name + " is not in this build: " + flag.unsupported);
    }
  }
  return llvm::Error::success();
}

llvm::Error badValue(llvm::StringRef flag, llvm::StringRef found, const llvm::Twine &expected) {
  return fail(ErrorCode::InvalidArgument,
              "flag " + flag + ": found " + quoteText(found) + ", expected " + expected);
}

llvm::Expected<float> Arguments::floatValue(llvm::StringRef flag, float fallback) const {
  if (!has(flag)) {
    return fallback;
  }
  llvm::StringRef text = value(flag);
  // from_chars takes no plus sign; taken off here, it may not hide a second sign.
  const bool hasPlus = text.startswith("+") && !text.startswith("+-");
  const llvm::StringRef digits = hasPlus ? text.drop_front() : text;
  float number = 0;
  const auto result = std::from_chars(digits.begin(), digits.end(), number);
  if (result.ec != std::errc() || result.ptr != digits.end() || !std::isfinite(number)) {
    return badValue(flag, text, "a finite float32 number such as 0.5");
  }
  return number;
}

llvm::Expected<std::uint64_t> Arguments::unsignedValue(llvm::StringRef flag,
                                                       std::uint64_t fallback) const {
  if (!has(flag)) {
    return fallback;
  }
  const llvm::StringRef text = value(flag);
  std::uint64_t number = 0;
  if (text.empty() || !llvm::all_of(text, llvm::isDigit) || text.getAsInteger(10, number)) {
    return badValue(flag, text, "a whole number from 0 to 2^64-1");
  }
  return number;
}

llvm::Expected<std::int64_t> Arguments::durationMs(llvm::StringRef flag,
                                                   std::int64_t fallbackMs) const {
  if (!has(flag)) {
    return fallbackMs;
  }
  constexpr std::int64_t kLongestCount = 1'000'000'000;
  const llvm::StringRef text = value(flag);
  const llvm::StringRef digits = text.take_while(llvm::isDigit);
  const llvm::StringRef unit = text.drop_front(digits.size());
  std::int64_t count = 0;
  const std::int64_t unitMs = unit == "ms" ? 1 : unit == "s" ? 1000 : unit == "m" ? 60'000 : 0;
  if (digits.empty() || digits.getAsInteger(10, count) || count > kLongestCount || unitMs == 0) {
    return badValue(flag, text, "a time such as 60s, 500ms or 2m");
  }
  return count * unitMs;
}

llvm::Expected<Arguments> parseArguments(const CommandSpec &spec,
                                         llvm::ArrayRef<llvm::StringRef> words) {
  Arguments arguments;
  arguments.spec_ = &spec;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const llvm::StringRef word = words[i];
    if (!word.startswith("--")) {
      if (spec.operand.empty() || arguments.hasOperand_) {
        return usageError(spec.name + ": found a word too many, " + quoteText(word) +
                          (spec.operand.empty() ? "" : "; a problem is one argument in quotes"));
      }
      arguments.operand_ = word.str();
      arguments.hasOperand_ = true;
      continue;
    }
    auto [name, text] = word.split('=');
    const bool hasInlineValue = word.contains('=');
    const FlagSpec *flag = findFlag(spec, name);
    if (flag == nullptr) {
      return usageError(spec.name + ": unknown flag " + quoteText(name) + ", expected one of " +
                        flagNames(spec));
    }
    if (flag->valueName.empty() == hasInlineValue && hasInlineValue) {
      return usageError("flag " + name + ": found a value, expected none");
    }
    if (!flag->valueName.empty() && !hasInlineValue) {
      if (i + 1 == words.size() || words[i + 1].startswith("--")) {
        return usageError("flag " + name + ": its value is missing, expected " + name + " " +
                          flag->valueName);
      }
      text = words[++i];
    }
    std::vector<std::string> &given = arguments.values_[name];
    if (!given.empty() && !flag->isRepeatable) {
      return usageError("flag " + name + ": found twice, expected at most once");
    }
    given.push_back(text.str());
  }
  if (spec.isOperandRequired && !arguments.hasOperand_ && !arguments.has("--help")) {
    return usageError(spec.name + ": " + spec.operand + " is missing, see fp8jit " + spec.name +
                      " --help");
  }
  return arguments;
}

std::string helpText(const CommandSpec &spec) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "usage: fp8jit " << spec.name << (spec.operand.empty() ? "" : " ") << spec.operand
     << " [flags]\n\n"
     << spec.summary << "\n\n";
  for (const llvm::ArrayRef<FlagSpec> flags : {spec.flags, commonFlags()}) {
    for (const FlagSpec &flag : flags) {
      if (!flag.unsupported.empty()) {
        continue;
      }
      const std::string left =
          (flag.name + (flag.valueName.empty() ? "" : " ") + flag.valueName).str();
      os << "  " << padRight(left, 19) << flag.help << '\n';
    }
  }
  os << "\nexample:\n  " << spec.example << '\n';
  return os.str();
}

} // namespace fp8jit
