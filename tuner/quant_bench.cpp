// Checking and timing quantization candidates.
#include "generator/scale_shape.h"
#include "runtime/prepared_kernel.h"
#include "runtime/workspace_pool.h"
#include "support/float_formats.h"
#include "tuner/reference.h"
#include "tuner/test_data.h"
#include "tuner/trial_bench.h"
#include "tuner/trial_limits.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace fp8jit {

namespace {

class QuantBench final : public TrialBench {
public:
  QuantBench(std::shared_ptr<Device> device, const QuantProblem &problem)
      : TrialBench(device), checkProblem_(problem), timeProblem_(problem),
        workspaces_(std::make_shared<WorkspacePool>(std::move(device))) {
    const bool isEmulated = device_->isEmulated();
    const TrialSizes sizes =
        trialSizes(problem, isEmulated ? kEmulatedQuantCheck : kDeviceQuantCheck,
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
  llvm::Error launch(const LoadedKernel &kernel, const QuantProblem &problem);
  llvm::Error prepareOutputs();

  QuantProblem checkProblem_, timeProblem_;
  QuantReference reference_;
  std::vector<float> given_; ///< scales as an input, for the largest m; empty with sc=amax
  std::shared_ptr<WorkspacePool> workspaces_;
  DeviceBuffer x_, q_, s_, amax_;
};

} // namespace

/// Elements as a device buffer holds them. `format`: BF16, F16 or F32.
static std::vector<std::uint8_t> packElements(Format format, const std::vector<float> &values) {
  if (format == Format::F32) {
    std::vector<std::uint8_t> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }
  std::vector<std::uint8_t> bytes;
  bytes.reserve(values.size() * 2);
  for (const float value : values) {
    const std::uint16_t bits = format == Format::BF16 ? encodeBf16(value) : encodeF16(value);
    bytes.push_back(static_cast<std::uint8_t>(bits & 0xFFU));
    bytes.push_back(static_cast<std::uint8_t>(bits >> 8));
  }
  return bytes;
}

llvm::Error QuantBench::prepare(std::uint64_t seed) {
  if (llvm::Error error = createStream()) {
    return error;
  }
  std::vector<float> x = makeTestMatrix(checkProblem_.m, checkProblem_.n, seed);
  if (x.size() > 2) {
    x[1] = std::numeric_limits<float>::quiet_NaN(); // not in amax, and a code of its own
    x[2] = -0.0F;
  }
  if (checkProblem_.sc == ScaleSource::Given) {
    QuantProblem amax = checkProblem_;
    amax.sc = ScaleSource::Amax;
    given_ = quantizeReference(amax, x).s;
  }
  reference_ = quantizeReference(checkProblem_, x, given_);
  QuantProblem largest = checkProblem_;
  largest.m = std::max(checkProblem_.m, timeProblem_.m);
  if (!given_.empty()) {
    given_ = repeatedTo(given_, static_cast<std::size_t>(scaleShapeRow(largest).count()));
  }
  const std::vector<std::uint8_t> bytes =
      packElements(checkProblem_.x, repeatedTo(x, static_cast<std::size_t>(largest.m * largest.n)));
  llvm::Expected<DeviceBuffer> uploaded = upload(bytes.data(), bytes.size());
  if (!uploaded) {
    return uploaded.takeError();
  }
  x_ = std::move(*uploaded);
  struct Output {
    DeviceBuffer &buffer;
    std::size_t bytes;
  };
  const auto scaleBytes = static_cast<std::size_t>(scaleShapeRow(largest).sizeBytes());
  const Output outputs[] = {
      {q_, static_cast<std::size_t>(largest.m * largest.n)}, {s_, scaleBytes}, {amax_, scaleBytes}};
  for (const Output &output : outputs) {
    llvm::Expected<DeviceBuffer> buffer = allocateOutput(output.bytes);
    if (!buffer) {
      return buffer.takeError();
    }
    output.buffer = std::move(*buffer);
  }
  if (llvm::Error error = prepareOutputs()) {
    return error;
  }
  return workspaces_->reserve();
}

/// Poisons what a check writes, and puts given scales where the kernel reads them.
llvm::Error QuantBench::prepareOutputs() {
  struct Output {
    const DeviceBuffer &buffer;
    std::size_t bytes;
  };
  const std::size_t unitBytes = reference_.s.size() * sizeof(float);
  const Output outputs[] = {{q_, reference_.q.size()},
                            {s_, std::max(unitBytes, given_.size() * sizeof(float))},
                            {amax_, unitBytes}};
  for (const Output &output : outputs) {
    if (llvm::Error error = poison(output.buffer, output.bytes)) {
      return error;
    }
  }
  return device_->copyToDevice(s_.data(), given_.data(), given_.size() * sizeof(float));
}

llvm::Error QuantBench::launch(const LoadedKernel &kernel, const QuantProblem &problem) {
  llvm::Expected<EntryGrids> grids = kernel.grids(problem);
  if (!grids) {
    return grids.takeError();
  }
  const QuantBuffers buffers{
      .x = x_.data(), .q = q_.data(), .s = s_.data(), .amax = static_cast<float *>(amax_.data())};
  return launchQuant(kernel, *grids, problem, buffers, stream_.handle(), *workspaces_);
}

/// Compares bytes; the message names the first difference. All NaN scales are equal in the policy,
/// but none arise here.
static void compareBytes(llvm::StringRef name, const std::vector<std::uint8_t> &found,
                         llvm::ArrayRef<std::uint8_t> expected, CheckResult &result) {
  if (!result.isRight) {
    return;
  }
  const auto difference =
      std::mismatch(expected.begin(), expected.end(), found.begin()).first - expected.begin();
  const auto place = static_cast<std::size_t>(difference);
  if (place < expected.size()) {
    result = {.isRight = false,
              .relError = 1,
              .message = llvm::formatv("byte {0} of {1} is {2:x2}, expected {3:x2}", place, name,
                                       found[place], expected[place])
                             .str()};
  } else if (!isUntouchedFrom(found, expected.size())) {
    result = {.isRight = false,
              .relError = 1,
              .message =
                  llvm::formatv("wrote behind the {0} bytes of {1}", expected.size(), name).str()};
  }
}

static llvm::ArrayRef<std::uint8_t> bytesOf(const std::vector<float> &values) {
  return {reinterpret_cast<const std::uint8_t *>(values.data()), values.size() * sizeof(float)};
}

llvm::Expected<CheckResult> QuantBench::check(const LoadedKernel &kernel) {
  if (llvm::Error error = prepareOutputs()) {
    return error;
  }
  if (llvm::Error error = launch(kernel, checkProblem_)) {
    return error;
  }
  if (llvm::Error error = stream_.synchronize()) {
    return error;
  }
  CheckResult result{.isRight = true, .relError = 0, .message = {}};
  struct Output {
    const char *name;
    const DeviceBuffer &buffer;
    llvm::ArrayRef<std::uint8_t> expected;
  };
  // Given scales are an input: they must be as they were, all of them.
  const Output outputs[] = {{"amax", amax_, bytesOf(reference_.amax)},
                            {"s", s_, given_.empty() ? bytesOf(reference_.s) : bytesOf(given_)},
                            {"q", q_, reference_.q}};
  for (const Output &output : outputs) {
    llvm::Expected<std::vector<std::uint8_t>> bytes =
        download(output.buffer, output.expected.size());
    if (!bytes) {
      return bytes.takeError();
    }
    compareBytes(output.name, *bytes, output.expected, result);
  }
  return result;
}

std::uint64_t QuantBench::sampledBlocks(const LoadedKernel &kernel) const {
  llvm::Expected<EntryGrids> grids = kernel.grids(timeProblem_);
  if (!grids) {
    llvm::consumeError(grids.takeError()); // the launch reports it
    return 0;
  }
  const std::int64_t blocks =
      std::max<std::int64_t>(1, *std::max_element(grids->begin(), grids->end()));
  const std::int64_t workPerBlock =
      std::max<std::int64_t>(1, timeProblem_.m * timeProblem_.n / blocks);
  return blocksFor(kSampledQuantWork, workPerBlock);
}

llvm::Expected<std::unique_ptr<TrialBench>>
makeQuantBench(std::shared_ptr<Device> device, const QuantProblem &problem, std::uint64_t seed) {
  auto bench = std::make_unique<QuantBench>(std::move(device), problem);
  if (llvm::Error error = bench->prepare(seed)) {
    return error;
  }
  return bench;
}

} // namespace fp8jit
