// What a Kernel handle holds, and the launches that Engine and Kernel share. Main entries:
// launchGemm, launchQuant.
#pragma once

#include "fp8jit/engine.h"
#include "runtime/loaded_kernel.h"
#include "runtime/workspace_pool.h"

#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>

namespace fp8jit {

/// A kernel for one problem with its exact m. Immutable.
struct Kernel::Impl {
  Problem problem;
  std::shared_ptr<const LoadedKernel> loaded; ///< null for an empty problem
  EntryGrids grids;
  std::shared_ptr<WorkspacePool> workspaces;
  KernelInfo info;
};

/// Whether there is nothing to write.
bool isEmpty(const GemmProblem &problem);
bool isEmpty(const QuantProblem &problem);
bool isEmpty(const Problem &problem);

/// What the pointers of a, b and d (x and q) allow.
PointerAlignment alignmentOf(const GemmBuffers &buffers);
PointerAlignment alignmentOf(const QuantBuffers &buffers);

/// Launches with buffers that have been checked. Errors: DriverError.
llvm::Error launchGemm(const LoadedKernel &kernel, llvm::ArrayRef<std::int64_t> grids,
                       const GemmProblem &problem, const GemmBuffers &buffers, Stream stream);
llvm::Error launchQuant(const LoadedKernel &kernel, llvm::ArrayRef<std::int64_t> grids,
                        const QuantProblem &problem, const QuantBuffers &buffers, Stream stream,
                        WorkspacePool &workspaces);

} // namespace fp8jit
