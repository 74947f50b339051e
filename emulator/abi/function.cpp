// Attributes of functions and kernels, and what a launch may ask of them.
#include "emulator/abi/function_limits.h"
#include "emulator/abi/process.h"
#include "entry_points.h"

#include <algorithm>

namespace fp8jit::emulator {

int maxDynamicShared(const KernelResources &resources, const FunctionSettings &settings) {
  const int raised = settings.maxDynamicShared.load();
  return raised >= 0
             ? raised
             : std::max(0, kDefaultSmemPerBlock - static_cast<int>(resources.staticSharedBytes));
}

/// Which of width, height and depth an attribute is.
static std::size_t clusterDimension(CUfunction_attribute attribute) {
  return static_cast<std::size_t>(attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
}

static CUresult readClusterAttribute(int &value, CUfunction_attribute attribute,
                                     const Kernel &kernel, const FunctionSettings &settings) {
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
    value = kernel.explicitCluster ? 1 : 0;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: {
    const std::size_t i = clusterDimension(attribute);
    value = kernel.requiredCluster[0] != 0 ? static_cast<int>(kernel.requiredCluster[i])
                                           : settings.requiredCluster[i].load();
    return CUDA_SUCCESS;
  }
  case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    value = settings.allowsNonPortableCluster.load() ? 1 : 0;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    value = settings.clusterScheduling.load();
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

static CUresult writeClusterAttribute(CUfunction_attribute attribute, int value,
                                      const Kernel &kernel, FunctionSettings &settings,
                                      const GpuProfile &gpu) {
  if (gpu.maxClusterBlocks == 0) {
    return CUDA_ERROR_INVALID_VALUE; // a device without clusters
  }
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
    if (kernel.requiredCluster[0] != 0) {
      return CUDA_ERROR_NOT_PERMITTED; // set at compile time
    }
    if (value < 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    settings.requiredCluster[clusterDimension(attribute)].store(value);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    if (value != 0 && value != 1) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    settings.allowsNonPortableCluster.store(value == 1);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    if (value < CU_CLUSTER_SCHEDULING_POLICY_DEFAULT ||
        value > CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    settings.clusterScheduling.store(value);
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_INVALID_VALUE; // read only
  }
}

/// One attribute of a kernel on a device.
static CUresult readAttribute(int &value, CUfunction_attribute attribute, const CodeImage &image,
                              std::size_t index, const FunctionSettings &settings,
                              const GpuProfile &gpu) {
  const Kernel &kernel = image.program.kernels[index];
  const KernelResources &resources = image.resources[index];
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    value = static_cast<int>(resources.maxThreads);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    value = static_cast<int>(resources.staticSharedBytes);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    value = static_cast<int>(resources.localBytes);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_NUM_REGS:
    value = static_cast<int>(resources.registers);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    // The virtual architecture that the code was compiled for; here the device's own.
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
    value = gpu.computeMajor * 10 + gpu.computeMinor;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    value = 0;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    value = 0;
    for (const GlobalVariable &variable : image.program.globals) {
      value += variable.isConst ? static_cast<int>(variable.sizeBytes) : 0;
    }
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    value = maxDynamicShared(resources, settings);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    value = settings.sharedCarveout.load();
    return CUDA_SUCCESS;
  default:
    return readClusterAttribute(value, attribute, kernel, settings);
  }
}

static CUresult writeAttribute(CUfunction_attribute attribute, int value, const CodeImage &image,
                               std::size_t index, FunctionSettings &settings,
                               const GpuProfile &gpu) {
  const Kernel &kernel = image.program.kernels[index];
  const KernelResources &resources = image.resources[index];
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: {
    const int limit = gpu.smemPerBlockOptin - static_cast<int>(resources.staticSharedBytes);
    if (value < 0 || value > limit) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    settings.maxDynamicShared.store(value);
    return CUDA_SUCCESS;
  }
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    if (value < -1 || value > 100) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    settings.sharedCarveout.store(value);
    return CUDA_SUCCESS;
  default:
    return writeClusterAttribute(attribute, value, kernel, settings, gpu);
  }
}

static CUresult readParameter(const Kernel &kernel, size_t index, size_t *offset,
                              size_t *sizeBytes) {
  if (offset == nullptr || index >= kernel.parameters.size()) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *offset = kernel.parameters[index].offset;
  if (sizeBytes != nullptr) {
    *sizeBytes = kernel.parameters[index].sizeBytes;
  }
  return CUDA_SUCCESS;
}

/// Runs `use(function)` on the function behind a CUfunction or a CUkernel cast to one.
template <typename Use>
static CUresult withFunction(CUfunction handle, const Use &use) {
  CUresult status = CUDA_SUCCESS;
  const std::shared_ptr<Function> function =
      findFunction(Process::instance().currentContext(), handle, status);
  return function == nullptr ? status : use(*function);
}

/// Runs `use(kernel)` on a valid kernel handle.
template <typename Use>
static CUresult withKernel(CUkernel handle, const Use &use) {
  const std::shared_ptr<LibraryKernel> kernel = Process::instance().kernels.find(handle);
  return kernel == nullptr ? CUDA_ERROR_INVALID_HANDLE : use(*kernel);
}

namespace driver {

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction handle) {
  if (value == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return withFunction(handle, [&](const Function &function) {
    return readAttribute(*value, attribute, *function.module->image, function.index,
                         *function.settings, *function.module->context->device.profile);
  });
}

CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
  return withFunction(handle, [&](const Function &function) {
    return writeAttribute(attribute, value, *function.module->image, function.index,
                          *function.settings, *function.module->context->device.profile);
  });
}

CUresult cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache) {
  return withFunction(handle, [](const Function &) { return CUDA_SUCCESS; });
}

CUresult cuFuncGetModule(CUmodule *module, CUfunction handle) {
  if (module == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return withFunction(handle, [&](const Function &function) {
    *module = reinterpret_cast<CUmodule>(function.module);
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncGetName(const char **name, CUfunction handle) {
  if (name == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return withFunction(handle, [&](const Function &function) {
    *name = function.kernel().name.c_str();
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncGetParamInfo(CUfunction handle, size_t index, size_t *offset, size_t *sizeBytes) {
  return withFunction(handle, [&](const Function &function) {
    return readParameter(function.kernel(), index, offset, sizeBytes);
  });
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction handle) {
  if (state == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return withFunction(handle, [&](const Function &) {
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncLoad(CUfunction handle) {
  return withFunction(handle, [](const Function &) { return CUDA_SUCCESS; });
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel handle) {
  const std::shared_ptr<LibraryKernel> kernel = Process::instance().kernels.find(handle);
  if (function == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (kernel == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  std::shared_ptr<LoadedModule> module;
  const CUresult result =
      moduleInContext(*kernel->library, Process::instance().currentContext(), module);
  if (result == CUDA_SUCCESS) {
    *function = reinterpret_cast<CUfunction>(&module->functions[kernel->index]);
  }
  return result;
}

CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel handle) {
  if (library == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return withKernel(handle, [&](const LibraryKernel &kernel) {
    *library = reinterpret_cast<CUlibrary>(kernel.library);
    return CUDA_SUCCESS;
  });
}

CUresult cuKernelGetName(const char **name, CUkernel handle) {
  if (name == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return withKernel(handle, [&](const LibraryKernel &kernel) {
    *name = kernel.kernel().name.c_str();
    return CUDA_SUCCESS;
  });
}

CUresult cuKernelGetParamInfo(CUkernel handle, size_t index, size_t *offset, size_t *sizeBytes) {
  return withKernel(handle, [&](const LibraryKernel &kernel) {
    return readParameter(kernel.kernel(), index, offset, sizeBytes);
  });
}

CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel handle,
                              CUdevice ordinal) {
  const Device *device = Process::instance().findDevice(ordinal);
  if (value == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (device == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  return withKernel(handle, [&](const LibraryKernel &kernel) {
    return readAttribute(*value, attribute, *kernel.library->image, kernel.index,
                         *kernel.settings.at(ordinal), *device->profile);
  });
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel handle,
                              CUdevice ordinal) {
  const Device *device = Process::instance().findDevice(ordinal);
  if (device == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  return withKernel(handle, [&](const LibraryKernel &kernel) {
    return writeAttribute(attribute, value, *kernel.library->image, kernel.index,
                          *kernel.settings.at(ordinal), *device->profile);
  });
}

} // namespace driver
} // namespace fp8jit::emulator
