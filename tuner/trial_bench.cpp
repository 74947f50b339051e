// What both kinds of problem share: sizes, buffers, timing.
#include "tuner/trial_bench.h"

#include "generator/problem_text.h"
#include "support/abi/emulator_table.h"
#include "tuner/trial_limits.h"

#include <algorithm>

namespace fp8jit {

/// One whole tile of the tallest kind and a remainder for all of them.
static constexpr std::int64_t kLargestCheckM = 256 + 17;
static constexpr std::int64_t kSmallestCheckM = 16 + 3;

static std::int64_t checkRows(std::int64_t edge) {
  if (edge > kLargestCheckM) {
    return kLargestCheckM;
  }
  // Less than the edge where that leaves a remainder.
  return edge <= 2 ? edge : edge - std::clamp<std::int64_t>(edge / 5, 1, 5);
}

TrialSizes trialSizes(const Problem &problem, std::int64_t largestCheck,
                      std::int64_t largestBytes) {
  std::int64_t edge = 0;
  std::int64_t workPerRow = 0;
  std::int64_t bytesPerRow = 0;
  if (const auto *gemm = std::get_if<GemmProblem>(&problem)) {
    edge = bucketUpperEdge(gemm->m);
    workPerRow = gemm->n * std::max<std::int64_t>(gemm->k, 1);
    bytesPerRow = gemm->k + 4 * gemm->n;
  } else {
    const auto &quant = std::get<QuantProblem>(problem);
    edge = bucketUpperEdge(quant.m);
    workPerRow = quant.n;
    bytesPerRow = 5 * quant.n;
  }
  TrialSizes sizes{.checkM = checkRows(edge), .timeM = edge};
  while (sizes.checkM > kSmallestCheckM && sizes.checkM * workPerRow > largestCheck) {
    sizes.checkM = std::max(kSmallestCheckM, sizes.checkM / 2);
  }
  const std::int64_t fittingRows = largestBytes / std::max<std::int64_t>(bytesPerRow, 1);
  while (sizes.timeM > sizes.checkM && sizes.timeM > fittingRows) {
    sizes.timeM = std::max(sizes.checkM, sizes.timeM / 2);
  }
  return sizes;
}

llvm::Expected<std::unique_ptr<TrialBench>>
TrialBench::create(std::shared_ptr<Device> device, const Problem &problem, std::uint64_t seed) {
  if (const auto *gemm = std::get_if<GemmProblem>(&problem)) {
    return makeGemmBench(std::move(device), *gemm, seed);
  }
  return makeQuantBench(std::move(device), std::get<QuantProblem>(problem), seed);
}

llvm::Error TrialBench::createStream() {
  llvm::Expected<DeviceStream> stream = device_->createStream();
  if (!stream) {
    return stream.takeError();
  }
  stream_ = std::move(*stream);
  for (DeviceEvent *event : {&start_, &stop_}) {
    llvm::Expected<DeviceEvent> created = device_->createEvent();
    if (!created) {
      return created.takeError();
    }
    *event = std::move(*created);
  }
  return llvm::Error::success();
}

namespace {

/// Limits emulated launches of this thread to a sample of their blocks; does nothing elsewhere.
class SampledLaunches {
public:
  SampledLaunches(const EmulatorTable *emulator, std::uint64_t blocks) : emulator_(emulator) {
    set(blocks);
  }
  ~SampledLaunches() { set(0); }
  SampledLaunches(const SampledLaunches &) = delete;
  SampledLaunches &operator=(const SampledLaunches &) = delete;

private:
  void set(std::uint64_t blocks) const {
    if (emulator_ != nullptr) {
      emulator_->setBlockSample(blocks);
    }
  }
  const EmulatorTable *emulator_;
};

} // namespace

llvm::Expected<double> TrialBench::timeNs(const LoadedKernel &kernel, int launches) {
  const SampledLaunches sampled(device_->emulator(), sampledBlocks(kernel));
  if (llvm::Error error = start_.record(stream_.handle())) {
    return error;
  }
  for (int i = 0; i < launches; ++i) {
    if (llvm::Error error = launchForTiming(kernel)) {
      return error;
    }
  }
  if (llvm::Error error = stop_.record(stream_.handle())) {
    return error;
  }
  llvm::Expected<double> elapsed = stop_.elapsedNsSince(start_);
  if (!elapsed) {
    return elapsed.takeError();
  }
  return *elapsed / launches;
}

std::uint64_t TrialBench::blocksFor(std::int64_t work, std::int64_t workPerBlock) const {
  const std::int64_t most =
      std::max(std::int64_t{device_->profile().smCount}, kFewestSampledBlocks);
  return static_cast<std::uint64_t>(std::clamp(work / workPerBlock, kFewestSampledBlocks, most));
}

llvm::Expected<DeviceBuffer> TrialBench::allocateOutput(std::size_t bytes) {
  return device_->allocate(bytes + kGuardBytes);
}

llvm::Expected<DeviceBuffer> TrialBench::upload(const void *data, std::size_t bytes) {
  // A buffer of no bytes would have no address; nothing is read from this one.
  llvm::Expected<DeviceBuffer> buffer = device_->allocate(std::max(bytes, kGuardBytes));
  if (!buffer) {
    return buffer.takeError();
  }
  if (llvm::Error error = device_->copyToDevice(buffer->data(), data, bytes)) {
    return error;
  }
  return buffer;
}

llvm::Error TrialBench::poison(const DeviceBuffer &buffer, std::size_t bytes) {
  const std::vector<std::uint8_t> poison(std::min(buffer.sizeBytes(), bytes + kGuardBytes),
                                         kPoison);
  return device_->copyToDevice(buffer.data(), poison.data(), poison.size());
}

llvm::Expected<std::vector<std::uint8_t>> TrialBench::download(const DeviceBuffer &buffer,
                                                               std::size_t bytes) {
  std::vector<std::uint8_t> found(std::min(buffer.sizeBytes(), bytes + kGuardBytes));
  if (llvm::Error error = device_->copyToHost(found.data(), buffer.data(), found.size())) {
    return error;
  }
  return found;
}

bool isUntouchedFrom(const std::vector<std::uint8_t> &bytes, std::size_t offset) {
  return std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(std::min(offset, bytes.size())),
                     bytes.end(), [](std::uint8_t byte) { return byte == kPoison; });
}

} // namespace fp8jit
