// The formulas of cost_estimate.h, one function per term.
#include "tuner/cost_estimate.h"

#include "generator/profiles/occupancy.h"

#include <algorithm>
#include <cmath>

namespace fp8jit {

namespace {

// Fitted constants of the estimate.
constexpr double kDramEfficiency = 0.884;
constexpr double kDramLatencyCycles = 814;
constexpr double kL2LatencyCycles = 472;
constexpr double kLaunchNs = 1250;
constexpr double kEpilogueCycles = 963;
constexpr double kPrologueCycles = 761;
constexpr double kMmaEfficiency = 0.80;
constexpr double kPromotionShare = 0.32;
constexpr double kL2Efficiency = 0.93;
/// Of the smaller of compute and DRAM time, what the larger does not hide.
constexpr double kUnhiddenShare = 0.15;
constexpr double kSmemBytesPerCycle = 128;
constexpr double kL2BytesPerCyclePerSm = 64;
constexpr double kStoreBytesPerCycle = 32;
/// Weights beyond this share of the L2 come from DRAM.
constexpr double kL2ResidentShare = 0.4;
/// Registers of a thread besides its accumulators: addresses, fragments, scales.
constexpr double kOtherRegisters = 60;
/// Load, maximum, conversion and store of one vector by a quantization thread, issue included.
constexpr double kCyclesPerVector = 40;

/// The quantities that several terms share.
struct GemmShape {
  double m, n, k;
  double tileM, tileN, tileK;
  double paddedM; ///< tileM in whole instructions
  double outputBytes;
  double smCount, cyclesPerNs;
  double occupancy, tiles, slots;
};

} // namespace

static double ceilOf(double value, double step) {
  return std::ceil(value / step);
}

/// Blocks of this configuration that fit on an SM.
static double occupancyOf(const GemmConfig &config, const GpuProfile &profile) {
  const double accumulators = static_cast<double>(config.tileM) * config.tileN / config.threads();
  const double registers = std::min(255.0, 2 * accumulators + kOtherRegisters);
  const int blocks = residentBlocks(profile, {.threads = config.threads(),
                                              .registersPerThread = static_cast<int>(registers),
                                              .sharedBytes = config.smemBytes()});
  return std::max(1, blocks);
}

static GemmShape shapeOf(const GemmProblem &problem, const GemmConfig &config,
                         const GpuProfile &profile) {
  GemmShape shape{.m = static_cast<double>(std::max<std::int64_t>(problem.m, 1)),
                  .n = static_cast<double>(std::max<std::int64_t>(problem.n, 1)),
                  .k = static_cast<double>(std::max<std::int64_t>(problem.k, 1)),
                  .tileM = static_cast<double>(config.tileM),
                  .tileN = static_cast<double>(config.tileN),
                  .tileK = static_cast<double>(config.tileK),
                  .paddedM = 16 * ceilOf(config.tileM, 16),
                  .outputBytes = static_cast<double>(elementBytes(problem.d)),
                  .smCount = static_cast<double>(profile.smCount),
                  .cyclesPerNs = profile.clockMhz / 1000.0,
                  .occupancy = occupancyOf(config, profile),
                  .tiles = 0,
                  .slots = 0};
  shape.tiles = ceilOf(shape.m, shape.tileM) * ceilOf(shape.n, shape.tileN);
  shape.slots = shape.smCount * shape.occupancy;
  return shape;
}

/// Fills the cycles of one k block.
static void estimateStep(const GemmShape &shape, const GemmConfig &config,
                         const GpuProfile &profile, CostEstimate &cost) {
  const double tileBytes = (shape.tileM + shape.tileN) * shape.tileK;
  const double busySms = std::min(shape.tiles, shape.smCount);
  const double residents = std::min(shape.occupancy, std::ceil(shape.tiles / shape.smCount));
  cost.mmaCycles = 2 * shape.paddedM * shape.tileN * shape.tileK /
                   (profile.fp8FlopPerClockPerSm * kMmaEfficiency);
  cost.promotionCycles = kPromotionShare * shape.paddedM * shape.tileN / 128 * (shape.tileK / 128);
  const double smemReads =
      shape.tileM * shape.tileK * config.warpsN + shape.tileN * shape.tileK * config.warpsM;
  cost.smemCycles = (smemReads + tileBytes / 2) / kSmemBytesPerCycle;
  cost.l2Cycles =
      residents * tileBytes /
      std::min(kL2BytesPerCyclePerSm, profile.l2BytesPerClock * kL2Efficiency / busySms);
  const bool isWeightInL2 = shape.n * shape.k <= kL2ResidentShare * profile.l2Bytes;
  const double latency = isWeightInL2 ? 1.6 * kL2LatencyCycles : kDramLatencyCycles;
  cost.latencyCycles = (latency + cost.l2Cycles) / (config.stages - 1);
  // A resident block waits for its own latency only; the units are shared.
  cost.stepCycles = std::max({cost.mmaCycles + cost.promotionCycles, cost.smemCycles,
                              cost.l2Cycles / residents, cost.latencyCycles / residents});
}

/// Whole waves at full residency, and the rest at what it really has.
static double computeCycles(const GemmShape &shape, const CostEstimate &cost) {
  const double epilogue =
      kEpilogueCycles + shape.tileM * shape.tileN * shape.outputBytes / kStoreBytesPerCycle;
  const double perWave = epilogue + kPrologueCycles / 2;
  const double fullWaves = std::floor(shape.tiles / shape.slots);
  const double rest = shape.tiles - fullWaves * shape.slots;
  double cycles = fullWaves * (cost.kBlocks * cost.stepCycles * shape.occupancy + perWave);
  if (rest > 0) {
    cycles += cost.kBlocks * cost.stepCycles * std::ceil(rest / shape.smCount) + perWave;
  }
  return cycles;
}

static double dramNs(const GemmShape &shape, const GemmConfig &config, const GpuProfile &profile) {
  const double rowsOfTiles = ceilOf(shape.m, shape.tileM);
  const double groups = ceilOf(rowsOfTiles, config.groupM);
  const double panelBytes =
      std::min(rowsOfTiles, static_cast<double>(config.groupM)) * shape.tileM * shape.k;
  const double passesOfB = panelBytes <= 0.8 * profile.l2Bytes ? 1 : groups;
  const double bytes =
      shape.m * shape.k + shape.n * shape.k * passesOfB + shape.m * shape.n * shape.outputBytes;
  // A block asks for a k block only when a stage is free: too few stages do not hide the latency.
  const double rounds = ceilOf(shape.tiles, shape.slots) * ceilOf(shape.k, shape.tileK);
  const double chainNs = rounds / (config.stages - 1) * kDramLatencyCycles / shape.cyclesPerNs;
  return std::max(chainNs, bytes / (profile.dramBytesPerNs * kDramEfficiency));
}

static double combine(double computeNs, double dramNs) {
  return std::max(computeNs, dramNs) + kUnhiddenShare * std::min(computeNs, dramNs) + kLaunchNs;
}

static CostEstimate estimateGemm(const GemmProblem &problem, const GemmConfig &config,
                                 const GpuProfile &profile) {
  const GemmShape shape = shapeOf(problem, config, profile);
  CostEstimate cost;
  cost.tiles = shape.tiles;
  cost.kBlocks = ceilOf(shape.k, shape.tileK);
  cost.waves = std::ceil(shape.tiles / shape.slots);
  estimateStep(shape, config, profile, cost);
  cost.computeNs = computeCycles(shape, cost) / shape.cyclesPerNs;
  cost.dramNs = dramNs(shape, config, profile);
  cost.totalNs = combine(cost.computeNs, cost.dramNs);
  return cost;
}

/// Elements that one block of a quantization kernel handles.
static double elementsPerBlock(const QuantProblem &problem, const QuantConfig &config,
                               double bytesX) {
  switch (problem.s) {
  case ScaleUnit::Tensor:
    return config.threads * config.unitsPerBlock * (config.vectorBytes / bytesX);
  case ScaleUnit::Row:
    return static_cast<double>(problem.n) * config.unitsPerBlock;
  case ScaleUnit::Block1x128:
    return 128.0 * config.unitsPerBlock;
  case ScaleUnit::Block128x128:
    return 128.0 * 128.0 * config.unitsPerBlock;
  case ScaleUnit::Block1x32:
    return 32.0 * config.unitsPerBlock;
  }
  return 1;
}

static CostEstimate estimateQuant(const QuantProblem &problem, const QuantConfig &config,
                                  const GpuProfile &profile) {
  const double bytesX = elementBytes(problem.x);
  const double elements = static_cast<double>(std::max<std::int64_t>(problem.m, 1)) *
                          static_cast<double>(std::max<std::int64_t>(problem.n, 1));
  const double reads = problem.s == ScaleUnit::Tensor && problem.sc == ScaleSource::Amax ? 2 : 1;
  const double perBlock = std::max(1.0, elementsPerBlock(problem, config, bytesX));
  const double cyclesPerNs = profile.clockMhz / 1000.0;
  const double residents =
      std::max(1.0, std::min(static_cast<double>(profile.maxThreadsPerSm / config.threads),
                             static_cast<double>(profile.maxBlocksPerSm)));
  CostEstimate cost;
  cost.tiles = std::ceil(elements / perBlock);
  cost.waves = std::ceil(cost.tiles / (residents * profile.smCount));
  // Each thread loads its vectors one after the other; a wave lasts for as many latencies.
  const double vectorsPerThread =
      std::ceil(perBlock * bytesX / config.vectorBytes / config.threads);
  const double waveCycles =
      kPrologueCycles / 2 + kDramLatencyCycles + vectorsPerThread * kCyclesPerVector;
  cost.computeNs = reads * cost.waves * waveCycles / cyclesPerNs;
  cost.dramNs = elements * (bytesX * reads + 1) / (profile.dramBytesPerNs * kDramEfficiency);
  cost.totalNs = combine(cost.computeNs, cost.dramNs);
  return cost;
}

CostEstimate estimateCost(const Problem &problem, const Config &config, const GpuProfile &profile) {
  if (const auto *gemm = std::get_if<GemmProblem>(&problem)) {
    return estimateGemm(*gemm, std::get<GemmConfig>(config), profile);
  }
  return estimateQuant(std::get<QuantProblem>(problem), std::get<QuantConfig>(config), profile);
}

std::vector<RankedConfig> rankConfigs(const Problem &problem, const std::vector<Config> &configs,
                                      const GpuProfile &profile) {
  std::vector<RankedConfig> ranked;
  ranked.reserve(configs.size());
  for (const Config &config : configs) {
    ranked.push_back({.config = config, .modelNs = estimateCost(problem, config, profile).totalNs});
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const RankedConfig &a, const RankedConfig &b) {
    return a.modelNs < b.modelNs;
  });
  return ranked;
}

} // namespace fp8jit
