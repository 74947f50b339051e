#include "support/quote.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace fp8jit {

static constexpr std::size_t kLongestQuote = 60;

std::string quoteText(llvm::StringRef text) {
  std::string safe;
  llvm::raw_string_ostream os(safe);
  os << '\'';
  llvm::printEscapedString(text.take_front(kLongestQuote), os);
  os << (text.size() > kLongestQuote ? "...'" : "'");
  return os.str();
}

} // namespace fp8jit
