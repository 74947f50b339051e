// The template texts compiled into the program; the table is written by embed_templates.cmake.
#pragma once

#include "llvm/ADT/ArrayRef.h"

namespace fp8jit {

struct EmbeddedText {
  const char *name; ///< below templates/, for example "slot/config.cuh"
  const char *text;
};

/// All templates, sorted by name.
llvm::ArrayRef<EmbeddedText> embeddedTexts();

} // namespace fp8jit
