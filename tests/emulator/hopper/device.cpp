// Contexts, buffers, tensor maps and launches for the scenarios.
#include "tests/emulator/hopper/device.h"

namespace fp8jit::testing {

static constexpr CUdevice kHopper = 1; // the emulator's second device

std::string Mode::name() const {
  switch (async) {
  case EmulatorAsyncMode::Eager:
    return "eager";
  case EmulatorAsyncMode::Lazy:
    return "lazy";
  case EmulatorAsyncMode::Random:
    return "random:" + std::to_string(seed);
  }
  return "";
}

std::vector<Mode> allModes() {
  std::vector<Mode> modes = {{EmulatorAsyncMode::Lazy, 0}};
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    modes.push_back({EmulatorAsyncMode::Random, seed});
  }
  modes.push_back({EmulatorAsyncMode::Eager, 0});
  return modes;
}

Device::Device(const std::string &ptx, const Mode &mode) {
  EXPECT_EQ(table_.setStrictness(EmulatorStrictness::Strict), 0);
  EXPECT_EQ(table_.setAsyncMode(mode.async, mode.seed), 0);
  CUcontext context = nullptr;
  EXPECT_EQ(cu_.init(0), CUDA_SUCCESS);
  EXPECT_EQ(cu_.primaryCtxRetain(&context, kHopper), CUDA_SUCCESS);
  EXPECT_EQ(cu_.ctxSetCurrent(context), CUDA_SUCCESS);
  keep(cu_.moduleLoadData(&module_, ptx.c_str()));
}

Device::~Device() {
  EXPECT_EQ(cu_.ctxSetCurrent(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cu_.primaryCtxReset(kHopper), CUDA_SUCCESS);
  EXPECT_EQ(cu_.primaryCtxRelease(kHopper), CUDA_SUCCESS);
}

void Device::keep(CUresult result) {
  if (status_ == CUDA_SUCCESS) {
    status_ = result;
  }
}

CUdeviceptr Device::uploadBytes(const void *values, std::size_t bytes) {
  CUdeviceptr address = 0;
  if (status_ == CUDA_SUCCESS) {
    keep(cu_.memAlloc(&address, bytes));
    keep(cu_.memcpyHtoD(address, values, bytes));
  }
  return address;
}

void Device::downloadBytes(void *values, CUdeviceptr address, std::size_t bytes) {
  if (status_ == CUDA_SUCCESS) {
    keep(cu_.memcpyDtoH(values, address, bytes));
  }
}

CUtensorMap Device::encode(const MatrixMap &matrix) {
  CUtensorMap map{};
  const cuuint64_t dims[] = {matrix.columns, matrix.rows};
  const cuuint64_t dense = std::uint64_t{matrix.columns} * matrix.elementBytes;
  const cuuint64_t pitch[] = {matrix.pitchBytes == 0 ? dense : matrix.pitchBytes};
  const cuuint32_t box[] = {matrix.boxColumns, matrix.boxRows};
  const cuuint32_t steps[] = {1, 1};
  if (status_ == CUDA_SUCCESS) {
    keep(cu_.tensorMapEncodeTiled(&map, matrix.type, 2, reinterpret_cast<void *>(matrix.address),
                                  dims, pitch, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                  matrix.swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  }
  return map;
}

void Device::launchPointers(const char *kernel, const LaunchShape &shape, void **arguments) {
  CUfunction function = nullptr;
  if (status_ != CUDA_SUCCESS) {
    return;
  }
  keep(cu_.moduleGetFunction(&function, module_, kernel));
  if (shape.sharedBytes != 0 && status_ == CUDA_SUCCESS) {
    keep(cu_.funcSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                              static_cast<int>(shape.sharedBytes)));
  }
  CUlaunchAttribute dependent{};
  dependent.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  dependent.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config{};
  config.gridDimX = shape.gridX;
  config.gridDimY = shape.gridY;
  config.gridDimZ = shape.gridZ;
  config.blockDimX = shape.block;
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = shape.sharedBytes;
  config.attrs = shape.isDependent ? &dependent : nullptr;
  config.numAttrs = shape.isDependent ? 1 : 0;
  if (status_ == CUDA_SUCCESS) {
    keep(cu_.launchKernelEx(&config, function, arguments, nullptr));
    keep(cu_.ctxSynchronize());
  }
}

} // namespace fp8jit::testing
