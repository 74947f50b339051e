// One template and all it includes as one text. Main entry: flattenTemplate.
#pragma once

#include "generator/generate.h"

#include "llvm/ADT/StringMap.h"

namespace fp8jit {

/// Slot name ("slot/scale.cuh") to the text that takes its place.
using SlotTexts = llvm::StringMap<std::string>;

/// The text of template `root` with every include replaced by what it names, each once, in the
/// order of need; slots are replaced by `slots`. The result includes nothing; namespace lines, and
/// head comments other than the root's, are left out. Errors: NotFound for an include that is
/// neither a slot text nor a template; InvalidArgument for an include with angle brackets.
llvm::Expected<std::string> flattenTemplate(llvm::StringRef root, const SlotTexts &slots,
                                            const TemplateLibrary &templates);

} // namespace fp8jit
