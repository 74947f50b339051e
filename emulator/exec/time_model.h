// Modelled duration of a launch from its counters. Main entry: modelTime. Never a measurement.
#pragma once

#include "emulator/exec/launch.h"

namespace fp8jit::emulator {

/// What the model needs to know of a launch besides its counters.
struct ModelInput {
  EmulatorCounters counters{}; ///< of the whole grid
  std::uint32_t threadsPerBlock = 0;
  std::uint32_t sharedBytesPerBlock = 0;
  std::uint32_t registersPerThread = 128;
};

/// Terms of the modelled time, in nanoseconds. Each of tensorNs to dramNs is a lower bound that
/// assumes that nothing else limits; the SM with the most blocks decides for those per SM.
///
///   launchNs   a constant: what an empty launch takes
///   latencyNs  waves * barriers of a block * 30 cycles; a wave is what all SMs hold at a time
///   tensorNs   per SM: flops of matrix instructions at the dense FP8 rate
///   floatNs    per SM: f16, f32 and f64 instructions and conversions at the FP32 rate
///   issueNs    per SM: warp instructions at four per cycle
///   sharedNs   per SM: shared-memory wavefronts, bank conflicts included, at one per cycle
///   l2Ns       global sectors at the L2's bandwidth
///   dramNs     a quarter of the global sectors at DRAM bandwidth: too little for a stream that
///              touches each byte once, which takes up to four times as long from a cold cache
///   totalNs    launchNs + latencyNs + the largest of the others
///
/// Not modelled: dependences between instructions, imperfect overlap, the caches of an SM, and
/// rates of matrix instructions that differ by element type.
struct ModelTerms {
  double launchNs = 0, latencyNs = 0;
  double tensorNs = 0, floatNs = 0, issueNs = 0, sharedNs = 0, l2Ns = 0, dramNs = 0;
  double totalNs = 0;
};

/// Blocks of this shape that fit on one SM of `profile`; at least 1.
std::uint32_t blocksPerSm(const ModelInput &input, const GpuProfile &profile);

/// The terms, each documented at its formula in time_model.cpp. Grows with every counter.
ModelTerms modelTime(const ModelInput &input, const GpuProfile &profile);

} // namespace fp8jit::emulator
