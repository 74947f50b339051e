// From what a program passes to cuModuleLoadData to a decoded image: PTX text, or a cubin whose PTX
// was paired with it.
#pragma once

#include "emulator/abi/loaded_code.h"
#include "emulator/abi/paired_binaries.h"
#include "generator/profiles/gpu_profile.h"

#include <cuda.h>

#include <memory>
#include <string>

namespace fp8jit::emulator {

/// Why an image was refused.
struct ImageError {
  CUresult result = CUDA_SUCCESS;
  std::string log; ///< for the program's error log buffer
};

/// Decodes `image` (not null) for `gpu`. Null, with `error` filled, if it is refused:
/// CUDA_ERROR_INVALID_IMAGE neither PTX nor a binary, CUDA_ERROR_INVALID_PTX,
/// CUDA_ERROR_UNSUPPORTED_PTX_VERSION, CUDA_ERROR_NO_BINARY_FOR_GPU for a cubin that was not paired
/// or is for another architecture.
std::shared_ptr<const CodeImage> decodeImage(const void *image, const GpuProfile &gpu,
                                             const PairedBinaries &pairs, ImageError &error);

/// Threads per block that `registers` per thread allow on `gpu`, at most 1024.
std::uint32_t threadsByRegisters(const GpuProfile &gpu, std::uint32_t registers);

} // namespace fp8jit::emulator
