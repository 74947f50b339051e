// The keys of the problem grammar as tables: name, legal values, and the field of the struct that
// holds the value. Parser, printer and checks all walk these tables. Main entries: gemmKeys,
// quantKeys.
#pragma once

#include "fp8jit/problem.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace fp8jit {

/// One legal word of a key and the enumerator it stands for.
struct KeyChoice {
  llvm::StringRef name;
  std::int64_t value;
};

/// One key of operation `P`.
template <typename P>
struct ProblemKey {
  llvm::StringRef name;
  llvm::ArrayRef<KeyChoice> choices; ///< empty: the value is a decimal number
  bool isAlwaysPrinted;              ///< otherwise only when it differs from the default
  bool isRequired;
  std::int64_t (*get)(const P &problem);
  void (*set)(P &problem, std::int64_t value);
};

/// The keys in canonical order.
llvm::ArrayRef<ProblemKey<GemmProblem>> gemmKeys();
llvm::ArrayRef<ProblemKey<QuantProblem>> quantKeys();

/// The keys of the operation whose problem type is `P`.
template <typename P>
llvm::ArrayRef<ProblemKey<P>> problemKeys();
template <>
inline llvm::ArrayRef<ProblemKey<GemmProblem>> problemKeys() {
  return gemmKeys();
}
template <>
inline llvm::ArrayRef<ProblemKey<QuantProblem>> problemKeys() {
  return quantKeys();
}

/// All words of `choices`, for messages: "k, mn".
std::string choiceNames(llvm::ArrayRef<KeyChoice> choices);

/// The word for `value` among `choices`; empty if there is none.
llvm::StringRef choiceName(llvm::ArrayRef<KeyChoice> choices, std::int64_t value);

} // namespace fp8jit
