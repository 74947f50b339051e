#include "cli/console.h"

#include "cli/arguments.h"
#include "support/error.h"
#include "support/warning.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace fp8jit {

std::string padRight(llvm::StringRef text, std::size_t width) {
  return text.str() + std::string(width - std::min(width, text.size()), ' ');
}

void Console::print(llvm::StringRef text) {
  llvm::outs() << text;
}

void Console::printLine(const JsonObject &object) {
  llvm::outs() << object.str() << '\n';
  llvm::outs().flush();
}

void Console::notice(const llvm::Twine &line) {
  llvm::errs() << ("notice: " + line + "\n").str();
}

void Console::warn(llvm::StringRef line) {
  printWarning(line);
}

void Console::complain(llvm::StringRef line) {
  llvm::outs().flush();
  llvm::errs() << ("error: " + line + "\n").str();
}

int Console::reportError(llvm::Error error) {
  const bool isUsage = error.isA<UsageError>();
  const FailureInfo failure = takeFailure(std::move(error));
  llvm::outs().flush();
  if (isJson_) {
    JsonObject inner;
    inner.addText("code", codeName(failure.code())).addText("message", failure.text());
    JsonObject outer;
    printLine(outer.addObject("error", inner));
  }
  llvm::errs() << "error: " << codeName(failure.code()) << ": " << failure.text() << '\n';
  if (!failure.details().empty()) {
    llvm::errs() << llvm::StringRef(failure.details()).rtrim('\n') << '\n';
  }
  return isUsage ? 2 : 1;
}

std::string shortNumber(double value) {
  std::array<char, 32> digits{};
  constexpr int kDigits = 6;
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                    std::chars_format::general, kDigits);
  return std::string(digits.data(), result.ptr);
}

Report &Report::addText(llvm::StringRef name, llvm::StringRef value) {
  json_.addText(name, value);
  lines_.emplace_back(name.str(), value.str());
  return *this;
}

Report &Report::addNumber(llvm::StringRef name, double value) {
  json_.addNumber(name, value);
  lines_.emplace_back(name.str(), shortNumber(value));
  return *this;
}

Report &Report::addInteger(llvm::StringRef name, std::int64_t value) {
  json_.addInteger(name, value);
  lines_.emplace_back(name.str(), std::to_string(value));
  return *this;
}

void Report::print(Console &console) const {
  if (console.isJson()) {
    console.printLine(json_);
    return;
  }
  std::size_t width = 0;
  for (const auto &[name, value] : lines_) {
    width = std::max(width, name.size());
  }
  std::string text;
  for (const auto &[name, value] : lines_) {
    text += padRight(name, width + 2) + value + "\n";
  }
  console.print(text);
}

} // namespace fp8jit
