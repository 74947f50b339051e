// The one place that reads environment variables. Main entry: readEnvironment.
#pragma once

#include <cstdint>
#include <string>

namespace fp8jit {

/// Every environment variable that changes what fp8jit does.
enum class EnvironmentVariable : std::uint8_t {
  CacheDirectory, ///< FP8JIT_CACHE_DIR: folder of the cache
  Nvrtc,          ///< FP8JIT_NVRTC: the NVRTC library file to load
  Emulator,       ///< FP8JIT_EMULATOR: the emulator library file to load
  XdgCacheHome,   ///< XDG_CACHE_HOME: parent folder of user caches
  Home,           ///< HOME
  CudaHome,       ///< CUDA_HOME: root of a CUDA toolkit
};

/// The name of `variable`, for messages.
const char *environmentName(EnvironmentVariable variable);

/// The value of `variable`; empty if it is unset or empty, which always means the same.
std::string readEnvironment(EnvironmentVariable variable);

} // namespace fp8jit
