// Attributes of cuLaunchKernelEx.
#include "emulator/abi/context.h"
#include "emulator/abi/launch_arguments.h"
#include "emulator/abi/process.h"

namespace fp8jit::emulator {

/// The event of an attribute, which has to be one without timing.
static CUresult readEvent(CUevent handle, LaunchArguments &launch) {
  Process &process = Process::instance();
  launch.event = process.events.find(handle);
  const bool isUsable = launch.event != nullptr &&
                        launch.event->context == process.currentContext() &&
                        (launch.event->flags & CU_EVENT_DISABLE_TIMING) != 0;
  return isUsable ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/// Attributes of newer drivers are unknown: 16 is the newest of CUDA 13.0.
static constexpr int kNewestAttribute = 16;

static CUresult readAttribute(const CUlaunchAttribute &attribute, LaunchArguments &launch) {
  const CUlaunchAttributeValue &value = attribute.value;
  switch (attribute.id) {
  case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION: {
    const Dim3 shape{value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
    if (shape.x == 0 || shape.y == 0 || shape.z == 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    launch.cluster = shape;
    return CUDA_SUCCESS;
  }
  case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    launch.isCooperative = value.cooperative != 0;
    return CUDA_SUCCESS;
  case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    launch.startsEarly = value.programmaticStreamSerializationAllowed != 0;
    return CUDA_SUCCESS;
  case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
    return readEvent(value.programmaticEvent.event, launch);
  case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
    return readEvent(value.launchCompletionEvent.event, launch);
  case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
    return CUDA_ERROR_NOT_SUPPORTED;
  default:
    return static_cast<int>(attribute.id) <= kNewestAttribute ? CUDA_SUCCESS
                                                              : CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult readConfig(const CUlaunchConfig &config, LaunchArguments &launch) {
  if (config.numAttrs > 0 && config.attrs == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  launch.grid = {config.gridDimX, config.gridDimY, config.gridDimZ};
  launch.block = {config.blockDimX, config.blockDimY, config.blockDimZ};
  launch.dynamicShared = config.sharedMemBytes;
  launch.stream = config.hStream;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const CUresult result = readAttribute(config.attrs[i], launch);
    if (result != CUDA_SUCCESS) {
      return result;
    }
  }
  return CUDA_SUCCESS;
}

} // namespace fp8jit::emulator
