// Checking and timing GEMM candidates.
#include "generator/problem_text.h"
#include "generator/scale_shape.h"
#include "runtime/prepared_kernel.h"
#include "tuner/reference.h"
#include "tuner/test_data.h"
#include "tuner/trial_bench.h"
#include "tuner/trial_limits.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

namespace fp8jit {

static constexpr std::int64_t kSampleTile = 32;
static constexpr std::int64_t kSampleTiles = 64;

namespace {

class GemmBench final : public TrialBench {
public:
  GemmBench(std::shared_ptr<Device> device, const GemmProblem &problem)
      : TrialBench(std::move(device)), checkProblem_(problem), timeProblem_(problem) {
    const bool isEmulated = device_->isEmulated();
    const TrialSizes sizes = trialSizes(problem, isEmulated ? kEmulatedGemmCheck : kDeviceGemmCheck,
                                        isEmulated ? kEmulatedTrialBytes : kDeviceTrialBytes);
    checkProblem_.m = sizes.checkM;
    timeProblem_.m = sizes.timeM;
  }

  llvm::Error prepare(std::uint64_t seed);
  llvm::Expected<CheckResult> check(const LoadedKernel &kernel) override;

protected:
  llvm::Error launchForTiming(const LoadedKernel &kernel) override {
    return launch(kernel, timeProblem_);
  }
  std::uint64_t sampledBlocks(const LoadedKernel &kernel) const override;

private:
  llvm::Error launch(const LoadedKernel &kernel, const GemmProblem &problem);

  GemmProblem checkProblem_, timeProblem_;
  std::unique_ptr<GemmReference> reference_;
  DeviceBuffer a_, b_, sa_, sb_, d_;
};

} // namespace

/// A factor that is not one, so that a kernel that forgets it is found.
static constexpr float kAlpha = 0.75F;

static std::size_t outputBytes(const GemmProblem &problem) {
  return static_cast<std::size_t>(problem.m * problem.n * elementBytes(problem.d));
}

llvm::Error GemmBench::prepare(std::uint64_t seed) {
  if (llvm::Error error = createStream()) {
    return error;
  }
  const TestOperands operands = makeTestOperands(checkProblem_, seed);
  reference_ = std::make_unique<GemmReference>(
      checkProblem_,
      GemmOperandView{.a = operands.a.codes,
                      .b = operands.b.codes,
                      .sa = operands.a.scales,
                      .sb = operands.b.scales,
                      .alpha = kAlpha},
      sampleRegions(checkProblem_, kSampleTile, kSampleTile, kSampleTiles, seed));
  // The rows that only a timing reads repeat those of the check.
  const std::int64_t rows = std::max(checkProblem_.m, timeProblem_.m);
  GemmProblem largest = checkProblem_;
  largest.m = rows;
  const std::vector<std::uint8_t> codes =
      repeatedTo(operands.a.codes, static_cast<std::size_t>(rows * checkProblem_.k));
  const std::vector<float> scales =
      repeatedTo(operands.a.scales, static_cast<std::size_t>(scaleShapeA(largest).count()));
  struct Part {
    DeviceBuffer &buffer;
    const void *data;
    std::size_t bytes;
  };
  const Part parts[] = {{a_, codes.data(), codes.size()},
                        {b_, operands.b.codes.data(), operands.b.codes.size()},
                        {sa_, scales.data(), scales.size() * sizeof(float)},
                        {sb_, operands.b.scales.data(), operands.b.scales.size() * sizeof(float)}};
  for (const Part &part : parts) {
    llvm::Expected<DeviceBuffer> buffer = upload(part.data, part.bytes);
    if (!buffer) {
      return buffer.takeError();
    }
    part.buffer = std::move(*buffer);
  }
  llvm::Expected<DeviceBuffer> output = allocateOutput(outputBytes(largest));
  if (!output) {
    return output.takeError();
  }
  d_ = std::move(*output);
  return llvm::Error::success();
}

llvm::Error GemmBench::launch(const LoadedKernel &kernel, const GemmProblem &problem) {
  llvm::Expected<EntryGrids> grids = kernel.grids(problem);
  if (!grids) {
    return grids.takeError();
  }
  const GemmBuffers buffers{.a = a_.data(),
                            .b = b_.data(),
                            .sa = sa_.data(),
                            .sb = sb_.data(),
                            .d = d_.data(),
                            .alpha = kAlpha};
  return launchGemm(kernel, *grids, problem, buffers, stream_.handle());
}

llvm::Expected<CheckResult> GemmBench::check(const LoadedKernel &kernel) {
  if (llvm::Error error = poison(d_, outputBytes(checkProblem_))) {
    return error;
  }
  if (llvm::Error error = launch(kernel, checkProblem_)) {
    return error;
  }
  if (llvm::Error error = stream_.synchronize()) {
    return error;
  }
  llvm::Expected<std::vector<std::uint8_t>> bytes = download(d_, outputBytes(checkProblem_));
  if (!bytes) {
    return bytes.takeError();
  }
  const GemmErrors errors = reference_->compare(bytes->data(), kSeededTolerance);
  CheckResult result{
      .isRight = errors.isWithinTolerance, .relError = errors.relError, .message = {}};
  if (!errors.isWithinTolerance) {
    result.message =
        llvm::formatv("error {0:E2} of the norm, expected at most {1:E2}; worst element {2:E2}, "
                      "expected at most {3:E2}; {4} NaN mismatches at m={5}",
                      errors.excessError, kSeededTolerance.relative, errors.maxElementError,
                      kSeededTolerance.element(), errors.nanMismatch, checkProblem_.m)
            .str();
  } else if (!isUntouchedFrom(*bytes, outputBytes(checkProblem_))) {
    result.isRight = false;
    result.message = llvm::formatv("wrote behind row {0} of the output", checkProblem_.m).str();
  }
  return result;
}

std::uint64_t GemmBench::sampledBlocks(const LoadedKernel &kernel) const {
  const auto *config = std::get_if<GemmConfig>(&kernel.config());
  if (config == nullptr) {
    return 0;
  }
  const std::int64_t workPerBlock =
      std::max<std::int64_t>(1, std::int64_t{config->tileM} * config->tileN * timeProblem_.k);
  return blocksFor(kSampledGemmWork, workPerBlock);
}

llvm::Expected<std::unique_ptr<TrialBench>>
makeGemmBench(std::shared_ptr<Device> device, const GemmProblem &problem, std::uint64_t seed) {
  auto bench = std::make_unique<GemmBench>(std::move(device), problem);
  if (llvm::Error error = bench->prepare(seed)) {
    return error;
  }
  return bench;
}

} // namespace fp8jit
