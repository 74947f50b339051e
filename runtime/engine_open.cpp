// Engine::open: from options to the parts of an engine.
#include "runtime/engine_internals.h"
#include "runtime/nvrtc_compiler.h"
#include "runtime/result.h"
#include "support/error.h"

#include <cstdio>
#include <utility>

namespace fp8jit {

static void warnOnStandardError(std::string_view text) {
  std::fprintf(stderr, "warning: %.*s\n", static_cast<int>(text.size()), text.data());
}

/// The user's cache; null, and one warning, where it cannot be used.
static std::shared_ptr<Store> openStore(const std::string &requested,
                                        const std::function<void(std::string_view)> &onWarning) {
  if (requested == "none") {
    return nullptr;
  }
  const std::string directory = cacheDirectory(requested);
  if (directory.empty()) {
    onWarning("no cache: FP8JIT_CACHE_DIR, XDG_CACHE_HOME and HOME are unset; kernels are compiled "
              "again in every process");
    return nullptr;
  }
  llvm::Expected<std::unique_ptr<Store>> store = Store::open(
      {.directory = directory, .readOnly = false, .onWarning = [onWarning](llvm::StringRef text) {
         onWarning(std::string_view(text.data(), text.size()));
       }});
  if (!store) {
    onWarning("no cache: " + takeFailure(store.takeError()).text());
    return nullptr;
  }
  return std::move(*store);
}

Result<Engine> Engine::open(EngineOptions options) {
  if (options.onMiss == OnMiss::Tune && options.tuner == nullptr) {
    return Error{.code = ErrorCode::InvalidArgument,
                 .message = "option tuner is null, expected a TunerHook with OnMiss::Tune",
                 .details = {}};
  }
  Internals::Parts parts;
  parts.onMiss = options.onMiss;
  parts.tuner = std::move(options.tuner);
  parts.onWarning = options.onWarning ? std::move(options.onWarning) : warnOnStandardError;
  parts.templates = TemplateLibrary::embedded();
  if (!options.templatesDirectory.empty()) {
    llvm::Expected<TemplateLibrary> folder =
        TemplateLibrary::fromDirectory(options.templatesDirectory);
    if (!folder) {
      return toPublicError(folder.takeError());
    }
    parts.templates = std::move(*folder);
  }
  llvm::Expected<std::shared_ptr<Device>> device = Device::open(options.device);
  if (!device) {
    return toPublicError(device.takeError());
  }
  parts.device = std::move(*device);
  parts.compiler = NvrtcCompiler::create();
  parts.store = openStore(options.cacheDirectory, parts.onWarning);
  return Internals::makeEngine(std::move(parts));
}

} // namespace fp8jit
