// What every exported function does before its own work: injected faults, cuInit, the current
// context and its sticky error; and no C++ exception leaves the library.
#pragma once

#include <cuda.h>

#include <new>

namespace fp8jit::emulator {

/// What a call needs before it may do anything.
enum class Needs { Nothing, Init, Context };

/// CUDA_SUCCESS if the call may proceed, else what it returns: an injected fault,
/// CUDA_ERROR_NOT_INITIALIZED, CUDA_ERROR_INVALID_CONTEXT, CUDA_ERROR_CONTEXT_IS_DESTROYED or the
/// context's sticky error. `name` is without version suffix.
CUresult beginCall(const char *name, Needs needs);

/// Runs `call` if beginCall allows it.
template <typename Call>
CUresult guardedCall(const char *name, Needs needs, const Call &call) {
  try {
    const CUresult refusal = beginCall(name, needs);
    return refusal == CUDA_SUCCESS ? call() : refusal;
  } catch (const std::bad_alloc &) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (...) {
    return CUDA_ERROR_UNKNOWN;
  }
}

} // namespace fp8jit::emulator
