// Placing images in contexts, and finding functions by handle.
#include "emulator/abi/loaded_code.h"

#include "emulator/abi/process.h"

namespace fp8jit::emulator {

const Kernel &Function::kernel() const {
  return module->image->program.kernels[index];
}
const KernelResources &Function::resources() const {
  return module->image->resources[index];
}
const Kernel &LibraryKernel::kernel() const {
  return library->image->program.kernels[index];
}
const KernelResources &LibraryKernel::resources() const {
  return library->image->resources[index];
}

/// Allocates and fills one variable; 0 if memory is exhausted.
static std::uint64_t placeVariable(GlobalMemory &memory, const GlobalVariable &variable) {
  const std::uint64_t sizeBytes = std::max<std::uint64_t>(variable.sizeBytes, 1);
  const std::uint64_t address = memory.allocate(sizeBytes);
  if (address == 0) {
    return 0;
  }
  memory.fill(address, 0, 1, sizeBytes); // variables start as zero, and count as written
  if (!variable.initial.empty()) {
    memory.copyIn(address, variable.initial.data(), variable.initial.size());
  }
  return address;
}

CUresult loadIntoContext(const std::shared_ptr<Context> &context,
                         std::shared_ptr<const CodeImage> image,
                         std::vector<std::shared_ptr<FunctionSettings>> settings,
                         std::shared_ptr<LoadedModule> &module) {
  module = std::make_shared<LoadedModule>();
  module->context = context;
  module->image = std::move(image);
  for (const GlobalVariable &variable : module->image->program.globals) {
    const std::uint64_t address = placeVariable(context->memory, variable);
    if (address == 0) {
      unloadModule(*module);
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    module->globalAddresses.push_back(address);
  }
  Process &process = Process::instance();
  for (std::size_t i = 0; i < module->image->program.kernels.size(); ++i) {
    Function &function = module->functions.emplace_back();
    function.module = module.get();
    function.index = i;
    function.settings =
        settings.empty() ? std::make_shared<FunctionSettings>() : std::move(settings[i]);
    process.functions.add({module, &function});
  }
  process.modules.add(module);
  return CUDA_SUCCESS;
}

void unloadModule(LoadedModule &module) {
  Process &process = Process::instance();
  for (const Function &function : module.functions) {
    process.functions.remove(&function);
  }
  for (const std::uint64_t address : module.globalAddresses) {
    module.context->memory.release(address);
  }
  module.globalAddresses.clear();
  process.modules.remove(&module);
}

CUresult moduleInContext(Library &library, const std::shared_ptr<Context> &context,
                         std::shared_ptr<LoadedModule> &module) {
  const std::lock_guard lock(library.mutex);
  std::weak_ptr<LoadedModule> &slot = library.modules[context->handle];
  module = slot.lock();
  if (module != nullptr && module->context == context) {
    return CUDA_SUCCESS;
  }
  std::vector<std::shared_ptr<FunctionSettings>> settings;
  for (const LibraryKernel &kernel : library.kernels) {
    settings.push_back(kernel.settings.at(context->device.ordinal));
  }
  const CUresult result = loadIntoContext(context, library.image, std::move(settings), module);
  if (result == CUDA_SUCCESS) {
    slot = module;
  }
  return result;
}

std::shared_ptr<Function> findFunction(const std::shared_ptr<Context> &context, CUfunction handle,
                                       CUresult &status) {
  Process &process = Process::instance();
  status = CUDA_ERROR_INVALID_HANDLE;
  if (std::shared_ptr<Function> function = process.functions.find(handle)) {
    status = function->module->context == context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
    return status == CUDA_SUCCESS ? function : nullptr;
  }
  const std::shared_ptr<LibraryKernel> kernel = process.kernels.find(handle);
  if (kernel == nullptr) {
    return nullptr;
  }
  std::shared_ptr<LoadedModule> module;
  status = moduleInContext(*kernel->library, context, module);
  return status == CUDA_SUCCESS
             ? std::shared_ptr<Function>(module, &module->functions[kernel->index])
             : nullptr;
}

} // namespace fp8jit::emulator
