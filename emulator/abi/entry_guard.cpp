// Checks common to all entry points, the refusal of the others, and the log.
#include "emulator/abi/entry_guard.h"

#include "emulator/abi/log.h"
#include "emulator/abi/process.h"
#include "emulator/abi/refused_call.h"

#include <cstdio>
#include <exception>
#include <string>

namespace fp8jit::emulator {

CUresult beginCall(const char *name, Needs needs) {
  Process &process = Process::instance();
  const CUresult injected = process.faultInjection.countCall(name);
  if (injected != CUDA_SUCCESS) {
    return injected;
  }
  if (needs == Needs::Nothing) {
    return CUDA_SUCCESS;
  }
  if (!process.isInitialized.load(std::memory_order_acquire)) {
    return CUDA_ERROR_NOT_INITIALIZED;
  }
  if (needs == Needs::Init) {
    return CUDA_SUCCESS;
  }
  if (Process::thread().contextStack.empty() || Process::thread().contextStack.back() == nullptr) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  const std::shared_ptr<Context> context = process.currentContext();
  if (context == nullptr) {
    return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  }
  return context->stickyError.load(std::memory_order_acquire);
}

int refuseCall(std::once_flag &once, const char *name) {
  return guardedCall(name, Needs::Nothing, [&] {
    std::call_once(once, [&] { logLine(std::string(name) + " is not implemented"); });
    return CUDA_ERROR_NOT_SUPPORTED;
  });
}

void logLine(std::string_view message) {
  std::fprintf(stderr, "fp8jit-emulator: %.*s\n", static_cast<int>(message.size()), message.data());
}

} // namespace fp8jit::emulator
