#include "runtime/ptxas_report.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <utility>

namespace fp8jit {

const PtxasEntry *PtxasReport::find(llvm::StringRef name) const {
  for (const PtxasEntry &entry : entries) {
    if (entry.name == name) {
      return &entry;
    }
  }
  return nullptr;
}

/// The number right before `unit` in `line`; 0 if there is none.
static int numberBefore(llvm::StringRef line, llvm::StringRef unit) {
  const std::size_t end = line.find(unit);
  if (end == llvm::StringRef::npos) {
    return 0;
  }
  const llvm::StringRef head = line.take_front(end).rtrim();
  const llvm::StringRef digits =
      head.take_back(head.size() - (head.find_last_not_of("0123456789") + 1));
  int value = 0;
  return digits.getAsInteger(10, value) ? 0 : value;
}

/// The text between the first pair of single quotes.
static llvm::StringRef quoted(llvm::StringRef line) {
  return line.split('\'').second.split('\'').first;
}

/// "(C7504) text" anywhere in the line.
static bool readAdvisory(llvm::StringRef line, PtxasAdvisory &advisory) {
  for (std::size_t at = line.find("(C"); at != llvm::StringRef::npos;
       at = line.find("(C", at + 1)) {
    const llvm::StringRef code = line.substr(at + 1).split(')').first;
    if (code.size() == 5 && llvm::all_of(code.drop_front(), llvm::isDigit)) {
      advisory.code = code.str();
      advisory.text = line.substr(at + 2 + code.size()).trim().str();
      return true;
    }
  }
  return false;
}

static constexpr llvm::StringLiteral kProperties = "Function properties for ";

namespace {

/// Reads a log line by line.
class Reader {
public:
  void readLine(llvm::StringRef line);
  PtxasReport take() { return std::move(report_); }

private:
  void readFigures(llvm::StringRef line, PtxasEntry &entry) const;

  PtxasReport report_;
  /// Whether the last "Function properties" named the entry itself, not a function it calls.
  bool isOwnFrame_ = false;
};

} // namespace

void Reader::readLine(llvm::StringRef line) {
  PtxasAdvisory advisory;
  if (readAdvisory(line, advisory)) {
    report_.advisories.push_back(std::move(advisory));
  } else if (line.contains("Compiling entry function")) {
    report_.entries.emplace_back();
    report_.entries.back().name = quoted(line).str();
  } else if (line.startswith("ptxas warning")) {
    report_.warnings.push_back(line.split(':').second.trim().str());
  } else if (!report_.entries.empty()) {
    const std::size_t at = line.find(kProperties);
    if (at != llvm::StringRef::npos) {
      isOwnFrame_ = line.substr(at + kProperties.size()) == report_.entries.back().name;
      return;
    }
    readFigures(line, report_.entries.back());
  }
}

void Reader::readFigures(llvm::StringRef line, PtxasEntry &entry) const {
  if (line.contains("bytes stack frame") && isOwnFrame_) {
    entry.stackBytes = numberBefore(line, "bytes stack frame");
    entry.spillStoreBytes = numberBefore(line, "bytes spill stores");
    entry.spillLoadBytes = numberBefore(line, "bytes spill loads");
  } else if (line.contains("Used ") && line.contains(" registers")) {
    entry.registers = numberBefore(line, "registers");
    entry.barriers = numberBefore(line, "barriers");
    entry.staticSmemBytes = numberBefore(line, "bytes smem");
    // The cumulative size covers the functions that the entry calls; its own frame does not.
    entry.stackBytes =
        std::max(entry.stackBytes, numberBefore(line, "bytes cumulative stack size"));
  }
}

PtxasReport parsePtxasReport(llvm::StringRef log) {
  Reader reader;
  llvm::SmallVector<llvm::StringRef, 32> lines;
  log.split(lines, '\n');
  for (const llvm::StringRef line : lines) {
    reader.readLine(line.trim());
  }
  return reader.take();
}

} // namespace fp8jit
