// Foreign text made safe for one line of a message. Main entry: quoteText.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace fp8jit {

/// `text` in single quotes, bytes that do not print as \XX, cut after 60 bytes with "...".
std::string quoteText(llvm::StringRef text);

} // namespace fp8jit
