#include "fp8jit/engine.h"

#include "generator/problem_text.h"
#include "runtime/engine_state.h"
#include "runtime/kernel_info.h"
#include "runtime/launch_checks.h"
#include "runtime/result.h"
#include "support/error.h"

#include <cstdint>
#include <utility>

namespace fp8jit {

static llvm::Error checkBuffers(const GemmProblem &problem, const GemmBuffers &buffers) {
  return checkGemmBuffers(problem, buffers);
}

static llvm::Error checkBuffers(const QuantProblem &problem, const QuantBuffers &buffers) {
  return checkQuantBuffers(problem, buffers);
}

static llvm::Error launchOne(const LoadedKernel &kernel, llvm::ArrayRef<std::int64_t> grids,
                             const GemmProblem &problem, const GemmBuffers &buffers, Stream stream,
                             WorkspacePool & /*needs none*/) {
  return launchGemm(kernel, grids, problem, buffers, stream);
}

static llvm::Error launchOne(const LoadedKernel &kernel, llvm::ArrayRef<std::int64_t> grids,
                             const QuantProblem &problem, const QuantBuffers &buffers,
                             Stream stream, WorkspacePool &workspaces) {
  return launchQuant(kernel, grids, problem, buffers, stream, workspaces);
}

template <typename AnyProblem, typename Buffers>
llvm::Error Engine::Internals::State::serve(Engine &engine, const AnyProblem &problem,
                                            const Buffers &buffers, Stream stream) {
  // A hit proves that the problem is valid but for m, which the bucket hides.
  const LoadedKernel *kernel = nullptr;
  if (problem.m >= 0 && problem.m <= INT32_MAX) {
    ServedProblem<AnyProblem> key = {problem, alignmentOf(buffers)};
    key.problem.m = bucketUpperEdge(problem.m);
    kernel = table(problem).find(key);
  }
  if (kernel == nullptr) {
    llvm::Expected<const LoadedKernel *> first = serveFirst(engine, problem, buffers, stream);
    if (!first) {
      return first.takeError();
    }
    kernel = *first; // null: the problem is empty
  } else if (!isEmpty(problem)) {
    if (llvm::Error error = checkBuffers(problem, buffers)) {
      return error;
    }
  }
  if (isEmpty(problem)) {
    return llvm::Error::success();
  }
  llvm::Expected<EntryGrids> grids = kernel->grids(problem);
  if (!grids) {
    return grids.takeError();
  }
  return launchOne(*kernel, *grids, problem, buffers, stream, *workspaces);
}

template <typename AnyProblem, typename Buffers>
llvm::Expected<const LoadedKernel *>
Engine::Internals::State::serveFirst(Engine &engine, const AnyProblem &problem,
                                     const Buffers &buffers, Stream stream) {
  if (llvm::Error error = check(problem)) {
    return error;
  }
  if (isEmpty(problem)) {
    return nullptr;
  }
  if (llvm::Error error = checkBuffers(problem, buffers)) {
    return error;
  }
  if (llvm::Error error = refuseCapture(stream)) {
    return error;
  }
  llvm::Expected<ConfigChoice> choice = choose(engine, problem, {}, MayTune::Yes);
  if (!choice) {
    return choice.takeError();
  }
  const PointerAlignment alignment = alignmentOf(buffers);
  llvm::Expected<ServedKernel> served = obtain(problem, std::move(*choice), alignment);
  if (!served) {
    return served.takeError();
  }
  const LoadedKernel *kernel = keep(std::move(served->loaded)).get();
  ServedProblem<AnyProblem> key = {problem, alignment};
  key.problem.m = bucketUpperEdge(problem.m);
  table(problem).findOrInsert(key).value.store(kernel, std::memory_order_release);
  return kernel;
}

Engine::Engine(std::unique_ptr<Internals> internals) : internals_(std::move(internals)) {}
Engine::Engine(Engine &&) noexcept = default;
Engine &Engine::operator=(Engine &&) noexcept = default;
Engine::~Engine() = default;

Result<void> Engine::gemm(const GemmProblem &problem, const GemmBuffers &buffers, Stream stream) {
  return toResult(internals_->state_->serve(*this, problem, buffers, stream));
}

Result<void> Engine::quantize(const QuantProblem &problem, const QuantBuffers &buffers,
                              Stream stream) {
  return toResult(internals_->state_->serve(*this, problem, buffers, stream));
}

Result<Kernel> Engine::prepare(const Problem &problem, std::string_view config) {
  Internals::State &state = *internals_->state_;
  const llvm::StringRef forced = config;
  if (llvm::Error error = state.check(problem)) {
    return toPublicError(std::move(error));
  }
  auto impl = std::make_shared<Kernel::Impl>();
  impl->problem = problem;
  impl->workspaces = state.workspaces;
  Kernel kernel;
  if (isEmpty(problem)) {
    Result<KernelInfo> info = describe(problem, config);
    if (!info) {
      return info.error();
    }
    impl->info = std::move(*info);
    kernel.impl_ = std::move(impl);
    return kernel;
  }
  llvm::Expected<ConfigChoice> choice = state.choose(*this, problem, forced, MayTune::Yes);
  if (!choice) {
    return toPublicError(choice.takeError());
  }
  llvm::Expected<ServedKernel> served =
      state.obtain(problem, std::move(*choice), PointerAlignment::Bytes16);
  if (!served) {
    return toPublicError(served.takeError());
  }
  if (forced.empty()) {
    // Only what gemm and quantize will ask for again; candidates of tuning die with their handles.
    served->loaded = state.keep(std::move(served->loaded));
    std::visit(
        [&](auto bucket) {
          bucket.m = bucketUpperEdge(bucket.m);
          state.table(bucket)
              .findOrInsert({bucket, PointerAlignment::Bytes16})
              .value.store(served->loaded.get(), std::memory_order_release);
        },
        problem);
  }
  llvm::Expected<EntryGrids> grids = served->loaded->grids(problem);
  if (!grids) {
    return toPublicError(grids.takeError());
  }
  impl->grids = std::move(*grids);
  impl->info = kernelInfo(problem, served->choice, served->loaded->built(), served->cache);
  impl->loaded = std::move(served->loaded);
  kernel.impl_ = std::move(impl);
  return kernel;
}

Result<KernelInfo> Engine::describe(const Problem &problem, std::string_view config) {
  Internals::State &state = *internals_->state_;
  if (llvm::Error error = state.check(problem)) {
    return toPublicError(std::move(error));
  }
  llvm::Expected<ConfigChoice> choice = state.choose(*this, problem, config, MayTune::No);
  if (!choice) {
    return toPublicError(choice.takeError());
  }
  const GpuProfile &profile = internals_->profile();
  BuiltKernel outlook;
  llvm::Expected<PlannedKernel> planned = state.builder.plan(problem, choice->config, profile);
  if (planned) {
    outlook.key = std::move(planned->key);
    outlook.source = std::move(planned->source);
  } else {
    // Without a compiler the key stays empty, as documented; other reasons come up again here.
    llvm::consumeError(planned.takeError());
    llvm::Expected<GeneratedSource> source =
        state.builder.generate(problem, choice->config, profile);
    if (!source) {
      return toPublicError(source.takeError());
    }
    outlook.source = std::move(*source);
  }
  return kernelInfo(problem, *choice, outlook, CacheSource::Compiled);
}

Result<std::string> Engine::source(const Problem &problem, std::string_view config) {
  Result<KernelInfo> info = describe(problem, config);
  if (!info) {
    return info.error();
  }
  return std::move(info->source);
}

const std::string &Engine::device() const {
  return internals_->device().name();
}
const std::string &Engine::deviceName() const {
  return internals_->device().deviceName();
}
const std::string &Engine::arch() const {
  return internals_->device().arch();
}
bool Engine::isEmulated() const {
  return internals_->device().isEmulated();
}
Engine::Internals &Engine::internals() {
  return *internals_;
}

Result<Problem> parseProblemText(std::string_view text) {
  return toResult(parseProblem(text));
}

std::string problemText(const Problem &problem) {
  return printProblem(problem);
}

} // namespace fp8jit
