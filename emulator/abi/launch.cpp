// Launches: the driver's checks, the kernel's parameters, the run, and what becomes of a fault.
#include "emulator/exec/launch.h"

#include "emulator/abi/function_limits.h"
#include "emulator/abi/log.h"
#include "emulator/abi/process.h"
#include "entry_points.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace fp8jit::emulator {
namespace {

/// The arguments of a launch, whichever entry point they came through.
struct LaunchArguments {
  Dim3 grid, block;
  std::uint32_t dynamicShared = 0;
  CUstream stream = nullptr;
  void **parameters = nullptr;
  void **extra = nullptr;
};

} // namespace

static bool isWithin(const Dim3 &size, const Dim3 &limit) {
  return size.x >= 1 && size.y >= 1 && size.z >= 1 && size.x <= limit.x && size.y <= limit.y &&
         size.z <= limit.z;
}

/// The driver's checks before a launch, in its order.
static CUresult checkLaunch(const Function &function, const LaunchArguments &launch,
                            const GpuProfile &gpu) {
  constexpr Dim3 kMaxGrid{0x7fffffff, 65535, 65535};
  constexpr Dim3 kMaxBlock{1024, 1024, 64};
  const KernelResources &resources = function.resources();
  const std::uint64_t threads = std::uint64_t{launch.block.x} * launch.block.y * launch.block.z;
  if (!isWithin(launch.grid, kMaxGrid) || !isWithin(launch.block, kMaxBlock) ||
      threads > kMaxThreadsPerBlock) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (threads > resources.maxThreads) {
    return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  }
  const auto allowed = static_cast<std::uint32_t>(maxDynamicShared(resources, *function.settings));
  const std::uint64_t shared = std::uint64_t{resources.staticSharedBytes} + launch.dynamicShared;
  if (launch.dynamicShared > allowed ||
      shared > static_cast<std::uint64_t>(gpu.smemPerBlockOptin)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

/// The parameter block from the `extra` form: a packed buffer and its size.
static std::optional<std::vector<std::uint8_t>> packedParameters(const Kernel &kernel,
                                                                 void **extra) {
  const void *buffer = nullptr;
  const std::size_t *sizeBytes = nullptr;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) {
      buffer = extra[1];
    } else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) {
      sizeBytes = static_cast<const std::size_t *>(extra[1]);
    } else {
      return std::nullopt;
    }
  }
  if (buffer == nullptr || sizeBytes == nullptr || *sizeBytes < kernel.paramBytes) {
    return std::nullopt;
  }
  const auto *bytes = static_cast<const std::uint8_t *>(buffer);
  return std::vector<std::uint8_t>(bytes, bytes + kernel.paramBytes);
}

/// The kernel's parameter block, or nothing if the program passed too little.
static std::optional<std::vector<std::uint8_t>> gatherParameters(const Kernel &kernel,
                                                                 const LaunchArguments &launch) {
  if (launch.extra != nullptr) {
    return launch.parameters == nullptr ? packedParameters(kernel, launch.extra) : std::nullopt;
  }
  std::vector<std::uint8_t> block(kernel.paramBytes);
  if (!kernel.parameters.empty() && launch.parameters == nullptr) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const Parameter &parameter = kernel.parameters[i];
    if (launch.parameters[i] == nullptr) {
      return std::nullopt;
    }
    std::memcpy(block.data() + parameter.offset, launch.parameters[i], parameter.sizeBytes);
  }
  return block;
}

/// The error under which hardware reports a fault.
static CUresult resultOf(Fault fault) {
  switch (fault) {
  case Fault::None:
    return CUDA_SUCCESS;
  case Fault::IllegalAddress:
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  case Fault::MisalignedAddress:
    return CUDA_ERROR_MISALIGNED_ADDRESS;
  case Fault::IllegalInstruction:
    return CUDA_ERROR_ILLEGAL_INSTRUCTION;
  case Fault::DataRace:
  case Fault::UninitializedRead: // hardware would go on; strict mode does not
  case Fault::Trap:
    return CUDA_ERROR_LAUNCH_FAILED;
  case Fault::Deadlock:
  case Fault::Budget:
    return CUDA_ERROR_LAUNCH_TIMEOUT;
  }
  return CUDA_ERROR_UNKNOWN;
}

