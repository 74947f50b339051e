// The Compiler that uses NVRTC. Main entry: NvrtcCompiler::create.
#pragma once

#include "runtime/compiler.h"
#include "runtime/nvrtc_library.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace fp8jit {

/// Finds NVRTC at the first question and loads it at the first compilation, so that a call served
/// from the cache never pays for it. A search that failed is repeated at the next question. Thread
/// safe: NVRTC holds no global lock, so as many compilations run at once as there are callers.
class NvrtcCompiler final : public Compiler {
public:
  static std::shared_ptr<NvrtcCompiler> create(NvrtcSearch search = NvrtcSearch::fromEnvironment());

  /// Errors: NvrtcNotFound.
  llvm::Expected<std::string> identity() override;
  llvm::Expected<CompiledProgram> compile(const CompileRequest &request) override;

  /// The library file, for `doctor` and `devices`. Errors: NvrtcNotFound.
  llvm::Expected<std::string> libraryPath();

private:
  explicit NvrtcCompiler(NvrtcSearch search) : search_(std::move(search)) {}
  llvm::Error locate();
  llvm::Expected<NvrtcLibrary> library();

  NvrtcSearch search_;
  std::mutex mutex_; ///< guards the three below; never held while compiling
  std::string path_;
  std::string identity_;
  std::optional<NvrtcLibrary> library_;
};

} // namespace fp8jit
