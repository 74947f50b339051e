// How much work checking and timing a candidate may cost. An emulated device runs some 10^9 flop
// per second, so a check there is small and a timing runs a sample of the blocks.
#pragma once

#include <cstdint>

namespace fp8jit {

/// m * n * k of a GEMM check: about a second per candidate on the emulator.
inline constexpr std::int64_t kEmulatedGemmCheck = std::int64_t{1} << 30;
inline constexpr std::int64_t kDeviceGemmCheck = std::int64_t{1} << 34;
/// m * n of a quantization check.
inline constexpr std::int64_t kEmulatedQuantCheck = std::int64_t{1} << 20;
inline constexpr std::int64_t kDeviceQuantCheck = std::int64_t{1} << 26;
/// Bytes of operand and output rows in a timing.
inline constexpr std::int64_t kEmulatedTrialBytes = std::int64_t{256} << 20;
inline constexpr std::int64_t kDeviceTrialBytes = std::int64_t{1} << 30;
/// Work of the blocks that a timing samples on the emulator (multiply-adds; elements), and the
/// fewest blocks: some at every edge.
inline constexpr std::int64_t kSampledGemmWork = std::int64_t{1} << 28;
inline constexpr std::int64_t kSampledQuantWork = std::int64_t{1} << 18;
inline constexpr std::int64_t kFewestSampledBlocks = 4;

} // namespace fp8jit
