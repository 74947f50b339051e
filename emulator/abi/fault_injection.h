// Faults on demand: makes the n-th next call of a named entry point fail.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace fp8jit::emulator {

/// Pending injections by entry point, without version suffix. Thread safe; costs one atomic load
/// per call while none is pending.
class FaultInjection {
public:
  /// The `n`-th following call (1 = next) of `name` ("cuMemAlloc" or "cuMemAlloc_v2") fails once
  /// with `result`. Replaces a pending injection for that name. False if n is 0.
  bool arm(std::string_view name, std::uint64_t n, CUresult result);
  void clear();

  /// Counts a call of `name`; the result to fail with, or CUDA_SUCCESS.
  CUresult countCall(const char *name);

private:
  struct Pending {
    std::uint64_t callsLeft = 0;
    CUresult result = CUDA_SUCCESS;
  };

  std::atomic<std::size_t> pendingCount_{0};
  std::mutex mutex_; ///< guards the one below
  std::map<std::string, Pending, std::less<>> pending_;
};

} // namespace fp8jit::emulator
