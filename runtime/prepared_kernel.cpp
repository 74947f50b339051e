#include "runtime/prepared_kernel.h"

#include "runtime/launch_checks.h"
#include "runtime/result.h"
#include "support/error.h"

#include "llvm/Support/FormatVariadic.h"

#include <utility>

namespace fp8jit {

bool isEmpty(const GemmProblem &problem) {
  return problem.m == 0 || problem.n == 0;
}
bool isEmpty(const QuantProblem &problem) {
  return problem.m == 0 || problem.n == 0;
}
bool isEmpty(const Problem &problem) {
  return std::visit([](const auto &any) { return isEmpty(any); }, problem);
}

template <typename... Pointer>
static PointerAlignment commonAlignment(Pointer... pointers) {
  const std::uintptr_t bits = (reinterpret_cast<std::uintptr_t>(pointers) | ...);
  return bits % 16 == 0 ? PointerAlignment::Bytes16 : PointerAlignment::Element;
}

PointerAlignment alignmentOf(const GemmBuffers &buffers) {
  return commonAlignment(buffers.a, buffers.b, static_cast<const void *>(buffers.d));
}

PointerAlignment alignmentOf(const QuantBuffers &buffers) {
  return commonAlignment(buffers.x, static_cast<const void *>(buffers.q));
}

llvm::Error launchGemm(const LoadedKernel &kernel, llvm::ArrayRef<std::int64_t> grids,
                       const GemmProblem &problem, const GemmBuffers &buffers, Stream stream) {
  GemmParams params = {.a = static_cast<const unsigned char *>(buffers.a),
                       .b = static_cast<const unsigned char *>(buffers.b),
                       .sa = static_cast<const float *>(buffers.sa),
                       .sb = static_cast<const float *>(buffers.sb),
                       .d = buffers.d,
                       .m = static_cast<int>(problem.m),
                       .alpha = buffers.alpha};
  return kernel.launch(grids, &params, stream);
}

llvm::Error launchQuant(const LoadedKernel &kernel, llvm::ArrayRef<std::int64_t> grids,
                        const QuantProblem &problem, const QuantBuffers &buffers, Stream stream,
                        WorkspacePool &workspaces) {
  void *workspace = nullptr;
  // Every kind of quantization that needs any takes 4 bytes (workspaceBytes).
  if (problem.s == ScaleUnit::Tensor) {
    llvm::Expected<void *> piece = workspaces.acquire(stream);
    if (!piece) {
      return piece.takeError();
    }
    workspace = *piece;
  }
  QuantParams params = {.x = buffers.x,
                        .q = static_cast<unsigned char *>(buffers.q),
                        .s = static_cast<float *>(buffers.s),
                        .amax = buffers.amax,
                        .workspace = static_cast<unsigned int *>(workspace),
                        .m = static_cast<int>(problem.m)};
  return kernel.launch(grids, &params, stream);
}

static llvm::Error noKernel(const char *found, const char *expected) {
  return fail(ErrorCode::InvalidArgument,
              llvm::formatv("kernel is {0}, expected {1} from Engine::prepare", found, expected));
}

static llvm::Error unalignedForPrepared() {
  return fail(ErrorCode::InvalidArgument,
              "a prepared kernel got a pointer that is misaligned: expected multiples of 16 bytes, "
              "or a call of the engine, which takes others");
}

Result<void> Kernel::launch(const GemmBuffers &buffers, Stream stream) const {
  const auto *problem = impl_ == nullptr ? nullptr : std::get_if<GemmProblem>(&impl_->problem);
  if (problem == nullptr) {
    return toResult(noKernel(impl_ == nullptr ? "empty" : "a quantization", "a GEMM"));
  }
  if (isEmpty(*problem)) {
    return {};
  }
  if (llvm::Error error = checkGemmBuffers(*problem, buffers)) {
    return toResult(std::move(error));
  }
  if (alignmentOf(buffers) != PointerAlignment::Bytes16) {
    return toResult(unalignedForPrepared());
  }
  return toResult(launchGemm(*impl_->loaded, impl_->grids, *problem, buffers, stream));
}

Result<void> Kernel::launch(const QuantBuffers &buffers, Stream stream) const {
  const auto *problem = impl_ == nullptr ? nullptr : std::get_if<QuantProblem>(&impl_->problem);
  if (problem == nullptr) {
    return toResult(noKernel(impl_ == nullptr ? "empty" : "a GEMM", "a quantization"));
  }
  if (isEmpty(*problem)) {
    return {};
  }
  if (llvm::Error error = checkQuantBuffers(*problem, buffers)) {
    return toResult(std::move(error));
  }
  if (alignmentOf(buffers) != PointerAlignment::Bytes16) {
    return toResult(unalignedForPrepared());
  }
  return toResult(
      launchQuant(*impl_->loaded, impl_->grids, *problem, buffers, stream, *impl_->workspaces));
}

const KernelInfo &Kernel::info() const {
  static const KernelInfo kNothing;
  return impl_ == nullptr ? kNothing : impl_->info;
}

} // namespace fp8jit
