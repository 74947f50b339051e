#include "support/environment.h"

#include <cstdlib>

namespace fp8jit {

const char *environmentName(EnvironmentVariable variable) {
  switch (variable) {
  case EnvironmentVariable::CacheDirectory:
    return "FP8JIT_CACHE_DIR";
  case EnvironmentVariable::Nvrtc:
    return "FP8JIT_NVRTC";
  case EnvironmentVariable::Emulator:
    return "FP8JIT_EMULATOR";
  case EnvironmentVariable::XdgCacheHome:
    return "XDG_CACHE_HOME";
  case EnvironmentVariable::Home:
    return "HOME";
  case EnvironmentVariable::CudaHome:
    return "CUDA_HOME";
  }
  return "";
}

std::string readEnvironment(EnvironmentVariable variable) {
  const char *value = std::getenv(environmentName(variable));
  return value == nullptr ? std::string() : std::string(value);
}

} // namespace fp8jit
