// What a context can be asked and told: synchronisation, priorities, limits, cache preferences.
#include "emulator/abi/process.h"
#include "entry_points.h"

namespace fp8jit::emulator::driver {

static constexpr int kLeastPriority = 0;
static constexpr int kGreatestPriority = -5;

CUresult cuCtxSynchronize() {
  return CUDA_SUCCESS; // work is done when its call returns; a fault was reported by the guard
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  if (least != nullptr) {
    *least = kLeastPriority;
  }
  if (greatest != nullptr) {
    *greatest = kGreatestPriority;
  }
  return CUDA_SUCCESS;
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit) {
  if (value == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  switch (limit) {
  case CU_LIMIT_STACK_SIZE:
    *value = 1024;
    return CUDA_SUCCESS;
  case CU_LIMIT_PRINTF_FIFO_SIZE:
  case CU_LIMIT_MALLOC_HEAP_SIZE:
    *value = 0;
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_UNSUPPORTED_LIMIT;
  }
}

CUresult cuCtxSetLimit(CUlimit limit, size_t) {
  return limit == CU_LIMIT_STACK_SIZE ? CUDA_SUCCESS : CUDA_ERROR_UNSUPPORTED_LIMIT;
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *config) {
  if (config == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *config = CU_FUNC_CACHE_PREFER_NONE;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  const bool isKnown = config >= CU_FUNC_CACHE_PREFER_NONE && config <= CU_FUNC_CACHE_PREFER_EQUAL;
  return isKnown ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long *id) {
  Process &process = Process::instance();
  const std::shared_ptr<Context> context =
      handle == nullptr ? process.currentContext() : process.contexts.find(handle);
  if (id == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (context == nullptr) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  *id = context->id;
  return CUDA_SUCCESS;
}

} // namespace fp8jit::emulator::driver
