// fp8jit-demo: one layer of a real transformer in FP8, twice: tuned from an empty cache, then
// answered by the warm one. The second pass must not compile; both must be within the accuracy
// bounds, or the exit status is 1.
#include "support/error.h"
#include "tests/demo/layer.h"
#include "tests/demo/layer_run.h"
#include "tests/demo/table.h"
#include "tuner/tuner.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

using namespace fp8jit;
using namespace fp8jit::demo;
using llvm::Expected;
using llvm::formatv;

namespace {

struct DemoOptions {
  std::string data = "tests/data/minilm";
  std::string cache = "build/demo-cache";
  std::string device = "emulator:sm_89";
};

} // namespace

static constexpr const char *kUsage =
    "usage: fp8jit-demo [--data DIR] [--cache DIR] [--device D]\n"
    "example: fp8jit-demo --data tests/data/minilm --cache /tmp/demo --device emulator:sm_89\n";

static constexpr const char *kLegend =
    "\nmodelled: time of the launch by the emulator's timing model; compile: of the kernel by "
    "NVRTC\n"
    "vs codes, vs bf16: error against float64 on the same FP8 codes, and before quantization\n"
    "passed: every product is within the accuracy bounds, and the warm cache compiled nothing\n";

static std::optional<DemoOptions> parseArguments(llvm::ArrayRef<const char *> arguments) {
  DemoOptions options;
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    const llvm::StringRef flag = arguments[i];
    std::string *target = flag == "--data"     ? &options.data
                          : flag == "--cache"  ? &options.cache
                          : flag == "--device" ? &options.device
                                               : nullptr;
    if (target == nullptr || i + 1 == arguments.size()) {
      return std::nullopt;
    }
    *target = arguments[i + 1];
  }
  return options;
}

static int report(llvm::Error error) {
  const FailureInfo info = takeFailure(std::move(error));
  llvm::errs() << "error: " << codeName(info.code()) << ": " << info.text() << "\n";
  return 1;
}

static void printDot(const TuneProgress &) {
  llvm::errs() << ".";
}

/// Runs all projections on a fresh engine. The tuner is asked where the cache has no winner.
static Expected<std::vector<ProjectionResult>> runPass(const DemoOptions &options,
                                                       const std::vector<Projection> &layer) {
  Result<Engine> engine = Engine::open({.device = options.device,
                                        .cacheDirectory = options.cache,
                                        .onMiss = OnMiss::Tune,
                                        .tuner = makeTunerHook({.onProgress = printDot})});
  if (!engine.ok()) {
    return fail(engine.error().code, engine.error().message);
  }
  std::vector<ProjectionResult> results;
  for (const Projection &projection : layer) {
    llvm::errs() << formatv("  {0,-18} [{1}, {2}] x [{3}, {2}]: ", projection.name, projection.m,
                            projection.k, projection.n);
    Expected<ProjectionResult> result = runProjection(*engine, projection);
    if (!result) {
      llvm::errs() << "failed\n";
      return result.takeError();
    }
    llvm::errs() << formatv(" ready after {0:f1} ms\n", result->readyMs);
    results.push_back(std::move(*result));
  }
  return results;
}

static bool areAllWithinBounds(const std::vector<ProjectionResult> &results) {
  bool isGood = true;
  for (const ProjectionResult &result : results) {
    if (!result.isWithinBounds) {
      llvm::errs() << "error: " << result.name << " is outside the accuracy bounds\n";
      isGood = false;
    }
  }
  return isGood;
}

static bool cameAllFromCache(const std::vector<ProjectionResult> &results) {
  bool isGood = true;
  for (const ProjectionResult &result : results) {
    const KernelInfo &kernel = result.kernel;
    if (kernel.configSource != ConfigSource::Winner || result.compiledCount != 0) {
      llvm::errs() << "error: " << result.name << " was not answered by the warm cache\n";
      isGood = false;
    }
  }
  return isGood;
}

int main(int argc, char **argv) {
  const std::optional<DemoOptions> options =
      parseArguments(llvm::makeArrayRef(argv + 1, static_cast<std::size_t>(argc - 1)));
  if (!options) {
    llvm::errs() << kUsage;
    return 2;
  }
  Expected<std::vector<Projection>> layer = readLayer(options->data);
  if (!layer) {
    return report(layer.takeError());
  }
  bool isGood = true;
  for (const bool isWarm : {false, true}) {
    const auto start = std::chrono::steady_clock::now();
    llvm::errs() << (isWarm ? "warm cache:\n" : "empty cache, tuning:\n");
    Expected<std::vector<ProjectionResult>> results = runPass(*options, *layer);
    if (!results) {
      return report(results.takeError());
    }
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    llvm::outs() << formatv("\n{0} on {1}, {2:f1} s: a=e4m3 b=e4m3 d=bf16 sa=1x128 sb=128x128\n\n",
                            isWarm ? "second pass, warm cache" : "first pass, empty cache",
                            options->device, seconds)
                 << printTable(*results);
    llvm::outs().flush();
    isGood &= areAllWithinBounds(*results) && (!isWarm || cameAllFromCache(*results));
  }
  if (!isGood) {
    return 1;
  }
  llvm::outs() << kLegend;
  return 0;
}
