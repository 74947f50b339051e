// An analytic estimate of a kernel's time, for ranking candidates before anything is compiled.
// Never shown as a measurement. Main entry: estimateCost.
//
// GEMM (mma.sync, one tile per block), cycles per k block of one block:
//   tMma   = 2 BM' BN BK / (F eMma)        BM' = BM rounded up to 16
//   tPromo = p BM' BN / 128 (BK / 128)     scaling and adding of partial sums
//   tSmem  = (BM BK warpsN + BN BK warpsM + (BM + BN) BK / 2) / 128     every warp reads its share
//   tL2    = (BM + BN) BK / min(64, L2 bytes per clock eL2 / busy SMs), shared by resident blocks
//   tLat   = (latency + tL2) / (stages - 1)
//   step   = max(tMma + tPromo, tSmem, tL2, tLat)
// a wave of blocks = k blocks * step * resident blocks + epilogue + prologue / 2; DRAM traffic is
// bounded by bandwidth and by the latency of the k blocks that follow each other in a block; total
// = max(compute, dram) + 0.15 min + launch.
// The constants were fitted to published times of DeepGEMM on an H800 (6 % RMS on 18 points), so on
// other devices the order of candidates is what to trust, not the time.
#pragma once

#include "generator/config.h"

namespace fp8jit {

/// The terms of an estimate. For quantization kernels only the totals are filled.
struct CostEstimate {
  double tiles = 0, kBlocks = 0, waves = 0;
  double mmaCycles = 0, promotionCycles = 0, smemCycles = 0, l2Cycles = 0, latencyCycles = 0;
  double stepCycles = 0; ///< one k block of one block: the largest of the above
  double computeNs = 0, dramNs = 0;
  double totalNs = 0;
};

/// `config` must pass checkConfig for the problem. Quantization is a copy: bytes over bandwidth
/// (X is read twice for tensor scales), plus the latency of what a block does one after the other.
CostEstimate estimateCost(const Problem &problem, const Config &config, const GpuProfile &profile);

/// A ranked candidate.
struct RankedConfig {
  Config config;
  double modelNs = 0;
};

/// `configs` by rising estimate; equal estimates keep their order.
std::vector<RankedConfig> rankConfigs(const Problem &problem, const std::vector<Config> &configs,
                                      const GpuProfile &profile);

} // namespace fp8jit
