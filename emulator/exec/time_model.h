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

/// Terms of the modelled time, in nanoseconds. Each is a lower bound that assumes that nothing else
/// limits; the total is the launch overhead, the latency of the waves, and the largest of the rest.
struct ModelTerms {
  double launchNs = 0;  ///< fixed cost of a launch
  double latencyNs = 0; ///< barrier stages of one block, once per wave
  double tensorNs = 0, floatNs = 0, issueNs = 0, sharedNs = 0, l2Ns = 0, dramNs = 0;
  double totalNs = 0;
};

/// Blocks of this shape that fit on one SM of `profile`; at least 1.
std::uint32_t blocksPerSm(const ModelInput &input, const GpuProfile &profile);

/// The terms, each documented at its formula in time_model.cpp. Grows with every counter.
ModelTerms modelTime(const ModelInput &input, const GpuProfile &profile);

} // namespace fp8jit::emulator
