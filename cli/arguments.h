// Flags and words of a sub-command, read by a table. Main entry: parseArguments.
#pragma once

#include "support/error.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fp8jit {

/// A command line that cannot be understood: the exit status is 2, the code InvalidArgument.
class UsageError : public llvm::ErrorInfo<UsageError, FailureInfo> {
public:
  static char ID;
  using ErrorInfo::ErrorInfo;
};

[[nodiscard]] llvm::Error usageError(const llvm::Twine &message);

/// InvalidArgument for the value `found` of `flag`.
[[nodiscard]] llvm::Error badValue(llvm::StringRef flag, llvm::StringRef found,
                                   const llvm::Twine &expected);

/// A flag of a sub-command.
struct FlagSpec {
  llvm::StringRef name;      ///< "--device"
  llvm::StringRef valueName; ///< "D"; empty: the flag takes no value
  llvm::StringRef help;      ///< one line
  /// Not empty: the design knows the flag, this build does not serve it, and this says what works.
  llvm::StringRef unsupported = {};
  bool isRepeatable = false; ///< may be given any number of times
};

/// What a sub-command takes.
struct CommandSpec {
  llvm::StringRef name;
  llvm::StringRef operand; ///< "\"<problem>\""; empty if there is none
  bool isOperandRequired;
  llvm::StringRef summary; ///< one line
  llvm::ArrayRef<FlagSpec> flags;
  llvm::StringRef example; ///< the first line works as it stands
};

/// --json, --cache, --templates and --help: every sub-command has them.
llvm::ArrayRef<FlagSpec> commonFlags();

/// The words of a command line, sorted out.
class Arguments {
public:
  bool has(llvm::StringRef flag) const { return values_.count(flag) != 0; }
  /// The value of `flag`; empty if it is absent.
  llvm::StringRef value(llvm::StringRef flag) const;
  /// The values of a repeatable flag, in the order of the command line.
  llvm::ArrayRef<std::string> values(llvm::StringRef flag) const;
  /// The operand; empty if it is absent.
  llvm::StringRef operand() const { return operand_; }
  bool hasOperand() const { return hasOperand_; }

  /// Unsupported for the first flag given that this build does not serve.
  llvm::Error checkSupportedFlags() const;

  /// The value of `flag` as a number, or `fallback` if it is absent. Errors: InvalidArgument.
  llvm::Expected<float> floatValue(llvm::StringRef flag, float fallback) const;
  llvm::Expected<std::uint64_t> unsignedValue(llvm::StringRef flag, std::uint64_t fallback) const;
  /// "60s", "500ms" or "2m" in milliseconds. Errors: InvalidArgument.
  llvm::Expected<std::int64_t> durationMs(llvm::StringRef flag, std::int64_t fallbackMs) const;

private:
  friend llvm::Expected<Arguments> parseArguments(const CommandSpec &spec,
                                                  llvm::ArrayRef<llvm::StringRef> words);

  const CommandSpec *spec_ = nullptr;
  llvm::StringMap<std::vector<std::string>> values_;
  std::string operand_;
  bool hasOperand_ = false;
};

/// Reads "--flag value", "--flag=value" and the operand, in any order. A missing operand is no
/// error when --help is given. Errors: UsageError for unknown or repeated flags, a missing value or
/// operand, a second operand.
llvm::Expected<Arguments> parseArguments(const CommandSpec &spec,
                                         llvm::ArrayRef<llvm::StringRef> words);

/// The help text of a sub-command, ending with its example.
std::string helpText(const CommandSpec &spec);

} // namespace fp8jit
