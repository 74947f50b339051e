// The configurations offered to tuning and the one used without it: rules, not lists.
#include "generator/config.h"
#include "generator/config_rules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <optional>

namespace fp8jit {

static constexpr int kGroupM = 8;

namespace {

enum class Depth { Deep, Shallow };

struct TileShape {
  int tileM;
  int tileN;
};

} // namespace

/// The largest warp tile of at most 64 x 32 elements that still gives 4 or 8 warps: large warp
/// tiles read shared memory least, fewer than 4 warps leave the tensor cores idle.
static std::optional<GemmConfig> warpGrid(TileShape shape) {
  std::optional<GemmConfig> best;
  for (int warpM = 64; warpM >= 16; warpM /= 2) {
    for (int warpN = 64; warpN >= 16; warpN /= 2) {
      const GemmConfig config = {.tileM = shape.tileM,
                                 .tileN = shape.tileN,
                                 .tileK = 128,
                                 .warpsM = shape.tileM / warpM,
                                 .warpsN = shape.tileN / warpN,
                                 .stages = 2,
                                 .groupM = kGroupM};
      if (shape.tileM % warpM != 0 || shape.tileN % warpN != 0 || !config.isValid()) {
        continue;
      }
      const int warps = config.threads() / 32;
      if ((warps == 4 || warps == 8) &&
          (!best || warpM * warpN > best->warpTileM() * best->warpTileN())) {
        best = config;
      }
    }
  }
  return best;
}

/// Deep: up to 4 stages in all of the shared memory of a block. Shallow: as many, but at most 3, as
/// leave room for a second block.
static std::optional<GemmConfig> tileConfig(TileShape shape, Depth depth,
                                            const GpuProfile &profile) {
  std::optional<GemmConfig> config = warpGrid(shape);
  if (!config) {
    return std::nullopt;
  }
  const int stageBytes = config->smemBytes() / config->stages;
  const int room = depth == Depth::Deep ? profile.smemPerBlockOptin
                                        : profile.smemPerSm / 2 - kReservedSmemPerBlock;
  config->stages = std::min(depth == Depth::Deep ? 4 : 3, room / stageBytes);
  return config->stages >= 2 ? config : std::nullopt;
}

/// Tiles at most twice as tall as the problem needs, and not so low that B is read too often; at
/// most twice as wide.
static bool isOffered(const GemmProblem &problem, TileShape shape) {
  const bool isTallEnough = shape.tileM * 8LL >= std::min<std::int64_t>(problem.m, 512);
  const bool isTooTall = shape.tileM > 16 && shape.tileM >= 2 * problem.m;
  const bool isTooWide = shape.tileN > 64 && shape.tileN >= 2 * problem.n;
  return isTallEnough && !isTooTall && !isTooWide;
}

static std::vector<Config> gemmCandidates(const GemmProblem &problem, const GpuProfile &profile) {
  std::vector<Config> configs;
  for (const Depth depth : {Depth::Deep, Depth::Shallow}) {
    for (int tileM = 256; tileM >= 16; tileM /= 2) {
      for (int tileN = 256; tileN >= 32; tileN /= 2) {
        const TileShape shape = {tileM, tileN};
        const std::optional<GemmConfig> config = tileConfig(shape, depth, profile);
        if (config && isOffered(problem, shape) && configs.size() < kMostCandidates &&
            !llvm::is_contained(configs, Config(*config))) {
          configs.emplace_back(*config);
        }
      }
    }
  }
  return configs;
}

/// The tallest tile that m fills, 128 columns; narrower, then lower, while SMs would stay idle.
static GemmConfig defaultGemmConfig(const GemmProblem &problem, const GpuProfile &profile) {
  TileShape shape = {.tileM = 128, .tileN = problem.n > 64 ? 128 : 64};
  while (shape.tileM > 16 && shape.tileM / 2 >= problem.m) {
    shape.tileM /= 2;
  }
  const auto fills = [&] {
    return llvm::divideCeil(problem.m, shape.tileM) * llvm::divideCeil(problem.n, shape.tileN) >=
           static_cast<std::uint64_t>(profile.smCount);
  };
  if (shape.tileN > 64 && !fills()) {
    shape.tileN = 64;
  }
  if (shape.tileM == 128 && !fills()) {
    shape.tileM = 64;
  }
  return *tileConfig(shape, Depth::Deep, profile);
}

static std::vector<Config> quantCandidates(const QuantProblem &problem) {
  const int vectorBytes = widestVectorBytes(problem);
  const int vectors = 128 / (vectorBytes / elementBytes(problem.x));
  std::vector<Config> configs;
  const auto offer = [&](int threads, int units) {
    configs.emplace_back(QuantConfig{threads, vectorBytes, units});
  };
  switch (problem.s) {
  case ScaleUnit::Tensor:
    for (const int threads : {256, 512}) {
      for (const int units : {1, 2, 4}) {
        offer(threads, units);
      }
    }
    break;
  case ScaleUnit::Row:
    for (const int threads : {128, 256, 512}) {
      offer(threads, threads / 32);
      offer(threads, 1);
    }
    break;
  case ScaleUnit::Block128x128:
    // A thread holds 16 vectors at most: registers, and the time to compile them.
    for (const int threads : {256, 512, 1024}) {
      if (vectors * 128 / threads <= 16) {
        offer(threads, 1);
      }
    }
    break;
  case ScaleUnit::Block1x128:
  case ScaleUnit::Block1x32:
    for (const int threads : {128, 256}) {
      for (const int lanes : {4, 8, 16}) {
        if (vectors / lanes <= 16) {
          offer(threads, threads / lanes);
        }
      }
    }
    break;
  }
  return configs;
}

/// One of quantCandidates for every problem.
static QuantConfig defaultQuantConfig(const QuantProblem &problem) {
  const int vectorBytes = widestVectorBytes(problem);
  const int elements = vectorBytes / elementBytes(problem.x);
  switch (problem.s) {
  case ScaleUnit::Tensor:
    return {.threads = 256, .vectorBytes = vectorBytes, .unitsPerBlock = 2};
  case ScaleUnit::Row: // short rows and many: a warp each
    return {.threads = 256, .vectorBytes = vectorBytes, .unitsPerBlock = problem.n <= 2048 ? 8 : 1};
  case ScaleUnit::Block128x128:
    return {.threads = elements >= 4 ? 512 : 1024, .vectorBytes = vectorBytes, .unitsPerBlock = 1};
  case ScaleUnit::Block1x128:
  case ScaleUnit::Block1x32:
    break;
  }
  return {.threads = 256, .vectorBytes = vectorBytes, .unitsPerBlock = elements >= 4 ? 32 : 16};
}

std::vector<Config> candidateConfigs(const Problem &problem, const GpuProfile &profile) {
  if (const auto *gemm = std::get_if<GemmProblem>(&problem)) {
    return gemmCandidates(*gemm, profile);
  }
  return quantCandidates(std::get<QuantProblem>(problem));
}

Config defaultConfig(const Problem &problem, const GpuProfile &profile) {
  if (const auto *gemm = std::get_if<GemmProblem>(&problem)) {
    return defaultGemmConfig(*gemm, profile);
  }
  return defaultQuantConfig(std::get<QuantProblem>(problem));
}

} // namespace fp8jit
