// What the sub-commands that run kernels share: the engine behind --device, --cache and
// --templates, the problem line, and the conversion of public errors. Main entry: openEngine.
#pragma once

#include "cli/arguments.h"
#include "cli/console.h"
#include "fp8jit/engine.h"
#include "support/error.h"

#include "llvm/Support/Error.h"

#include <utility>

namespace fp8jit {

/// Opens the engine that the flags ask for. Without --device: the first CUDA GPU, else an emulated
/// device, which is then said on standard error. `options` brings the rest (onMiss, tuner). Errors:
/// those of Engine::open.
llvm::Expected<Engine> openEngine(const Arguments &arguments, Console &console,
                                  EngineOptions options = {});

/// The operand as a problem of kind P (GemmProblem or QuantProblem). Errors: InvalidArgument, and
/// Unsupported for flags that this build does not serve (checked after the line itself).
template <typename P>
llvm::Expected<P> parseProblemOf(const Arguments &arguments);
template <>
llvm::Expected<GemmProblem> parseProblemOf(const Arguments &arguments);
template <>
llvm::Expected<QuantProblem> parseProblemOf(const Arguments &arguments);
/// Either kind.
llvm::Expected<Problem> parseAnyProblem(const Arguments &arguments);

/// The error of a public call, to be handed on inside.
[[nodiscard]] llvm::Error toError(const Error &error);

/// A public result, to be handed on inside.
template <typename T>
llvm::Expected<T> toExpected(Result<T> result) {
  if (!result.ok()) {
    return toError(result.error());
  }
  return std::move(result).value();
}

/// The same for calls without a value.
[[nodiscard]] llvm::Error toError(const Result<void> &result);

/// The words of --json output: winner, default, forced; measured, modelled, default.
const char *nameOf(ConfigSource source);
const char *nameOf(Provenance provenance);

/// The members of --json output that say which kernel served a problem.
void addKernelInfo(Report &report, const Engine &engine, const KernelInfo &info);
/// The members that say how long it took.
void addTime(Report &report, const Engine &engine, double timeNs);

} // namespace fp8jit
