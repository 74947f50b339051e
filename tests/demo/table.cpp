// Formats cells, then pads every column to its widest cell.
#include "tests/demo/table.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <array>

namespace fp8jit::demo {

using llvm::formatv;

static constexpr std::size_t kColumns = 8;
using Row = std::array<std::string, kColumns>;

static const char *sourceName(const KernelInfo &kernel) {
  switch (kernel.configSource) {
  case ConfigSource::Winner:
    return "winner";
  case ConfigSource::Default:
    return "default";
  case ConfigSource::Forced:
    return "forced";
  }
  return "";
}

static const char *cacheName(const ProjectionResult &result) {
  const KernelInfo &kernel = result.kernel;
  if (result.compileMs > 0 && kernel.configSource == ConfigSource::Winner) {
    return "tuned now";
  }
  switch (kernel.cache) {
  case CacheSource::Memory:
    return "memory";
  case CacheSource::Disk:
    return "disk";
  case CacheSource::Compiled:
    return "compiled";
  }
  return "";
}

static Row makeRow(const ProjectionResult &result) {
  return {result.name,
          formatv("{0} x {1} x {2}", result.m, result.n, result.k).str(),
          result.kernel.config,
          formatv("{0}, {1}", sourceName(result.kernel), cacheName(result)).str(),
          formatv("{0:f2} us", result.timeNs / 1e3).str(),
          formatv("{0:e1}", result.codeError).str(),
          formatv("{0:e1}", result.productError).str(),
          result.compileMs > 0 ? formatv("{0:f0} ms", result.compileMs).str() : "none"};
}

std::string printTable(const std::vector<ProjectionResult> &results) {
  std::vector<Row> rows = {{"matrix", "m x n x k", "configuration", "from", "modelled", "vs codes",
                            "vs bf16", "compile"}};
  for (const ProjectionResult &result : results) {
    rows.push_back(makeRow(result));
  }
  std::array<std::size_t, kColumns> widths{};
  for (const Row &row : rows) {
    for (std::size_t column = 0; column < kColumns; ++column) {
      widths[column] = std::max(widths[column], row[column].size());
    }
  }
  std::string text;
  for (const Row &row : rows) {
    std::string line;
    for (std::size_t column = 0; column < kColumns; ++column) {
      line += row[column] + std::string(widths[column] - row[column].size() + 2, ' ');
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

} // namespace fp8jit::demo
