// Where a sub-command writes: results to standard output as text or JSON, everything else to
// standard error. Main entries: Console, Report.
#pragma once

#include "support/json_writer.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <utility>
#include <vector>

namespace fp8jit {

/// `text` with spaces behind it up to `width`.
std::string padRight(llvm::StringRef text, std::size_t width);

/// `value` to six significant digits, for people.
std::string shortNumber(double value);

/// The two streams of the command. One per process, used from one thread but for `warn`.
class Console {
public:
  explicit Console(bool isJson) : isJson_(isJson) {}

  bool isJson() const { return isJson_; }
  /// `text` as it is, to standard output.
  void print(llvm::StringRef text);
  void printLine(const JsonObject &object);
  /// "notice: <line>" and "warning: <line>" on standard error.
  void notice(const llvm::Twine &line);
  void warn(llvm::StringRef line);
  /// "error: <line>" on standard error, for a result that was printed and is not good.
  void complain(llvm::StringRef line);

  /// Reports `error` on standard error as "error: <Code>: <message>" with its details below, and
  /// with --json as an object on standard output. Returns the exit status: 2 for a UsageError, else
  /// 1.
  int reportError(llvm::Error error);

private:
  bool isJson_;
};

/// A result made of named values: one JSON object, or one "name  value" line each.
class Report {
public:
  Report &addText(llvm::StringRef name, llvm::StringRef value);
  Report &addNumber(llvm::StringRef name, double value);
  Report &addInteger(llvm::StringRef name, std::int64_t value);
  /// Only in the JSON form.
  JsonObject &json() { return json_; }

  void print(Console &console) const;

private:
  JsonObject json_;
  std::vector<std::pair<std::string, std::string>> lines_;
};

} // namespace fp8jit
