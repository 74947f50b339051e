// PTX ISA 11.4 (performance-tuning directives) and 11.7 (cluster dimension directives).
#include "emulator/ptx/tuning_directives.h"

#include <algorithm>
#include <array>

namespace fp8jit::emulator {

namespace {

/// A directive with up to three dimensions.
struct DimensionDirective {
  std::string_view word;
  std::uint32_t (Function::*dimensions)[3];
};

/// A directive with one number.
struct CountDirective {
  std::string_view word;
  std::uint32_t Function::*count;
};

/// A directive without an argument.
struct FlagDirective {
  std::string_view word;
  bool Function::*flag;
};

constexpr std::array kDimensionDirectives = {
    DimensionDirective{".maxntid", &Function::maxBlock},
    DimensionDirective{".reqntid", &Function::requiredThreads},
    DimensionDirective{".reqnctapercluster", &Function::requiredCluster},
};

constexpr std::array kCountDirectives = {
    CountDirective{".minnctapersm", &Function::minBlocksPerSm},
    CountDirective{".maxnreg", &Function::maxRegisters},
    CountDirective{".maxclusterrank", &Function::maxClusterRank},
};

constexpr std::array kFlagDirectives = {
    FlagDirective{".explicitcluster", &Function::explicitCluster},
    FlagDirective{".blocksareclusters", &Function::blocksAreClusters},
    FlagDirective{".noreturn", &Function::isNoReturn},
};

} // namespace

/// One to three numbers; those that are missing become 1.
static bool readDimensions(TokenCursor &cursor, std::uint32_t (&dimensions)[3]) {
  constexpr std::uint64_t kMaxDimension = 1024;
  std::fill(std::begin(dimensions), std::end(dimensions), 1U);
  for (std::uint32_t &dimension : dimensions) {
    std::uint64_t value = 0;
    if (!cursor.expectNumber(value, kMaxDimension, "a block dimension")) {
      return false;
    }
    dimension = static_cast<std::uint32_t>(value);
    if (!cursor.skipPunct(',')) {
      return true;
    }
  }
  return cursor.fail("more than three block dimensions");
}

static bool readCount(TokenCursor &cursor, std::uint32_t &count) {
  std::uint64_t value = 0;
  if (!cursor.expectNumber(value, 1U << 20, "a count")) {
    return false;
  }
  count = static_cast<std::uint32_t>(value);
  return true;
}

static bool readDirective(TokenCursor &cursor, Function &function) {
  for (const DimensionDirective &directive : kDimensionDirectives) {
    if (cursor.skipWord(directive.word)) {
      return readDimensions(cursor, function.*directive.dimensions);
    }
  }
  for (const CountDirective &directive : kCountDirectives) {
    if (cursor.skipWord(directive.word)) {
      return readCount(cursor, function.*directive.count);
    }
  }
  for (const FlagDirective &directive : kFlagDirectives) {
    if (cursor.skipWord(directive.word)) {
      function.*directive.flag = true;
      return true;
    }
  }
  if (cursor.skipWord(".pragma")) {
    cursor.next();
    return cursor.expectPunct(';');
  }
  return cursor.fail("unsupported directive of a function, found " + cursor.found());
}

bool readTuningDirectives(TokenCursor &cursor, Function &function) {
  while (!cursor.isPunct('{') && !cursor.isPunct(';')) {
    const std::uint32_t line = cursor.peek().line;
    if (!readDirective(cursor, function)) {
      return false;
    }
    const bool needsSize = function.blocksAreClusters || function.requiredCluster[0] != 0;
    if (needsSize && function.maxClusterRank != 0) {
      return cursor.fail(line, ".maxclusterrank does not go with a cluster size");
    }
  }
  if (function.blocksAreClusters &&
      (function.requiredThreads[0] == 0 || function.requiredCluster[0] == 0)) {
    return cursor.fail(".blocksareclusters needs .reqntid and .reqnctapercluster");
  }
  return true;
}

} // namespace fp8jit::emulator
