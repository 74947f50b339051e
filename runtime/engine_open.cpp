// Engine::open: from options to the parts of an engine.
#include "runtime/engine_internals.h"
#include "runtime/nvrtc_compiler.h"
#include "runtime/result.h"
#include "support/error.h"
#include "support/warning.h"

#include <utility>

namespace fp8jit {

Result<Engine> Engine::open(EngineOptions options) {
  if (options.onMiss == OnMiss::Tune && options.tuner == nullptr) {
    return Error{.code = ErrorCode::InvalidArgument,
                 .message = "option tuner is null, expected a TunerHook with OnMiss::Tune",
                 .details = {}};
  }
  Internals::Parts parts;
  parts.onMiss = options.onMiss;
  parts.tuner = std::move(options.tuner);
  parts.onWarning = options.onWarning ? std::move(options.onWarning) : printWarning;
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
  parts.store = openUserStore(options.cacheDirectory, parts.onWarning);
  return Internals::makeEngine(std::move(parts));
}

} // namespace fp8jit
