// The problem grammar: one line names a problem everywhere (cache key, argument, shape file, log).
// Main entries: parseProblem, printProblem.
#pragma once

#include "fp8jit/problem.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace fp8jit {

/// Reads a line such as "gemm m=64 n=128 k=256 sa=1x128 sb=128x128" (keys in any order) and
/// validates it. Errors: InvalidArgument for unknown, repeated, inapplicable or malformed keys and
/// for values that break the grammar; the message names the key, what was found and what is
/// expected; Unsupported for what the grammar reserves (ggemm, gquant, batch). Other legal lines
/// that this build cannot run are accepted here (see checkSupported).
llvm::Expected<Problem> parseProblem(llvm::StringRef text);

/// The canonical line of a valid problem; parseProblem(printProblem(p)) == p.
std::string printProblem(const Problem &problem);
std::string printProblem(const GemmProblem &problem);
std::string printProblem(const QuantProblem &problem);

/// Checks a problem that was filled in as a struct by the rules of the grammar. Errors:
/// InvalidArgument; Unsupported for a reserved `batch`.
llvm::Error validateProblem(const Problem &problem);

/// The words of the grammar, for messages: "e4m3", "none"; "1x128"; "row4".
llvm::StringRef formatName(Format format);
llvm::StringRef scaleUnitName(ScaleUnit unit);
llvm::StringRef scaleLayoutName(ScaleLayout layout);

/// The m bucket that serves `m`: the upper edge, one of 1, 2, 4, ..., 8192, 2^31-1. m = 0 belongs
/// to bucket 1.
std::int64_t bucketUpperEdge(std::int64_t m);

/// The same problem with m at the upper edge of its bucket.
Problem atBucketEdge(Problem problem);

/// The winner key: the canonical line with m replaced by its bucket, "gemm m<=64 n=...".
std::string printBucketKey(const Problem &problem);

} // namespace fp8jit
