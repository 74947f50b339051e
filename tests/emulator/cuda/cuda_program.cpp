// Loading of libcuda.so.1 and of kernels.cu.
#include "tests/emulator/cuda/cuda_program.h"

#include "runtime/nvrtc_compiler.h"
#include "support/error.h"

#include <dlfcn.h>
#include <fstream>
#include <sstream>

namespace fp8jit::testing {

template <typename Function>
static void load(void *library, Function &function, const char *name) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  EXPECT_NE(function, nullptr) << name;
}

/// The driver under its usual name; where it lies is the loader's business.
static Cuda loadDriver() {
  Cuda cu{};
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) {
    ADD_FAILURE() << dlerror();
    return cu;
  }
  load(library, cu.init, "cuInit");
  load(library, cu.getErrorName, "cuGetErrorName");
  load(library, cu.deviceGetCount, "cuDeviceGetCount");
  load(library, cu.deviceGet, "cuDeviceGet");
  load(library, cu.deviceGetAttribute, "cuDeviceGetAttribute");
  load(library, cu.primaryCtxRetain, "cuDevicePrimaryCtxRetain");
  load(library, cu.primaryCtxRelease, "cuDevicePrimaryCtxRelease_v2");
  load(library, cu.primaryCtxReset, "cuDevicePrimaryCtxReset_v2");
  load(library, cu.ctxSetCurrent, "cuCtxSetCurrent");
  load(library, cu.ctxSynchronize, "cuCtxSynchronize");
  load(library, cu.memAlloc, "cuMemAlloc_v2");
  load(library, cu.memFree, "cuMemFree_v2");
  load(library, cu.memcpyHtoD, "cuMemcpyHtoD_v2");
  load(library, cu.memcpyDtoH, "cuMemcpyDtoH_v2");
  load(library, cu.moduleLoadData, "cuModuleLoadData");
  load(library, cu.moduleUnload, "cuModuleUnload");
  load(library, cu.moduleGetFunction, "cuModuleGetFunction");
  load(library, cu.launchKernel, "cuLaunchKernel");
  return cu;
}

/// PTX of kernels.cu for `arch`, compiled once per process and architecture.
static std::string compileKernels(const std::string &arch) {
  std::ifstream file(FP8JIT_CUDA_KERNELS);
  std::stringstream source;
  source << file.rdbuf();
  const auto compiler = NvrtcCompiler::create();
  llvm::Expected<CompiledProgram> program =
      compiler->compile({.source = source.str(),
                         .options = {"-arch=" + arch, "-std=c++17", "-modify-stack-limit=false",
                                     "--no-cache", std::string("-I") + FP8JIT_CUDA_INCLUDES}});
  if (!program) {
    const FailureInfo failure = takeFailure(program.takeError());
    ADD_FAILURE() << failure.text() << "\n" << failure.details();
    return {};
  }
  return program->ptx;
}

static const std::string &kernelsFor(const std::string &arch) {
  static const std::string plain = compileKernels("sm_90");
  static const std::string specific = compileKernels("sm_90a");
  return arch == "sm_90" ? plain : specific;
}

void CudaProgram::check(CUresult result) {
  const char *name = nullptr;
  cu.getErrorName(result, &name);
  EXPECT_EQ(result, CUDA_SUCCESS) << (name == nullptr ? "" : name);
}

void CudaProgram::SetUp() {
  cu = loadDriver();
  ASSERT_NE(cu.init, nullptr);
  check(cu.init(0));
  int count = 0;
  check(cu.deviceGetCount(&count));
  int major = 0;
  for (int i = 0; i < count && major != 9; ++i) {
    check(cu.deviceGet(&device, i));
    check(cu.deviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  }
  ASSERT_EQ(major, 9) << "no device of compute capability 9.0 among " << count;
  check(cu.primaryCtxRetain(&context, device));
  check(cu.ctxSetCurrent(context));
  const std::string &ptx = kernelsFor(GetParam());
  check(cu.moduleLoadData(&module, ptx.c_str()));
  ASSERT_NE(module, nullptr);
}

void CudaProgram::TearDown() {
  cu.ctxSetCurrent(nullptr);
  // After a fault the context is lost, and the next test starts with a fresh one.
  check(cu.primaryCtxReset(device));
  check(cu.primaryCtxRelease(device));
}

} // namespace fp8jit::testing
