// The state behind Engine, shared by the files that implement it.
#pragma once

#include "runtime/config_choice.h"
#include "runtime/engine_internals.h"
#include "runtime/insert_only_table.h"
#include "runtime/loaded_kernel.h"
#include "runtime/prepared_kernel.h"
#include "runtime/problem_hash.h"
#include "runtime/workspace_pool.h"

#include "llvm/ADT/StringMap.h"

#include <mutex>

namespace fp8jit {

/// A row of the kernel table: a problem with m at the upper edge of its bucket, as the caller wrote
/// it (two spellings of one problem are two rows of one kernel).
template <typename AnyProblem>
struct ServedProblem {
  AnyProblem problem;
  PointerAlignment alignment;
  bool operator==(const ServedProblem &) const = default;
};

struct ServedProblemHash {
  template <typename AnyProblem>
  std::size_t operator()(const ServedProblem<AnyProblem> &key) const {
    return ProblemHash()(key.problem) ^ static_cast<std::size_t>(key.alignment);
  }
};

template <typename AnyProblem>
using KernelTable =
    InsertOnlyTable<ServedProblem<AnyProblem>, const LoadedKernel, ServedProblemHash>;

/// A kernel with the story of its configuration and binary.
struct ServedKernel {
  std::shared_ptr<const LoadedKernel> loaded;
  ConfigChoice choice;
  CacheSource cache = CacheSource::Compiled;
};

/// Whether a miss may start the tuner of the engine.
enum class MayTune : bool { No, Yes };

struct Engine::Internals::State {
  explicit State(Parts given);

  KernelTable<GemmProblem> &table(const GemmProblem & /*kind*/) { return gemms; }
  KernelTable<QuantProblem> &table(const QuantProblem & /*kind*/) { return quants; }

  /// Validates a problem and this build's support of it. Errors: InvalidArgument, Unsupported.
  llvm::Error check(const Problem &problem) const;

  /// The configuration for `problem` by the rules of OnMiss; `forced` empty: none. Errors:
  /// InvalidArgument (forced), NotFound (OnMiss::Fail), those of the tuner.
  llvm::Expected<ConfigChoice> choose(Engine &engine, const Problem &problem,
                                      llvm::StringRef forced, MayTune mayTune) const;

  /// Builds and loads the kernel of a choice, or finds it loaded.
  llvm::Expected<ServedKernel> obtain(const Problem &problem, ConfigChoice choice,
                                      PointerAlignment alignment);
  /// The binary that a winner names, where `error` says that there is no compiler; else `error`.
  llvm::Expected<ServedKernel> obtainNamed(const Problem &problem, ConfigChoice choice,
                                           PointerAlignment alignment, llvm::Error error);
  llvm::Expected<ServedKernel> load(const Problem &problem, ConfigChoice choice,
                                    std::shared_ptr<const BuiltKernel> built, CacheSource cache);
  std::shared_ptr<const LoadedKernel> findLoaded(llvm::StringRef key);

  /// Makes `kernel` live as long as the engine; returns the one kept before under its key, if any.
  std::shared_ptr<const LoadedKernel> keep(std::shared_ptr<const LoadedKernel> kernel);

  /// Errors: Unsupported if `stream` is being captured into a graph.
  llvm::Error refuseCapture(Stream stream) const;

  /// A call of Engine::gemm or quantize: warm, one look-up and the launch.
  template <typename AnyProblem, typename Buffers>
  llvm::Error serve(Engine &engine, const AnyProblem &problem, const Buffers &buffers,
                    Stream stream);
  /// The first call of a problem: check, choose, build, load, then enter it into the table.
  template <typename AnyProblem, typename Buffers>
  llvm::Expected<const LoadedKernel *> serveFirst(Engine &engine, const AnyProblem &problem,
                                                  const Buffers &buffers, Stream stream);

  Parts parts;
  KernelBuilder builder;
  std::shared_ptr<WorkspacePool> workspaces;
  KernelTable<GemmProblem> gemms;
  KernelTable<QuantProblem> quants;

  std::mutex mutex; ///< guards `loaded`; not held while compiling or loading
  /// Everything that the tables point to, by kernel key; lives as long as the engine.
  llvm::StringMap<std::shared_ptr<const LoadedKernel>> loaded;
};

} // namespace fp8jit
