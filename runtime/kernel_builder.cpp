#include "runtime/kernel_builder.h"

#include "generator/problem_text.h"
#include "runtime/ptxas_report.h"
#include "support/error.h"

#include <condition_variable>
#include <utility>

namespace fp8jit {

using SharedBuild = std::shared_ptr<const BuiltKernel>;

/// One compilation in progress and those who wait for it.
struct KernelBuilder::Flight {
  std::mutex mutex; ///< guards the two below
  std::condition_variable landed;
  bool isDone = false;
  SharedBuild built;                  ///< null if it failed
  std::optional<FailureInfo> failure; ///< why

  void land(SharedBuild result, std::optional<FailureInfo> reason) {
    const std::lock_guard lock(mutex);
    built = std::move(result);
    failure = std::move(reason);
    isDone = true;
    landed.notify_all();
  }

  llvm::Expected<SharedBuild> wait() {
    std::unique_lock lock(mutex);
    landed.wait(lock, [this] { return isDone; });
    if (failure) {
      return fail(failure->code(), failure->text(), failure->details());
    }
    return built;
  }
};

KernelBuilder::KernelBuilder(Parts parts) : parts_(std::move(parts)) {}
KernelBuilder::~KernelBuilder() = default;

llvm::Expected<GeneratedSource> KernelBuilder::generate(const Problem &problem,
                                                        const Config &config,
                                                        const GpuProfile &profile,
                                                        PointerAlignment alignment) const {
  return generateSource(problem, config, profile, parts_.templates, alignment);
}

/// The entries of a source with what ptxas reported of them.
static std::vector<StoredEntry> storedEntries(const GeneratedSource &source,
                                              const PtxasReport &report) {
  std::vector<StoredEntry> entries;
  for (const KernelEntry &entry : source.entries) {
    StoredEntry stored;
    stored.name = entry.name;
    stored.threads = entry.threads;
    stored.smemBytes = entry.smemBytes;
    if (const PtxasEntry *found = report.find(entry.name)) {
      stored.registers = found->registers;
      stored.spillBytes = found->spillStoreBytes + found->spillLoadBytes;
      stored.staticSmemBytes = found->staticSmemBytes;
    }
    entries.push_back(std::move(stored));
  }
  return entries;
}

/// Whether a stored binary was made for the entries of `source`.
static bool holdsEntriesOf(const StoredBinary &binary, const GeneratedSource &source) {
  if (binary.entries.size() != source.entries.size() || binary.ptx.empty()) {
    return false;
  }
  for (std::size_t i = 0; i < source.entries.size(); ++i) {
    const KernelEntry &expected = source.entries[i];
    const StoredEntry &found = binary.entries[i];
    if (found.name != expected.name || found.threads != expected.threads ||
        found.smemBytes != expected.smemBytes) {
      return false;
    }
  }
  return true;
}

llvm::Expected<PlannedKernel> KernelBuilder::plan(const Problem &problem, const Config &config,
                                                  const GpuProfile &profile,
                                                  PointerAlignment alignment) const {
  llvm::Expected<GeneratedSource> source = generate(problem, config, profile, alignment);
  if (!source) {
    return source.takeError();
  }
  llvm::Expected<std::string> identity = parts_.compiler->identity();
  if (!identity) {
    return identity.takeError();
  }
  std::string key = kernelKey(source->text, profile.arch, *identity);
  return PlannedKernel{.key = std::move(key), .source = std::move(*source)};
}

SharedBuild KernelBuilder::findInMemory(llvm::StringRef key) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(key);
  return found == known_.end() ? nullptr : found->second.built.lock();
}

llvm::Expected<SharedBuild> KernelBuilder::build(const Problem &problem, const Config &config,
                                                 const GpuProfile &profile,
                                                 PointerAlignment alignment) {
  llvm::Expected<PlannedKernel> planned = plan(problem, config, profile, alignment);
  if (!planned) {
    return planned.takeError();
  }
  return build(std::move(*planned), profile);
}

llvm::Expected<SharedBuild> KernelBuilder::build(PlannedKernel planned, const GpuProfile &profile) {
  const std::string key = planned.key;
  std::shared_ptr<Flight> flight;
  bool isOwner = false;
  {
    const std::lock_guard lock(mutex_);
    Known &known = known_[key];
    if (SharedBuild built = known.built.lock()) {
      return built;
    }
    isOwner = known.flight == nullptr;
    if (isOwner) {
      known.flight = std::make_shared<Flight>();
    }
    flight = known.flight;
  }
  if (!isOwner) {
    return flight->wait();
  }
  llvm::Expected<SharedBuild> built = lookUpOrCompile(std::move(planned), profile);
  SharedBuild result = built ? *built : nullptr;
  std::optional<FailureInfo> failure;
  if (!built) {
    failure = takeFailure(built.takeError());
  }
  {
    const std::lock_guard lock(mutex_);
    known_[key] = {.flight = nullptr, .built = result};
  }
  flight->land(std::move(result), std::move(failure));
  return flight->wait();
}

llvm::Expected<SharedBuild> KernelBuilder::lookUpOrCompile(PlannedKernel planned,
                                                           const GpuProfile &profile) {
  GeneratedSource &source = planned.source;
  const std::string &key = planned.key;
  auto built = std::make_shared<BuiltKernel>();
  built->key = key;
  if (parts_.store != nullptr) {
    std::optional<StoredBinary> stored = parts_.store->findBinary(key);
    if (stored && holdsEntriesOf(*stored, source)) {
      built->source = std::move(source);
      built->binary = std::move(*stored);
      built->origin = CacheSource::Disk;
      return SharedBuild(std::move(built));
    }
  }
  const llvm::StringRef arch = profile.arch;
  llvm::Expected<CompiledProgram> program =
      parts_.compiler->compile({.source = source.text, .options = compileOptions(arch)});
  if (!program) {
    return program.takeError();
  }
  built->binary = {.arch = "sm_" + arch.str(),
                   .cubin = std::move(program->cubin),
                   .ptx = std::move(program->ptx),
                   .log = std::move(program->log),
                   .compileMs = program->compileMs,
                   .entries = {}};
  built->binary.entries = storedEntries(source, parsePtxasReport(built->binary.log));
  built->source = std::move(source);
  if (parts_.store != nullptr) {
    if (llvm::Error error = parts_.store->putBinary(key, built->binary)) {
      warnOnce("compiled kernels are not kept: " + takeFailure(std::move(error)).text());
    }
  }
  return SharedBuild(std::move(built));
}

void KernelBuilder::warnOnce(const std::string &text) {
  if (parts_.onWarning && !hasWarned_.exchange(true)) {
    parts_.onWarning(text);
  }
}

SharedBuild KernelBuilder::findByKey(llvm::StringRef key, const Problem &problem,
                                     const Config &config, const GpuProfile &profile) {
  if (parts_.store == nullptr) {
    return nullptr;
  }
  llvm::Expected<GeneratedSource> source = generate(problem, config, profile);
  if (!source) {
    llvm::consumeError(source.takeError()); // a configuration that fits no more is a miss
    return nullptr;
  }
  std::optional<StoredBinary> stored = parts_.store->findBinary(key);
  if (!stored || !holdsEntriesOf(*stored, *source)) {
    return nullptr;
  }
  auto built = std::make_shared<BuiltKernel>();
  built->key = key.str();
  built->source = std::move(*source);
  built->binary = std::move(*stored);
  built->origin = CacheSource::Disk;
  return built;
}

} // namespace fp8jit
