// The error codes that every part of fp8jit reports; part of the public interface. Standard library
// only.
#pragma once

#include <string_view>

namespace fp8jit {

/// What went wrong, as programs may branch on it. The names are printed by the command and never
/// change.
enum class ErrorCode {
  InvalidArgument, ///< the request breaks the contract, whatever the build or device
  Unsupported,     ///< a legal request that this build or this target cannot serve
  CompileError,    ///< NVRTC or ptxas refused a generated source
  DriverError,     ///< the CUDA driver returned an error
  NvrtcNotFound,   ///< no NVRTC library can be loaded
  NoDevice,        ///< the named device does not exist, or no device was found
  NotFound,        ///< a file, a cache entry or a winner that was required is missing
  CacheError,      ///< the cache file cannot be used for an explicit cache request
  Cancelled,       ///< the caller asked to stop
  Internal,        ///< a fault of fp8jit itself
};

/// The name of `code` as it is printed, for example "InvalidArgument".
constexpr std::string_view codeName(ErrorCode code) {
  switch (code) {
  case ErrorCode::InvalidArgument:
    return "InvalidArgument";
  case ErrorCode::Unsupported:
    return "Unsupported";
  case ErrorCode::CompileError:
    return "CompileError";
  case ErrorCode::DriverError:
    return "DriverError";
  case ErrorCode::NvrtcNotFound:
    return "NvrtcNotFound";
  case ErrorCode::NoDevice:
    return "NoDevice";
  case ErrorCode::NotFound:
    return "NotFound";
  case ErrorCode::CacheError:
    return "CacheError";
  case ErrorCode::Cancelled:
    return "Cancelled";
  case ErrorCode::Internal:
    return "Internal";
  }
  return "Internal";
}

} // namespace fp8jit
