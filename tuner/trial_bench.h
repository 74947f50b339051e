// Operands and outputs of one problem on a device, on which candidates are checked and timed. Main
// entry: TrialBench::create.
#pragma once

#include "runtime/device.h"
#include "runtime/loaded_kernel.h"

#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fp8jit {

/// How a candidate did against the reference.
struct CheckResult {
  bool isRight = false;
  double relError = 0;
  std::string message; ///< what was wrong; empty if right
};

/// The sizes at which the bucket of a problem is checked and timed.
struct TrialSizes {
  std::int64_t checkM = 0;
  std::int64_t timeM = 0;
};

/// Both from the bucket's upper edge E. timeM is E, lowered until X or A and the output take at
/// most `largestBytes`. checkM is small, at most E, leaves a remainder for every tile height and
/// has a whole tile of 256 rows where E allows; it is lowered until m * n * k (m * n for a
/// quantization) is at most `largestCheck`, but not below 19: one instruction and a bit.
TrialSizes trialSizes(const Problem &problem, std::int64_t largestCheck, std::int64_t largestBytes);

/// All candidates of a problem see the same operands. Not thread safe.
class TrialBench {
public:
  /// Makes seeded operands and the reference: float64 for a GEMM, on at least 64 tiles of 32 x 32
  /// and every kind of edge; the numeric policy, all of it, for a quantization. `problem`: its m is
  /// replaced by the sizes of its bucket. Errors: DriverError.
  static llvm::Expected<std::unique_ptr<TrialBench>>
  create(std::shared_ptr<Device> device, const Problem &problem, std::uint64_t seed);
  virtual ~TrialBench() = default;

  /// Fills the outputs with 0xFF, launches once and compares: a GEMM within the bounds for seeded
  /// data, a quantization to the bit, and nothing written behind the outputs. Errors: DriverError,
  /// after which the device's context may be of no more use.
  virtual llvm::Expected<CheckResult> check(const LoadedKernel &kernel) = 0;

  /// Nanoseconds of one launch: the mean of `launches` between two events. On an emulated device a
  /// sample of the blocks runs and the time is modelled. Errors: DriverError.
  llvm::Expected<double> timeNs(const LoadedKernel &kernel, int launches);

  Device &device() const { return *device_; }

protected:
  explicit TrialBench(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  llvm::Error createStream();

  /// Enqueues the kernel with the sizes of the timing.
  virtual llvm::Error launchForTiming(const LoadedKernel &kernel) = 0;
  /// Blocks to run of such a launch on an emulated device.
  virtual std::uint64_t sampledBlocks(const LoadedKernel &kernel) const = 0;

  /// How many blocks of `workPerBlock` make `work`: at least kFewestSampledBlocks, at most one per
  /// SM.
  std::uint64_t blocksFor(std::int64_t work, std::int64_t workPerBlock) const;

  /// Device memory with `bytes`, and behind them a guard.
  llvm::Expected<DeviceBuffer> allocateOutput(std::size_t bytes);
  llvm::Expected<DeviceBuffer> upload(const void *data, std::size_t bytes);
  /// Fills the first `bytes` and a guard behind them with kPoison, and reads them back. A check
  /// writes few of the rows that a timing does.
  llvm::Error poison(const DeviceBuffer &buffer, std::size_t bytes);
  llvm::Expected<std::vector<std::uint8_t>> download(const DeviceBuffer &buffer, std::size_t bytes);

  std::shared_ptr<Device> device_;
  DeviceStream stream_;
  DeviceEvent start_, stop_;
};

/// The two kinds, for TrialBench::create.
llvm::Expected<std::unique_ptr<TrialBench>>
makeGemmBench(std::shared_ptr<Device> device, const GemmProblem &problem, std::uint64_t seed);
llvm::Expected<std::unique_ptr<TrialBench>>
makeQuantBench(std::shared_ptr<Device> device, const QuantProblem &problem, std::uint64_t seed);

/// What an output holds before a launch, in every byte. A NaN in every format.
inline constexpr std::uint8_t kPoison = 0xFF;
inline constexpr std::size_t kGuardBytes = 4096;

/// Whether everything from `offset` on still is kPoison.
bool isUntouchedFrom(const std::vector<std::uint8_t> &bytes, std::size_t offset);

/// `data` cut or repeated to `size` elements.
template <typename T>
std::vector<T> repeatedTo(const std::vector<T> &data, std::size_t size) {
  std::vector<T> result(size);
  for (std::size_t i = 0; i < size && !data.empty(); ++i) {
    result[i] = data[i % data.size()];
  }
  return result;
}

} // namespace fp8jit
