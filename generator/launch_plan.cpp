// Entries, grid sizes and workspace of a launch.
#include "generator/launch_plan.h"

#include <cassert>

namespace fp8jit {

static std::int64_t ceilDiv(std::int64_t value, std::int64_t divisor) {
  return value / divisor + (value % divisor != 0 ? 1 : 0);
}

static std::vector<KernelEntry> quantEntries(const QuantProblem &problem,
                                             const QuantConfig &config) {
  if (problem.s != ScaleUnit::Tensor) {
    return {{.name = "fp8jit_quantize", .threads = config.threads}};
  }
  std::vector<KernelEntry> entries = {{.name = "fp8jit_quantize_reset", .threads = 1}};
  if (problem.sc == ScaleSource::Amax) {
    entries.push_back({.name = "fp8jit_quantize_amax", .threads = config.threads});
  }
  entries.push_back({.name = "fp8jit_quantize_cast", .threads = config.threads});
  return entries;
}

std::vector<KernelEntry> kernelEntries(const Problem &problem, const Config &config) {
  if (const auto *gemm = std::get_if<GemmConfig>(&config)) {
    return {{.name = "fp8jit_gemm", .threads = gemm->threads(), .smemBytes = gemm->smemBytes()}};
  }
  return quantEntries(std::get<QuantProblem>(problem), std::get<QuantConfig>(config));
}

static std::int64_t quantBlocks(const QuantProblem &problem, const QuantConfig &config,
                                std::size_t entryIndex) {
  if (problem.m == 0 || problem.n == 0) {
    return 0;
  }
  switch (problem.s) {
  case ScaleUnit::Tensor: {
    const std::int64_t elements = config.vectorBytes / elementBytes(problem.x) *
                                  std::int64_t{config.threads} * config.unitsPerBlock;
    return entryIndex == 0 ? 1 : ceilDiv(problem.m * problem.n, elements);
  }
  case ScaleUnit::Row:
    return ceilDiv(problem.m, config.unitsPerBlock);
  case ScaleUnit::Block128x128:
    return ceilDiv(problem.m, 128) * ceilDiv(problem.n, 128);
  case ScaleUnit::Block1x128:
  case ScaleUnit::Block1x32:
    break;
  }
  return ceilDiv(problem.m * ceilDiv(problem.n, 128), config.unitsPerBlock);
}

std::int64_t gridBlocks(const Problem &problem, const Config &config, std::size_t entryIndex) {
  if (const auto *gemm = std::get_if<GemmProblem>(&problem)) {
    assert(entryIndex == 0 && "a GEMM source has one entry");
    return gemmGridBlocks(std::get<GemmConfig>(config), gemm->m, gemm->n);
  }
  return quantBlocks(std::get<QuantProblem>(problem), std::get<QuantConfig>(config), entryIndex);
}

std::int64_t workspaceBytes(const Problem &problem) {
  const auto *quant = std::get_if<QuantProblem>(&problem);
  return quant != nullptr && quant->s == ScaleUnit::Tensor ? 4 : 0;
}

} // namespace fp8jit
