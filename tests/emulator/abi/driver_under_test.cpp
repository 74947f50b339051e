// Loading of the library and the PTX of the tests.
#include "tests/emulator/abi/driver_under_test.h"

#include <algorithm>
#include <dlfcn.h>
#include <iterator>

namespace fp8jit::testing {

const char *const kTestPtx = R"ptx(
.version 8.4
.target sm_89
.address_size 64

.visible .global .align 4 .u32 counter[2] = {7, 9};

.visible .entry vector_add(.param .u64 p_out, .param .u64 p_a, .param .u64 p_b, .param .u32 p_n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<10>;
  ld.param.u64 %rd1, [p_out];
  ld.param.u64 %rd2, [p_a];
  ld.param.u64 %rd3, [p_b];
  ld.param.u32 %r1, [p_n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra DONE;
  mul.wide.u32 %rd4, %r5, 4;
  add.s64 %rd5, %rd2, %rd4;
  add.s64 %rd6, %rd3, %rd4;
  add.s64 %rd7, %rd1, %rd4;
  ld.global.f32 %f1, [%rd5];
  ld.global.f32 %f2, [%rd6];
  add.f32 %f3, %f1, %f2;
  st.global.f32 [%rd7], %f3;
DONE:
  ret;
}

.visible .entry store_at(.param .u64 p_address, .param .u32 p_value)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p_address];
  ld.param.u32 %r1, [p_value];
  st.global.u32 [%rd1], %r1;
  ret;
}

.visible .entry trap_now()
{
  trap;
}

.visible .entry stuck()
{
  bar.sync 0, 64;
  ret;
}

.visible .entry shared_fill(.param .u64 p_out)
{
  .shared .align 4 .b8 tile[256];
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p_out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, tile;
  st.shared.u32 [%r2], %r1;
  ld.shared.u32 %r3, [%r2];
  st.global.u32 [%rd1], %r3;
  ret;
}

.visible .entry bounded()
.maxntid 64, 1, 1
{
  ret;
}
)ptx";

void *driverLibrary() {
  static void *const library = dlopen(FP8JIT_EMULATOR_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    ADD_FAILURE() << dlerror();
  }
  return library;
}

void *driverSymbol(const char *name) {
  void *library = driverLibrary();
  return library == nullptr ? nullptr : dlsym(library, name);
}

template <typename Function>
static void load(Function &function, const char *name) {
  function = reinterpret_cast<Function>(driverSymbol(name));
  if (function == nullptr) {
    ADD_FAILURE() << name << " is not exported";
  }
}

