// Modules: loading images into the current context, functions and variables by name.
#include "emulator/abi/code_image.h"
#include "emulator/abi/jit_options.h"
#include "emulator/abi/process.h"
#include "entry_points.h"

#include <algorithm>

namespace fp8jit::emulator::driver {

CUresult cuModuleLoadDataEx(CUmodule *handle, const void *image, unsigned int optionCount,
                            CUjit_option *options, void **optionValues) {
  Process &process = Process::instance();
  const std::shared_ptr<Context> context = process.currentContext();
  const bool hasOptions = options != nullptr && optionValues != nullptr;
  if (handle == nullptr || image == nullptr || (optionCount > 0 && !hasOptions)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  ImageError error;
  std::shared_ptr<const CodeImage> decoded =
      decodeImage(image, *context->device.profile, process.pairedBinaries, error);
  writeLogs({optionCount, options, optionValues}, error.log);
  if (decoded == nullptr) {
    return error.result;
  }
  std::shared_ptr<LoadedModule> module;
  const CUresult result = loadIntoContext(context, std::move(decoded), {}, module);
  if (result == CUDA_SUCCESS) {
    *handle = reinterpret_cast<CUmodule>(module.get());
  }
  return result;
}

CUresult cuModuleLoadData(CUmodule *handle, const void *image) {
  return driver::cuModuleLoadDataEx(handle, image, 0, nullptr, nullptr);
}

CUresult cuModuleUnload(CUmodule handle) {
  const std::shared_ptr<LoadedModule> module = Process::instance().modules.find(handle);
  if (module == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  unloadModule(*module);
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule handle, const char *name) {
  const std::shared_ptr<LoadedModule> module = Process::instance().modules.find(handle);
  if (function == nullptr || name == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (module == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  for (Function &candidate : module->functions) {
    if (candidate.kernel().name == name) {
      *function = reinterpret_cast<CUfunction>(&candidate);
      return CUDA_SUCCESS;
    }
  }
  return CUDA_ERROR_NOT_FOUND;
}

CUresult cuModuleGetFunctionCount(unsigned int *count, CUmodule handle) {
  const std::shared_ptr<LoadedModule> module = Process::instance().modules.find(handle);
  if (count == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (module == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  *count = static_cast<unsigned>(module->functions.size());
  return CUDA_SUCCESS;
}

CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int count, CUmodule handle) {
  const std::shared_ptr<LoadedModule> module = Process::instance().modules.find(handle);
  if (functions == nullptr || count == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (module == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(count, module->functions.size()); ++i) {
    functions[i] = reinterpret_cast<CUfunction>(&module->functions[i]);
  }
  return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *pointer, size_t *sizeBytes, CUmodule handle,
                              const char *name) {
  const std::shared_ptr<LoadedModule> module = Process::instance().modules.find(handle);
  if (name == nullptr || (pointer == nullptr && sizeBytes == nullptr)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (module == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  const std::vector<GlobalVariable> &globals = module->image->program.globals;
  const auto found = std::find_if(globals.begin(), globals.end(),
                                  [&](const GlobalVariable &v) { return v.name == name; });
  if (found == globals.end()) {
    return CUDA_ERROR_NOT_FOUND;
  }
  if (pointer != nullptr) {
    *pointer = module->globalAddresses[static_cast<std::size_t>(found - globals.begin())];
  }
  if (sizeBytes != nullptr) {
    *sizeBytes = found->sizeBytes;
  }
  return CUDA_SUCCESS;
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
  if (mode == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *mode = CU_MODULE_EAGER_LOADING;
  return CUDA_SUCCESS;
}

} // namespace fp8jit::emulator::driver
