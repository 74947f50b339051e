// Modules, functions, libraries and kernels as the driver's handles name them.
#pragma once

#include "emulator/ptx/program.h"

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace fp8jit::emulator {

struct Context;
struct Library;
struct PreparedKernel; // emulator/exec/prepared_kernel.h

/// What a kernel occupies.
struct KernelResources {
  std::uint32_t registers = 0;
  bool isRegisterCountKnown = false; ///< from a cubin; else an assumption
  std::uint32_t staticSharedBytes = 0;
  std::uint32_t localBytes = 0;
  std::uint32_t maxThreads = 1024; ///< per block, by launch bounds and registers
  bool launchesDependents = false; ///< executes griddepcontrol.launch_dependents
  bool waitsForGrid = false;       ///< executes griddepcontrol.wait
};

/// A decoded image, independent of contexts. Immutable and shared.
struct CodeImage {
  Module program;
  std::vector<KernelResources> resources;                      ///< of program.kernels, by index
  std::vector<std::shared_ptr<const PreparedKernel>> prepared; ///< the same
};

/// Attributes that a program sets on a function before launching it.
struct FunctionSettings {
  std::atomic<int> maxDynamicShared{-1}; ///< -1: never set
  std::atomic<int> sharedCarveout{-1};
  std::atomic<bool> allowsNonPortableCluster{false};
  std::array<std::atomic<int>, 3> requiredCluster{}; ///< x, y, z; zeros: not set
  std::atomic<int> clusterScheduling{CU_CLUSTER_SCHEDULING_POLICY_DEFAULT}; ///< without effect
};

struct LoadedModule;

/// CUfunction: one kernel of a module loaded in a context.
struct Function {
  LoadedModule *module = nullptr; ///< holds this; handles to a function keep it alive
  std::size_t index = 0;          ///< of the kernel in the image
  std::shared_ptr<FunctionSettings> settings;

  const Kernel &kernel() const;
  const KernelResources &resources() const;
};

/// CUmodule: an image in a context, with its variables placed in device memory.
struct LoadedModule {
  std::shared_ptr<Context> context;
  std::shared_ptr<const CodeImage> image;
  std::vector<std::uint64_t> globalAddresses;
  std::deque<Function> functions; ///< one per kernel of the image
};

/// CUkernel: one kernel of a library, in no context.
struct LibraryKernel {
  Library *library = nullptr; ///< holds this; handles to a kernel keep it alive
  std::size_t index = 0;
  std::map<int, std::shared_ptr<FunctionSettings>> settings; ///< by device, complete and constant

  const Kernel &kernel() const;
  const KernelResources &resources() const;
};

/// CUlibrary: an image that is loaded into a context when first used there.
struct Library {
  std::shared_ptr<const CodeImage> image;
  std::deque<LibraryKernel> kernels; ///< one per kernel of the image

  std::mutex mutex;                                         ///< guards the one below
  std::map<CUcontext, std::weak_ptr<LoadedModule>> modules; ///< expired: the context is gone
};

/// Places the image in `context` and registers module and functions. Settings, one per kernel, are
/// shared with the caller; empty: fresh ones. Returns CUDA_ERROR_OUT_OF_MEMORY if its variables do
/// not fit.
CUresult loadIntoContext(const std::shared_ptr<Context> &context,
                         std::shared_ptr<const CodeImage> image,
                         std::vector<std::shared_ptr<FunctionSettings>> settings,
                         std::shared_ptr<LoadedModule> &module);

/// Releases the module's variables and its handles.
void unloadModule(LoadedModule &module);

/// The module of `library` in `context`, loading it if need be.
CUresult moduleInContext(Library &library, const std::shared_ptr<Context> &context,
                         std::shared_ptr<LoadedModule> &module);

/// Resolves a CUfunction, or a CUkernel cast to one, in `context`; null if it is neither. `status`
/// tells why loading failed.
std::shared_ptr<Function> findFunction(const std::shared_ptr<Context> &context, CUfunction handle,
                                       CUresult &status);

} // namespace fp8jit::emulator
