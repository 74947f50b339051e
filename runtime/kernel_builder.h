// Problem and configuration to a compiled binary: generate, look up by key, compile at most once,
// store. Needs no device, so prewarm and inspect use it for any architecture. Main entry:
// KernelBuilder::build.
#pragma once

#include "cache/store.h"
#include "fp8jit/engine.h"
#include "generator/generate.h"
#include "runtime/compiler.h"
#include "support/warning.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace fp8jit {

/// A source with its binary. Immutable once built.
struct BuiltKernel {
  std::string key; ///< 64 hex digits over everything that decides the binary
  GeneratedSource source;
  StoredBinary binary;
  CacheSource origin = CacheSource::Compiled; ///< Disk or Compiled
};

/// A source that waits for its binary.
struct PlannedKernel {
  std::string key;
  GeneratedSource source;
};

/// Version of what host and kernel agree on beyond the source: the parameter structs and how they
/// are passed. Raised whenever a binary of an older build must not be launched by this one.
inline constexpr int kKernelAbiVersion = 1;

/// The kernel key: SHA-256 over length-prefixed fields, so that no two different inputs share a
/// text. `arch` as in "89".
std::string kernelKey(llvm::StringRef source, llvm::StringRef arch,
                      llvm::StringRef compilerIdentity);

/// WinnerKey::toolchain for this compiler, target and set of templates.
std::string toolchainText(llvm::StringRef compilerIdentity, llvm::StringRef arch,
                          llvm::StringRef templatesHash);

/// Thread safe. Several threads that ask for one key share one compilation; a failed one is
/// reported to those who waited and tried again by the next.
class KernelBuilder {
public:
  struct Parts {
    TemplateLibrary templates;
    std::shared_ptr<Compiler> compiler;
    std::shared_ptr<Store> store; ///< null: nothing is looked up or kept
    WarningSink onWarning;        ///< may be empty
  };
  explicit KernelBuilder(Parts parts);
  ~KernelBuilder();

  /// The source of a problem; m enters as its bucket. Errors: Unsupported, InvalidArgument.
  llvm::Expected<GeneratedSource>
  generate(const Problem &problem, const Config &config, const GpuProfile &profile,
           PointerAlignment alignment = PointerAlignment::Bytes16) const;

  /// The source with its key; compiles nothing. Errors: those of generate, NvrtcNotFound.
  llvm::Expected<PlannedKernel> plan(const Problem &problem, const Config &config,
                                     const GpuProfile &profile,
                                     PointerAlignment alignment = PointerAlignment::Bytes16) const;

  /// A kernel built before that somebody still holds; null if there is none.
  std::shared_ptr<const BuiltKernel> findInMemory(llvm::StringRef key);

  /// Takes the binary from memory or the store, or compiles and stores it. A store that cannot be
  /// written costs one warning. Errors: those of Compiler::compile.
  llvm::Expected<std::shared_ptr<const BuiltKernel>> build(PlannedKernel planned,
                                                           const GpuProfile &profile);
  /// plan, then build.
  llvm::Expected<std::shared_ptr<const BuiltKernel>>
  build(const Problem &problem, const Config &config, const GpuProfile &profile,
        PointerAlignment alignment = PointerAlignment::Bytes16);

  /// The stored binary that a winner row names, without any compiler. Nothing if it is absent or
  /// does not hold the entries of the source generated for (problem, config) today.
  std::shared_ptr<const BuiltKernel> findByKey(llvm::StringRef key, const Problem &problem,
                                               const Config &config, const GpuProfile &profile);

  Compiler &compiler() const { return *parts_.compiler; }
  const TemplateLibrary &templates() const { return parts_.templates; }

private:
  struct Flight;
  /// What is known of a key.
  struct Known {
    std::shared_ptr<Flight> flight; ///< while it is being built
    std::weak_ptr<const BuiltKernel> built;
  };
  llvm::Expected<std::shared_ptr<const BuiltKernel>> lookUpOrCompile(PlannedKernel planned,
                                                                     const GpuProfile &profile);

  /// One warning for all writes that fail: the cause is the same file.
  void warnOnce(const std::string &text);

  Parts parts_;
  std::atomic<bool> hasWarned_ = false;
  std::mutex mutex_; ///< guards known_; never held while compiling
  llvm::StringMap<Known> known_;
};

} // namespace fp8jit
