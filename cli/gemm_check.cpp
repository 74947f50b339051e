#include "cli/gemm_check.h"

#include <cstring>

namespace fp8jit {

/// Products up to this many multiplications are checked whole: about two seconds on one core.
static constexpr double kWholeCheckProducts = 1e9;
static constexpr std::int64_t kCheckTile = 128;
static constexpr std::int64_t kSampledTiles = 64;
static constexpr std::uint64_t kSampleSeed = 2024;

static std::vector<float> floatsOf(const std::vector<std::uint8_t> &bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) {
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  }
  return values;
}

namespace {

struct HostOperand {
  std::vector<std::uint8_t> codes;
  std::vector<float> scales;
};

} // namespace

static llvm::Expected<HostOperand> readBack(Device &device, const DeviceOperand &operand) {
  llvm::Expected<std::vector<std::uint8_t>> codes = download(device, operand.codes);
  if (!codes) {
    return codes.takeError();
  }
  llvm::Expected<std::vector<std::uint8_t>> scales = download(device, operand.scales);
  if (!scales) {
    return scales.takeError();
  }
  return HostOperand{std::move(*codes), floatsOf(*scales)};
}

llvm::Expected<GemmErrors> checkGemm(Device &device, const GemmProblem &problem,
                                     const GemmOperands &operands,
                                     const std::vector<std::uint8_t> &d) {
  llvm::Expected<HostOperand> a = readBack(device, operands.a);
  if (!a) {
    return a.takeError();
  }
  llvm::Expected<HostOperand> b = readBack(device, operands.b);
  if (!b) {
    return b.takeError();
  }
  std::vector<OutputRegion> regions;
  const double products = static_cast<double>(problem.m) * static_cast<double>(problem.n) *
                          static_cast<double>(problem.k);
  if (products > kWholeCheckProducts) {
    regions = sampleRegions(problem, kCheckTile, kCheckTile, kSampledTiles, kSampleSeed);
  }
  const GemmReference reference(
      problem,
      {.a = a->codes, .b = b->codes, .sa = a->scales, .sb = b->scales, .alpha = operands.alpha},
      std::move(regions));
  const bool isSeeded = operands.a.isSeeded && operands.b.isSeeded;
  return reference.compare(d.data(), isSeeded ? kSeededTolerance : kFileTolerance);
}

} // namespace fp8jit
