// How many blocks of a kernel fit on one SM.
#include "emulator/abi/function_limits.h"
#include "emulator/abi/process.h"
#include "entry_points.h"

#include <algorithm>

namespace fp8jit::emulator {

int maxActiveBlocks(const GpuProfile &gpu, const KernelResources &resources, int threads,
                    size_t dynamicShared) {
  constexpr int kWarpsPerUnit = 4;
  constexpr int kSharedUnit = 128;
  const int warps = (threads + 31) / 32;
  int blocks = std::min(gpu.maxBlocksPerSm, gpu.maxThreadsPerSm / 32 / warps);
  if (resources.isRegisterCountKnown && resources.registers > 0) {
    const int perWarp = (static_cast<int>(resources.registers) * 32 + 255) / 256 * 256;
    const int warpsThatFit = gpu.regsPerSm / perWarp / kWarpsPerUnit * kWarpsPerUnit;
    blocks = std::min(blocks, warpsThatFit / warps);
  }
  const long long shared = static_cast<long long>(resources.staticSharedBytes) +
                           static_cast<long long>(dynamicShared) + kReservedSmemPerBlock;
  const long long rounded = (shared + kSharedUnit - 1) / kSharedUnit * kSharedUnit;
  return static_cast<int>(std::min<long long>(blocks, gpu.smemPerSm / rounded));
}

namespace driver {

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction handle,
                                                              int threads, size_t dynamicShared,
                                                              unsigned int flags) {
  if (blocks == nullptr || threads <= 0 || threads > kMaxThreadsPerBlock ||
      (flags & ~unsigned{CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE}) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  CUresult status = CUDA_SUCCESS;
  const std::shared_ptr<Function> function =
      findFunction(Process::instance().currentContext(), handle, status);
  if (function == nullptr) {
    return status;
  }
  const GpuProfile &gpu = *function->module->context->device.profile;
  *blocks = static_cast<unsigned>(threads) > function->resources().maxThreads
                ? 0
                : maxActiveBlocks(gpu, function->resources(), threads, dynamicShared);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     size_t dynamicShared) {
  return driver::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads,
                                                                      dynamicShared, 0);
}

} // namespace driver
} // namespace fp8jit::emulator