/// Books a finished run: counters, clock, report, and the context's sticky error.
static void finishLaunch(Context &context, Stream &stream, const LaunchResult &result) {
  ThreadState &thread = Process::thread();
  thread.lastCounters = result.counters;
  thread.lastModelledNs = result.modelledNs;
  advanceClock(context, stream, result.modelledNs);
  if (!result.report.empty()) {
    Process::instance().setReport(result.report);
    logLine(result.report);
  }
  if (result.fault != Fault::None) {
    context.stickyError.store(resultOf(result.fault), std::memory_order_release);
  }
}

static CUresult launchKernel(CUfunction handle, const LaunchArguments &launch) {
  Process &process = Process::instance();
  const std::shared_ptr<Context> context = process.currentContext();
  CUresult status = CUDA_SUCCESS;
  const std::shared_ptr<Function> function = findFunction(context, handle, status);
  if (function == nullptr) {
    return status;
  }
  const std::shared_ptr<Stream> stream = process.findStream(context, launch.stream);
  if (stream == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  const GpuProfile &gpu = *context->device.profile;
  status = checkLaunch(*function, launch, gpu);
  std::optional<std::vector<std::uint8_t>> parameters =
      gatherParameters(function->kernel(), launch);
  if (status != CUDA_SUCCESS || !parameters) {
    return status == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : status;
  }
  const LoadedModule &module = *function->module;
  const LaunchRequest request{.module = &module.image->program,
                              .kernel = &function->kernel(),
                              .grid = launch.grid,
                              .block = launch.block,
                              .dynamicSharedBytes = launch.dynamicShared,
                              .params = std::move(*parameters),
                              .globalAddresses = module.globalAddresses,
                              .registersPerThread = function->resources().registers,
                              .blockSample = Process::thread().blockSample,
                              .strictness = process.strictness.load()};
  const std::lock_guard lock(stream->mutex);
  finishLaunch(*context, *stream, runGrid(request, context->memory, gpu));
  return CUDA_SUCCESS; // as on hardware, a fault shows at the next call
}

/// Whether the launch attributes ask for nothing that the device lacks.
static CUresult checkAttributes(const CUlaunchConfig &config) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const CUlaunchAttribute &attribute = config.attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      const auto &cluster = attribute.value.clusterDim;
      if (cluster.x != 1 || cluster.y != 1 || cluster.z != 1) {
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
      }
    }
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && attribute.value.cooperative != 0) {
      return CUDA_ERROR_NOT_SUPPORTED; // grid-wide barriers need all blocks at once
    }
  }
  return CUDA_SUCCESS;
}

namespace driver {

CUresult cuLaunchKernel(CUfunction function, unsigned int gridX, unsigned int gridY,
                        unsigned int gridZ, unsigned int blockX, unsigned int blockY,
                        unsigned int blockZ, unsigned int sharedBytes, CUstream stream,
                        void **parameters, void **extra) {
  return launchKernel(function, {.grid = {gridX, gridY, gridZ},
                                 .block = {blockX, blockY, blockZ},
                                 .dynamicShared = sharedBytes,
                                 .stream = stream,
                                 .parameters = parameters,
                                 .extra = extra});
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters,
                          void **extra) {
  if (config == nullptr || (config->numAttrs > 0 && config->attrs == nullptr)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const CUresult result = checkAttributes(*config);
  if (result != CUDA_SUCCESS) {
    return result;
  }
  return driver::cuLaunchKernel(function, config->gridDimX, config->gridDimY, config->gridDimZ,
                                config->blockDimX, config->blockDimY, config->blockDimZ,
                                config->sharedMemBytes, config->hStream, parameters, extra);
}

} // namespace driver
} // namespace fp8jit::emulator
