// What a cubin says about its kernels. Source: the ELF format, and the attribute records of
// ".nv.info" sections as NVRTC 13.0 writes them (examined with readelf; not documented by NVIDIA).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace fp8jit::emulator {

/// Resources of one kernel in a cubin.
struct CubinKernel {
  std::uint32_t registers = 0;
  std::uint32_t staticSharedBytes = 0; ///< without the KiB that sm_90 and later reserve
  std::uint32_t frameBytes = 0;        ///< stack per thread
};

struct Cubin {
  int smNumber = 0; ///< 89
  std::map<std::string, CubinKernel, std::less<>> kernels;
};

/// Size in bytes of the cubin at `image`, by its section and program header tables and the
/// sections' ends; 0 if the header is not that of a cubin. The driver's interface passes no size,
/// so a plausible header has to be trusted.
std::size_t elfSize(const void *image);

/// Reads the kernels of a cubin; nothing if the file is malformed or no CUDA ELF.
std::optional<Cubin> readCubin(std::string_view bytes);

} // namespace fp8jit::emulator
