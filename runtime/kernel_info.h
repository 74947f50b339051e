// Filling the public KernelInfo. Main entry: kernelInfo.
#pragma once

#include "runtime/config_choice.h"
#include "runtime/kernel_builder.h"

namespace fp8jit {

/// What is told of a kernel. compileMs and log only where `cache` says that it was compiled now.
KernelInfo kernelInfo(const Problem &problem, const ConfigChoice &choice, const BuiltKernel &built,
                      CacheSource cache);

} // namespace fp8jit
