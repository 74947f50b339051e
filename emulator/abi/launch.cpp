// Launches: the driver's checks, the kernel's parameters, the run, and what becomes of a fault.
#include "emulator/exec/launch.h"

#include "emulator/abi/launch_arguments.h"
#include "emulator/abi/log.h"
#include "emulator/abi/process.h"
#include "entry_points.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace fp8jit::emulator {

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

static RaceChecks raceChecksOf(int setting) {
  return setting < 0 ? RaceChecks::Default : setting == 0 ? RaceChecks::Off : RaceChecks::On;
}

static AsyncMode asyncModeOf(EmulatorAsyncMode mode) {
  switch (mode) {
  case EmulatorAsyncMode::Eager:
    return AsyncMode::Eager;
  case EmulatorAsyncMode::Lazy:
    return AsyncMode::Lazy;
  case EmulatorAsyncMode::Random:
    return AsyncMode::Random;
  }
  return AsyncMode::Lazy;
}

/// Runs the grid with the settings of the process and the calling thread.
static LaunchResult run(const Function &function, const LaunchArguments &launch,
                        std::vector<std::uint8_t> parameters,
                        std::shared_ptr<const ByteRanges> earlierWrites) {
  const Process &process = Process::instance();
  const LoadedModule &module = *function.module;
  Context &context = *module.context;
  const LaunchRequest request{.module = &module.image->program,
                              .kernel = &function.kernel(),
                              .grid = launch.grid,
                              .block = launch.block,
                              .cluster = launch.cluster.value_or(Dim3{}),
                              .isExplicitCluster = launch.isExplicitCluster,
                              .dynamicSharedBytes = launch.dynamicShared,
                              .params = std::move(parameters),
                              .globalAddresses = module.globalAddresses,
                              .registersPerThread = function.resources().registers,
                              .blockSample = Process::thread().blockSample,
                              .strictness = process.settings.strictness.load(),
                              .raceChecks = raceChecksOf(process.settings.raceChecking.load()),
                              .asyncMode = asyncModeOf(process.settings.asyncMode.load()),
                              .seed = process.settings.seed.load(),
                              .hostThreads = process.settings.hostThreads.load(),
                              .trace = process.trace(),
                              .earlierWrites = std::move(earlierWrites),
                              .recordsWrites = function.resources().launchesDependents,
                              .prepared = module.image->prepared[function.index]};
  return runGrid(request, context.memory, *context.device.profile);
}

/// What the launch ahead in `stream` wrote, if it may still run.
static std::shared_ptr<const ByteRanges> overlappingWrites(Context &context, const Stream &stream) {
  const std::lock_guard lock(context.clockMutex);
  return stream.overlappingWrites;
}

static void setOverlappingWrites(Context &context, Stream &stream, ByteRanges writes) {
  const std::lock_guard lock(context.clockMutex);
  stream.overlappingWrites = std::make_shared<const ByteRanges>(std::move(writes));
}

static CUresult launchKernel(CUfunction handle, LaunchArguments launch) {
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
  status = resolveLaunch(*function, launch, gpu);
  std::optional<std::vector<std::uint8_t>> parameters =
      gatherParameters(function->kernel(), launch);
  if (status != CUDA_SUCCESS || !parameters) {
    return status == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : status;
  }
  {
    const std::lock_guard lock(stream->mutex);
    const std::shared_ptr<const ByteRanges> earlier =
        launch.startsEarly ? overlappingWrites(*context, *stream) : nullptr;
    LaunchResult result = run(*function, launch, std::move(*parameters), earlier);
    finishLaunch(*context, *stream, result);
    if (function->resources().launchesDependents) {
      if (earlier != nullptr && !function->resources().waitsForGrid) {
        result.writes.add(*earlier); // nobody has waited for those either
        result.writes.settle();
      }
      setOverlappingWrites(*context, *stream, std::move(result.writes));
    }
  }
  if (launch.event != nullptr) {
    recordEvent(*launch.event, *context, *stream);
  }
  return CUDA_SUCCESS; // as on hardware, a fault shows at the next call
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
  if (config == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  LaunchArguments launch;
  launch.parameters = parameters;
  launch.extra = extra;
  const CUresult result = readConfig(*config, launch);
  return result == CUDA_SUCCESS ? launchKernel(function, std::move(launch)) : result;
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int gridX, unsigned int gridY,
                                   unsigned int gridZ, unsigned int blockX, unsigned int blockY,
                                   unsigned int blockZ, unsigned int sharedBytes, CUstream stream,
                                   void **parameters) {
  return launchKernel(function, {.grid = {gridX, gridY, gridZ},
                                 .block = {blockX, blockY, blockZ},
                                 .dynamicShared = sharedBytes,
                                 .stream = stream,
                                 .parameters = parameters,
                                 .isCooperative = true});
}

} // namespace driver
} // namespace fp8jit::emulator
