// Edits of PTX text, line by line.
#include "tests/emulator/hopper/mutation.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>

namespace fp8jit::testing {

static constexpr std::string_view kSite = "// site ";

static std::vector<std::string> splitLines(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(std::move(line));
  }
  return lines;
}

/// The name of the site that a line is the comment of; empty for other lines.
static std::string_view siteOf(std::string_view line) {
  const std::size_t begin = line.find(kSite);
  return begin == std::string_view::npos ? std::string_view() : line.substr(begin + kSite.size());
}

/// Splits `a, b, c;` behind the last comma outside of brackets.
static std::size_t lastOperandBegin(const std::string &line) {
  const std::size_t comma = line.rfind(',');
  const std::size_t blank = line.rfind(' ');
  return comma == std::string::npos ? blank + 1 : comma + 2; // wait_group has one operand
}

static bool applyTo(std::string &line, const Mutation &mutation) {
  const std::size_t end = line.rfind(';');
  const std::size_t last = lastOperandBegin(line);
  if (end == std::string::npos || last > end) {
    return false;
  }
  switch (mutation.edit) {
  case Mutation::Edit::Remove:
    line = "// removed";
    return true;
  case Mutation::Edit::SkipWait:
    line = "setp.eq.u32 done, 0, 0;";
    return true;
  case Mutation::Edit::FlipParity:
    line = ".reg .b32 flipped; xor.b32 flipped, " + line.substr(last, end - last) + ", 1; " +
           line.substr(0, last) + "flipped;";
    return true;
  case Mutation::Edit::LastOperand:
    line = line.substr(0, last) + mutation.text + ";";
    return true;
  case Mutation::Edit::Replace:
    line.replace(line.find(mutation.opcode), mutation.opcode.size(), mutation.text);
    return true;
  }
  return false;
}

std::string Mutation::name() const {
  const std::string where = " at '" + site + "'";
  switch (edit) {
  case Edit::Remove:
    return "remove " + opcode + where;
  case Edit::SkipWait:
    return "skip the wait" + where;
  case Edit::FlipParity:
    return "flip the parity" + where;
  case Edit::LastOperand:
    return opcode + " with " + text + where;
  case Edit::Replace:
    return "'" + opcode + "' becomes '" + text + "'" + where;
  }
  return "";
}

std::string mutate(const std::string &ptx, const Mutation &mutation) {
  bool isChanged = false;
  bool isBehindSite = false;
  std::string result;
  for (std::string &line : splitLines(ptx)) {
    const std::string_view site = siteOf(line);
    if (!site.empty()) {
      if (isBehindSite) {
        return ""; // the next site begins before the instruction was found
      }
      isBehindSite = site == mutation.site;
    } else if (isBehindSite && line.find(mutation.opcode) != std::string::npos) {
      if (!applyTo(line, mutation)) {
        return "";
      }
      isBehindSite = false;
      isChanged = true;
    }
    result += line + "\n";
  }
  return isChanged && !isBehindSite ? result : "";
}

/// Whether `report` contains "line N" with no digit behind.
static bool namesLine(const std::string &report, std::size_t number) {
  const std::string text = "line " + std::to_string(number);
  for (std::size_t at = report.find(text); at != std::string::npos;
       at = report.find(text, at + 1)) {
    const std::size_t end = at + text.size();
    if (end == report.size() || std::isdigit(static_cast<unsigned char>(report[end])) == 0) {
      return true;
    }
  }
  return false;
}

bool namesSite(const std::string &report, const std::string &ptx, const std::string &site) {
  const std::vector<std::string> lines = splitLines(ptx);
  bool isInside = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view name = siteOf(lines[i]);
    if (!name.empty()) {
      isInside = name == site;
    } else if (isInside && namesLine(report, i + 1)) {
      return true;
    }
  }
  return false;
}

} // namespace fp8jit::testing
