// The GPU table: what the generator's rules, the cost estimate and the emulated devices need to
// know of a GPU. Header only, standard library only: it is the one generator header that the
// emulator shares. Sources: CUDA programming guide (limits per compute capability) and the vendors'
// data sheets (clocks, bandwidth).
#pragma once

#include <array>
#include <string_view>

namespace fp8jit {

struct GpuProfile {
  std::string_view name; ///< as the driver names the device
  std::string_view arch; ///< NVRTC target without "sm_", for example "90a"
  int computeMajor = 0, computeMinor = 0;
  int smCount = 0;
  int clockMhz = 0; ///< sustained SM clock
  int fp8FlopPerClockPerSm =
      0; ///< dense FP8 with FP32 accumulation, multiply and add counted apart
  int fp32FlopPerClockPerSm = 0;
  int dramBytesPerNs = 0; ///< GB/s
  int dramBusBits = 384;
  long long dramBytes = 0;
  int l2Bytes = 0;
  int l2BytesPerClock = 0;   ///< whole device
  int smemPerBlockOptin = 0; ///< bytes, dynamic plus static
  int smemPerSm = 0;
  int regsPerSm = 65536;
  int maxThreadsPerSm = 1536;
  int maxBlocksPerSm = 24;
  /// Blocks of a thread block cluster: what every kernel may use, and what a kernel may that allows
  /// sizes which other GPUs of the architecture lack. 0 without clusters.
  int maxClusterBlocks = 0, maxNonPortableClusterBlocks = 0;
  int smsPerCluster = 0; ///< SMs that a cluster can be spread over (a GPC); 0 without clusters
};

/// Limits that all GPUs of the table share (CUDA programming guide, technical specifications per
/// compute capability): threads of a block; shared memory of a block, static and dynamic, that no
/// attribute has to allow; shared memory of every block that the driver keeps for itself.
inline constexpr int kMaxThreadsPerBlock = 1024;
inline constexpr int kDefaultSmemPerBlock = 48 * 1024;
inline constexpr int kReservedSmemPerBlock = 1024;

inline constexpr std::array kGpuProfiles = {
    GpuProfile{.name = "NVIDIA L40S",
               .arch = "89",
               .computeMajor = 8,
               .computeMinor = 9,
               .smCount = 142,
               .clockMhz = 2300,
               .fp8FlopPerClockPerSm = 2048,
               .fp32FlopPerClockPerSm = 256,
               .dramBytesPerNs = 864,
               .dramBytes = 48LL << 30,
               .l2Bytes = 96 << 20,
               .l2BytesPerClock = 2048,
               .smemPerBlockOptin = 101376,
               .smemPerSm = 102400,
               .maxThreadsPerSm = 1536,
               .maxBlocksPerSm = 24},
    // Clock: the data sheet's 1979 TFLOP/s of FP8 over 132 SMs.
    GpuProfile{.name = "NVIDIA H200",
               .arch = "90a",
               .computeMajor = 9,
               .computeMinor = 0,
               .smCount = 132,
               .clockMhz = 1830,
               .fp8FlopPerClockPerSm = 8192,
               .fp32FlopPerClockPerSm = 256,
               .dramBytesPerNs = 4800,
               .dramBusBits = 6144,
               .dramBytes = 141LL * 1000 * 1000 * 1000,
               .l2Bytes = 50 << 20,
               .l2BytesPerClock = 5120,
               .smemPerBlockOptin = 232448,
               .smemPerSm = 233472,
               .maxThreadsPerSm = 2048,
               .maxBlocksPerSm = 32,
               .maxClusterBlocks = 8,
               .maxNonPortableClusterBlocks = 16,
               .smsPerCluster = 16},
};

/// The profile of the first GPU in the table whose arch is `arch` ("89"), or null.
constexpr const GpuProfile *findProfileByArch(std::string_view arch) {
  for (const GpuProfile &profile : kGpuProfiles) {
    if (profile.arch == arch) {
      return &profile;
    }
  }
  return nullptr;
}

} // namespace fp8jit
