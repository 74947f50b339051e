// Which configurations fit a problem and a device, with the reason when one does not.
#include "generator/config_rules.h"

#include "generator/config.h"
#include "support/error.h"

#include "llvm/Support/FormatVariadic.h"

namespace fp8jit {

static llvm::Error invalid(const Config &config, const llvm::Twine &reason) {
  return fail(ErrorCode::InvalidArgument, "config '" + printConfig(config) + "' " + reason);
}

static llvm::Error checkGemmConfig(const GemmConfig &config, const GpuProfile &profile) {
  const int warpM = config.tileM / config.warpsM;
  const int warpN = config.tileN / config.warpsN;
  if (config.tileK != 64 && config.tileK != 128) {
    return invalid(config, "has tileK=" + llvm::Twine(config.tileK) + ", expected 64 or 128");
  }
  if (config.tileM % (16 * config.warpsM) != 0 || config.tileN % (16 * config.warpsN) != 0 ||
      128 % warpN != 0 || warpM * warpN > 64 * 32) {
    return invalid(config,
                   llvm::formatv("has a warp tile of {0}x{1}, expected multiples of 16 that divide "
                                 "the block tile, a width that divides 128 and at most 2048 "
                                 "elements",
                                 warpM, warpN)
                       .str());
  }
  if (config.stages < 2 || config.stages > 8) {
    return invalid(config, "has " + llvm::Twine(config.stages) + " stages, expected 2 to 8");
  }
  if (config.groupM < 1 || config.groupM > 16) {
    return invalid(config, "has group=" + llvm::Twine(config.groupM) + ", expected 1 to 16");
  }
  if (!config.isValid()) {
    return invalid(config, "has " + llvm::Twine(config.threads()) +
                               " threads, expected at most 1024, and tiles that they copy in whole "
                               "passes of 16 bytes each");
  }
  if (config.smemBytes() > profile.smemPerBlockOptin) {
    return invalid(config, llvm::formatv("needs {0} bytes of shared memory, the device has {1}",
                                         config.smemBytes(), profile.smemPerBlockOptin)
                               .str());
  }
  return llvm::Error::success();
}

/// Lanes, passes and tiles have to come out even; see the static assertions of the templates.
static llvm::Error checkUnits(const QuantProblem &problem, const QuantConfig &config) {
  const int lanes = config.threadsPerUnit();
  const int vectors = 128 / (config.vectorBytes / elementBytes(problem.x));
  switch (problem.s) {
  case ScaleUnit::Tensor:
    return config.unitsPerBlock <= 8 ? llvm::Error::success()
                                     : invalid(config, "has more than 8 vectors per thread");
  case ScaleUnit::Row:
    return config.unitsPerBlock == 1 || config.unitsPerBlock * 32 == config.threads
               ? llvm::Error::success()
               : invalid(config, "expected a warp or a block per row");
  case ScaleUnit::Block128x128:
    return config.unitsPerBlock == 1 && 1024 % config.threads == 0 && config.threads >= 128
               ? llvm::Error::success()
               : invalid(config, "expected units=1 and 128, 256, 512 or 1024 threads");
  case ScaleUnit::Block1x128:
  case ScaleUnit::Block1x32:
    break;
  }
  const bool isEven = config.threads % config.unitsPerBlock == 0 && lanes >= 1 && lanes <= 32 &&
                      (lanes & (lanes - 1)) == 0;
  return isEven && lanes <= vectors
             ? llvm::Error::success()
             : invalid(config,
                       "expected 1, 2, 4, 8, 16 or 32 threads per unit, each with a vector");
}

static llvm::Error checkQuantConfig(const QuantProblem &problem, const QuantConfig &config) {
  const int widest = widestVectorBytes(problem);
  if (!config.isValid()) {
    return invalid(config,
                   "is not valid, expected 32 to 1024 threads in whole warps, 16, 8, 4 or 2 "
                   "bytes per vector and at least one unit");
  }
  if (config.vectorBytes < elementBytes(problem.x) || config.vectorBytes > widest) {
    return invalid(config, llvm::formatv("has {0} bytes per vector, expected {1} to {2}",
                                         config.vectorBytes, elementBytes(problem.x), widest)
                               .str());
  }
  return checkUnits(problem, config);
}

int widestVectorBytes(const QuantProblem &problem) {
  const int bytesX = elementBytes(problem.x);
  int bytes = 16;
  while (bytes > bytesX && problem.n % (bytes / bytesX) != 0) {
    bytes /= 2;
  }
  return bytes;
}

llvm::Error checkConfig(const Problem &problem, const Config &config, const GpuProfile &profile) {
  const auto *gemm = std::get_if<GemmConfig>(&config);
  if (std::holds_alternative<GemmProblem>(problem) != (gemm != nullptr)) {
    return invalid(config, gemm != nullptr ? "is for gemm, the problem is a quantization"
                                           : "is for quantization, the problem is a gemm");
  }
  if (gemm != nullptr) {
    return checkGemmConfig(*gemm, profile);
  }
  return checkQuantConfig(std::get<QuantProblem>(problem), std::get<QuantConfig>(config));
}

} // namespace fp8jit
