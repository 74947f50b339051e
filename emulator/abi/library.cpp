// Libraries and kernels: code that belongs to no context and is loaded where it is used.
#include "emulator/abi/code_image.h"
#include "emulator/abi/jit_options.h"
#include "emulator/abi/process.h"
#include "entry_points.h"

#include <algorithm>

namespace fp8jit::emulator {

/// The image for the GPU of the current context; without one, for the first GPU that takes it.
static std::shared_ptr<const CodeImage> decodeForAnyGpu(Process &process, const void *code,
                                                        ImageError &error) {
  if (const std::shared_ptr<Context> context = process.currentContext()) {
    return decodeImage(code, *context->device.profile, process.pairedBinaries, error);
  }
  ImageError first;
  for (const Device &device : process.devices) {
    ImageError found;
    if (auto image = decodeImage(code, *device.profile, process.pairedBinaries, found)) {
      return image;
    }
    first = first.result == CUDA_SUCCESS ? found : first;
  }
  error = first;
  return nullptr;
}

static std::shared_ptr<Library> makeLibrary(Process &process,
                                            std::shared_ptr<const CodeImage> image) {
  auto library = std::make_shared<Library>();
  library->image = std::move(image);
  for (std::size_t i = 0; i < library->image->program.kernels.size(); ++i) {
    LibraryKernel &kernel = library->kernels.emplace_back();
    kernel.library = library.get();
    kernel.index = i;
    for (const Device &device : process.devices) {
      kernel.settings.emplace(device.ordinal, std::make_shared<FunctionSettings>());
    }
    process.kernels.add({library, &kernel});
  }
  process.libraries.add(library);
  return library;
}

/// Runs `use(library)` on a valid handle with a valid place for the answer.
template <typename Use>
static CUresult withLibrary(CUlibrary handle, const void *answer, const Use &use) {
  const std::shared_ptr<Library> library = Process::instance().libraries.find(handle);
  if (answer == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return library == nullptr ? CUDA_ERROR_INVALID_HANDLE : use(*library);
}

namespace driver {

CUresult cuLibraryLoadData(CUlibrary *handle, const void *code, CUjit_option *jitOptions,
                           void **jitValues, unsigned int jitCount, CUlibraryOption *libraryOptions,
                           void **, unsigned int libraryCount) {
  Process &process = Process::instance();
  const bool hasJit = jitOptions != nullptr && jitValues != nullptr;
  if (handle == nullptr || code == nullptr || (jitCount > 0 && !hasJit) ||
      (libraryCount > 0 && libraryOptions == nullptr)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  ImageError error;
  std::shared_ptr<const CodeImage> image = decodeForAnyGpu(process, code, error);
  writeLogs({jitCount, jitOptions, jitValues}, error.log);
  if (image == nullptr) {
    return error.result;
  }
  *handle = reinterpret_cast<CUlibrary>(makeLibrary(process, std::move(image)).get());
  return CUDA_SUCCESS;
}

CUresult cuLibraryUnload(CUlibrary handle) {
  Process &process = Process::instance();
  const std::shared_ptr<Library> library = process.libraries.remove(handle);
  if (library == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  for (const LibraryKernel &kernel : library->kernels) {
    process.kernels.remove(&kernel);
  }
  const std::lock_guard lock(library->mutex);
  for (const auto &entry : library->modules) {
    if (const std::shared_ptr<LoadedModule> module = entry.second.lock()) {
      unloadModule(*module);
    }
  }
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary handle, const char *name) {
  if (name == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return withLibrary(handle, kernel, [&](Library &library) {
    for (LibraryKernel &candidate : library.kernels) {
      if (candidate.kernel().name == name) {
        *kernel = reinterpret_cast<CUkernel>(&candidate);
        return CUDA_SUCCESS;
      }
    }
    return CUDA_ERROR_NOT_FOUND;
  });
}

CUresult cuLibraryGetKernelCount(unsigned int *count, CUlibrary handle) {
  return withLibrary(handle, count, [&](const Library &library) {
    *count = static_cast<unsigned>(library.kernels.size());
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int count, CUlibrary handle) {
  if (count == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return withLibrary(handle, kernels, [&](Library &library) {
    for (std::size_t i = 0; i < std::min<std::size_t>(count, library.kernels.size()); ++i) {
      kernels[i] = reinterpret_cast<CUkernel>(&library.kernels[i]);
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryGetModule(CUmodule *handle, CUlibrary libraryHandle) {
  return withLibrary(libraryHandle, handle, [&](Library &library) {
    std::shared_ptr<LoadedModule> module;
    const CUresult result = moduleInContext(library, Process::instance().currentContext(), module);
    if (result == CUDA_SUCCESS) {
      *handle = reinterpret_cast<CUmodule>(module.get());
    }
    return result;
  });
}

CUresult cuLibraryGetGlobal(CUdeviceptr *pointer, size_t *sizeBytes, CUlibrary library,
                            const char *name) {
  CUmodule module = nullptr;
  const CUresult result = driver::cuLibraryGetModule(&module, library);
  return result == CUDA_SUCCESS ? driver::cuModuleGetGlobal_v2(pointer, sizeBytes, module, name)
                                : result;
}

} // namespace driver
} // namespace fp8jit::emulator
