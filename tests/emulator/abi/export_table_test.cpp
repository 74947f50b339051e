// The project's own table: identity, fault injection, settings.
#include "tests/emulator/abi/driver_under_test.h"

#include <string>

namespace fp8jit::testing {
namespace {

using ExportTableTest = DriverTest;

} // namespace

TEST_F(ExportTableTest, IdentifiesItself) {
  EXPECT_EQ(table.version, 1U);
  EXPECT_GE(table.sizeBytes, sizeof(EmulatorTable));
  EXPECT_TRUE(std::string(table.identity()).starts_with("fp8jit-emulator "));
}

TEST_F(ExportTableTest, IsFoundByItsUuidOnly) {
  CUuuid id{};
  const void *found = &id;

  EXPECT_EQ(cu.getExportTable(&found, &id), CUDA_ERROR_NOT_FOUND);

  EXPECT_EQ(found, nullptr);
}

TEST_F(ExportTableTest, InjectsAFaultIntoTheChosenCall) {
  CUdeviceptr pointer = 0;
  ASSERT_EQ(table.injectFault("cuMemAlloc", 2, CUDA_ERROR_ECC_UNCORRECTABLE), 0);

  EXPECT_EQ(cu.memAlloc(&pointer, 4), CUDA_SUCCESS);
  EXPECT_EQ(cu.memAlloc(&pointer, 4), CUDA_ERROR_ECC_UNCORRECTABLE);
  EXPECT_EQ(cu.memAlloc(&pointer, 4), CUDA_SUCCESS);
}

TEST_F(ExportTableTest, InjectsByVersionedNameAndForgetsOnRequest) {
  CUdeviceptr pointer = 0;
  ASSERT_EQ(table.injectFault("cuMemAlloc_v2", 1, CUDA_ERROR_OUT_OF_MEMORY), 0);
  EXPECT_EQ(cu.memAlloc(&pointer, 4), CUDA_ERROR_OUT_OF_MEMORY);

  ASSERT_EQ(table.injectFault("cuCtxSynchronize", 1, CUDA_ERROR_UNKNOWN), 0);
  ASSERT_EQ(table.injectFault(nullptr, 0, 0), 0);
  EXPECT_EQ(cu.ctxSynchronize(), CUDA_SUCCESS);
}

TEST_F(ExportTableTest, RefusesMisuse) {
  EXPECT_EQ(table.injectFault("cuInit", 0, CUDA_ERROR_UNKNOWN), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(table.pairBinary(nullptr, 1, "x", 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(table.lastCounters(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(table.lastModelledNs(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(table.setStrictness(static_cast<EmulatorStrictness>(7)), CUDA_ERROR_INVALID_VALUE);
}

} // namespace fp8jit::testing
