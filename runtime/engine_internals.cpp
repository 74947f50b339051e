// The state of an engine, and the cold path of a call: choose, build, load, keep.
#include "runtime/engine_internals.h"

#include "generator/problem_text.h"
#include "runtime/driver/driver.h"
#include "runtime/engine_state.h"
#include "support/error.h"

#include "llvm/Support/FormatVariadic.h"

#include <utility>

namespace fp8jit {

Engine::Internals::State::State(Parts given)
    : parts(std::move(given)), builder({.templates = parts.templates,
                                        .compiler = parts.compiler,
                                        .store = parts.store,
                                        .onWarning = parts.onWarning}),
      workspaces(std::make_shared<WorkspacePool>(parts.device)) {}

Engine::Internals::Internals(Parts parts) : state_(std::make_unique<State>(std::move(parts))) {}
Engine::Internals::~Internals() = default;

Engine Engine::Internals::makeEngine(Parts parts) {
  return Engine(std::make_unique<Internals>(std::move(parts)));
}

Device &Engine::Internals::device() const {
  return *state_->parts.device;
}
std::shared_ptr<Device> Engine::Internals::sharedDevice() const {
  return state_->parts.device;
}
const GpuProfile &Engine::Internals::profile() const {
  return device().profile();
}
Store *Engine::Internals::store() const {
  return state_->parts.store.get();
}
KernelBuilder &Engine::Internals::builder() const {
  return state_->builder;
}

llvm::Expected<WinnerKey> Engine::Internals::winnerKey(const Problem &problem) const {
  llvm::Expected<std::string> identity = builder().compiler().identity();
  if (!identity) {
    return identity.takeError();
  }
  return WinnerKey{.problem = printBucketKey(problem),
                   .target = device().targetText(),
                   .toolchain =
                       toolchainText(*identity, profile().arch, builder().templates().hash())};
}

void Engine::Internals::forgetChoice(const Problem &problem) {
  const auto forget = [this](auto bucket) {
    bucket.m = bucketUpperEdge(bucket.m);
    for (const PointerAlignment alignment :
         {PointerAlignment::Bytes16, PointerAlignment::Element}) {
      state_->table(bucket)
          .findOrInsert({bucket, alignment})
          .value.store(nullptr, std::memory_order_release);
    }
  };
  std::visit(forget, problem);
}

llvm::Error Engine::Internals::State::check(const Problem &problem) const {
  if (llvm::Error error = validateProblem(problem)) {
    return error;
  }
  return checkSupported(problem, parts.device->profile());
}

llvm::Expected<ConfigChoice> Engine::Internals::State::choose(Engine &engine,
                                                              const Problem &problem,
                                                              llvm::StringRef forced,
                                                              MayTune mayTune) const {
  const GpuProfile &profile = parts.device->profile();
  if (!forced.empty()) {
    return forcedChoice(problem, forced, profile);
  }
  if (std::optional<ConfigChoice> winner = winnerChoice(engine.internals(), problem)) {
    return std::move(*winner);
  }
  if (parts.onMiss == OnMiss::Fail) {
    return fail(ErrorCode::NotFound,
                llvm::formatv("no winner for '{0}' on {1}, expected one under OnMiss::Fail; run "
                              "fp8jit tune for this device",
                              printBucketKey(problem), parts.device->targetText()));
  }
  if (parts.onMiss == OnMiss::Tune && mayTune == MayTune::Yes) {
    Result<std::string> config = parts.tuner->tune(engine, problem);
    if (!config) {
      return fail(config.error().code, "tuning: " + config.error().message, config.error().details);
    }
    llvm::Expected<ConfigChoice> choice = forcedChoice(problem, *config, profile);
    if (choice) {
      choice->source = ConfigSource::Winner;
      choice->provenance = parts.device->isEmulated() ? Provenance::Modelled : Provenance::Measured;
    }
    return choice;
  }
  // The default may follow m; one bucket has one kernel, whichever m comes first.
  const Problem bucket = atBucketEdge(problem);
  return ConfigChoice{.config = defaultConfig(bucket, profile),
                      .source = ConfigSource::Default,
                      .provenance = Provenance::Default,
                      .kernelKey = {}};
}

llvm::Expected<ServedKernel> Engine::Internals::State::obtain(const Problem &problem,
                                                              ConfigChoice choice,
                                                              PointerAlignment alignment) {
  const GpuProfile &profile = parts.device->profile();
  llvm::Expected<PlannedKernel> planned = builder.plan(problem, choice.config, profile, alignment);
  if (!planned) {
    return obtainNamed(problem, std::move(choice), alignment, planned.takeError());
  }
  if (auto known = findLoaded(planned->key)) {
    return ServedKernel{std::move(known), std::move(choice), CacheSource::Memory};
  }
  const bool isInMemory = builder.findInMemory(planned->key) != nullptr;
  llvm::Expected<std::shared_ptr<const BuiltKernel>> built =
      builder.build(std::move(*planned), profile);
  if (!built) {
    return obtainNamed(problem, std::move(choice), alignment, built.takeError());
  }
  const CacheSource cache = isInMemory ? CacheSource::Memory : (*built)->origin;
  return load(problem, std::move(choice), std::move(*built), cache);
}

llvm::Expected<ServedKernel> Engine::Internals::State::obtainNamed(const Problem &problem,
                                                                   ConfigChoice choice,
                                                                   PointerAlignment alignment,
                                                                   llvm::Error error) {
  const FailureInfo failure = takeFailure(std::move(error));
  // A winner names the binary of the fast alignment, the only one that prewarming makes.
  if (failure.code() == ErrorCode::NvrtcNotFound && !choice.kernelKey.empty() &&
      alignment == PointerAlignment::Bytes16) {
    if (auto known = findLoaded(choice.kernelKey)) {
      return ServedKernel{std::move(known), std::move(choice), CacheSource::Memory};
    }
    if (auto named =
            builder.findByKey(choice.kernelKey, problem, choice.config, parts.device->profile())) {
      return load(problem, std::move(choice), std::move(named), CacheSource::Disk);
    }
  }
  return fail(failure.code(), failure.text(), failure.details());
}

llvm::Expected<ServedKernel>
Engine::Internals::State::load(const Problem &problem, ConfigChoice choice,
                               std::shared_ptr<const BuiltKernel> built, CacheSource cache) {
  if (workspaceBytes(problem) > 0) {
    if (llvm::Error error = workspaces->reserve()) {
      return error;
    }
  }
  llvm::Expected<std::shared_ptr<const LoadedKernel>> kernel =
      LoadedKernel::load(parts.device, std::move(built), choice.config);
  if (!kernel) {
    return kernel.takeError();
  }
  return ServedKernel{std::move(*kernel), std::move(choice), cache};
}

std::shared_ptr<const LoadedKernel> Engine::Internals::State::findLoaded(llvm::StringRef key) {
  const std::lock_guard lock(mutex);
  const auto known = loaded.find(key);
  return known == loaded.end() ? nullptr : known->second;
}

std::shared_ptr<const LoadedKernel>
Engine::Internals::State::keep(std::shared_ptr<const LoadedKernel> kernel) {
  const std::lock_guard lock(mutex);
  return loaded.try_emplace(kernel->built().key, kernel).first->second;
}

llvm::Error Engine::Internals::State::refuseCapture(Stream stream) const {
  llvm::Expected<void *> toRestore = parts.device->enterContext();
  if (!toRestore) {
    return toRestore.takeError();
  }
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult result =
      parts.device->driver().api().streamIsCapturing(static_cast<CUstream>(stream), &status);
  parts.device->leaveContext(*toRestore);
  const bool isCapturing = result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT ||
                           (result == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE);
  if (isCapturing) {
    return fail(ErrorCode::Unsupported,
                "the first call of a problem compiles and loads, which a stream capture does not "
                "allow, expected a call of Engine::prepare before the capture");
  }
  return llvm::Error::success();
}

} // namespace fp8jit