static DriverFunctions loadFunctions() {
  DriverFunctions f{};
  load(f.init, "cuInit");
  load(f.driverGetVersion, "cuDriverGetVersion");
  load(f.getErrorName, "cuGetErrorName");
  load(f.getErrorString, "cuGetErrorString");
  load(f.getProcAddress, "cuGetProcAddress_v2");
  load(f.getExportTable, "cuGetExportTable");
  load(f.deviceGet, "cuDeviceGet");
  load(f.deviceGetCount, "cuDeviceGetCount");
  load(f.deviceGetName, "cuDeviceGetName");
  load(f.deviceGetAttribute, "cuDeviceGetAttribute");
  load(f.deviceTotalMem, "cuDeviceTotalMem_v2");
  load(f.primaryCtxRetain, "cuDevicePrimaryCtxRetain");
  load(f.primaryCtxRelease, "cuDevicePrimaryCtxRelease_v2");
  load(f.primaryCtxReset, "cuDevicePrimaryCtxReset_v2");
  load(f.primaryCtxGetState, "cuDevicePrimaryCtxGetState");
  load(f.ctxCreate, "cuCtxCreate_v4");
  load(f.ctxDestroy, "cuCtxDestroy_v2");
  load(f.ctxPushCurrent, "cuCtxPushCurrent_v2");
  load(f.ctxPopCurrent, "cuCtxPopCurrent_v2");
  load(f.ctxSetCurrent, "cuCtxSetCurrent");
  load(f.ctxGetCurrent, "cuCtxGetCurrent");
  load(f.ctxGetDevice, "cuCtxGetDevice");
  load(f.ctxSynchronize, "cuCtxSynchronize");
  load(f.memGetInfo, "cuMemGetInfo_v2");
  load(f.memAlloc, "cuMemAlloc_v2");
  load(f.memFree, "cuMemFree_v2");
  load(f.memAllocHost, "cuMemAllocHost_v2");
  load(f.memFreeHost, "cuMemFreeHost");
  load(f.memHostRegister, "cuMemHostRegister_v2");
  load(f.memHostUnregister, "cuMemHostUnregister");
  load(f.memcpyUnified, "cuMemcpy");
  load(f.memcpyHtoD, "cuMemcpyHtoD_v2");
  load(f.memcpyDtoH, "cuMemcpyDtoH_v2");
  load(f.memcpyDtoD, "cuMemcpyDtoD_v2");
  load(f.memcpyHtoDAsync, "cuMemcpyHtoDAsync_v2");
  load(f.memsetD8, "cuMemsetD8_v2");
  load(f.memsetD16, "cuMemsetD16_v2");
  load(f.memsetD32, "cuMemsetD32_v2");
  load(f.pointerGetAttribute, "cuPointerGetAttribute");
  load(f.streamCreate, "cuStreamCreate");
  load(f.streamDestroy, "cuStreamDestroy_v2");
  load(f.streamSynchronize, "cuStreamSynchronize");
  load(f.streamWaitEvent, "cuStreamWaitEvent");
  load(f.streamIsCapturing, "cuStreamIsCapturing");
  load(f.streamBeginCapture, "cuStreamBeginCapture_v2");
  load(f.eventCreate, "cuEventCreate");
  load(f.eventDestroy, "cuEventDestroy_v2");
  load(f.eventRecord, "cuEventRecord");
  load(f.eventSynchronize, "cuEventSynchronize");
  load(f.eventElapsedTime, "cuEventElapsedTime_v2");
  load(f.moduleLoadData, "cuModuleLoadData");
  load(f.moduleLoadDataEx, "cuModuleLoadDataEx");
  load(f.moduleUnload, "cuModuleUnload");
  load(f.moduleGetFunction, "cuModuleGetFunction");
  load(f.moduleGetGlobal, "cuModuleGetGlobal_v2");
  load(f.libraryLoadData, "cuLibraryLoadData");
  load(f.libraryUnload, "cuLibraryUnload");
  load(f.libraryGetKernel, "cuLibraryGetKernel");
  load(f.libraryGetKernelCount, "cuLibraryGetKernelCount");
  load(f.kernelGetFunction, "cuKernelGetFunction");
  load(f.kernelGetAttribute, "cuKernelGetAttribute");
  load(f.kernelSetAttribute, "cuKernelSetAttribute");
  load(f.kernelGetParamInfo, "cuKernelGetParamInfo");
  load(f.funcGetAttribute, "cuFuncGetAttribute");
  load(f.funcSetAttribute, "cuFuncSetAttribute");
  load(f.launchKernel, "cuLaunchKernel");
  load(f.launchKernelEx, "cuLaunchKernelEx");
  load(f.occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  load(f.maxActiveClusters, "cuOccupancyMaxActiveClusters");
  load(f.maxPotentialClusterSize, "cuOccupancyMaxPotentialClusterSize");
  load(f.launchCooperativeKernel, "cuLaunchCooperativeKernel");
  load(f.tensorMapEncodeTiled, "cuTensorMapEncodeTiled");
  load(f.tensorMapReplaceAddress, "cuTensorMapReplaceAddress");
  return f;
}

const DriverFunctions &driverFunctions() {
  static const DriverFunctions functions = loadFunctions();
  return functions;
}

const EmulatorTable &emulatorTable() {
  CUuuid id{};
  std::copy(std::begin(kEmulatorTableUuid), std::end(kEmulatorTableUuid), id.bytes);
  const void *table = nullptr;
  EXPECT_EQ(driverFunctions().getExportTable(&table, &id), CUDA_SUCCESS);
  return *static_cast<const EmulatorTable *>(table);
}

void DriverTest::SetUp() {
  ASSERT_EQ(table.injectFault(nullptr, 0, 0), 0);
  ASSERT_EQ(table.setStrictness(EmulatorStrictness::Strict), 0);
  ASSERT_EQ(table.setBlockSample(0), 0);
  ASSERT_EQ(cu.init(0), CUDA_SUCCESS);
  ASSERT_EQ(cu.primaryCtxRetain(&context, ordinal_), CUDA_SUCCESS);
  ASSERT_EQ(cu.ctxSetCurrent(context), CUDA_SUCCESS);
}

void DriverTest::TearDown() {
  EXPECT_EQ(table.injectFault(nullptr, 0, 0), 0);
  EXPECT_EQ(cu.ctxSetCurrent(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cu.primaryCtxRelease(ordinal_), CUDA_SUCCESS);
}

} // namespace fp8jit::testing
