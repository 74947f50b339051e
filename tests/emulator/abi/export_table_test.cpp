// The project's own table: identity, fault injection, settings.
#include "tests/emulator/abi/driver_under_test.h"

#include <cstdlib>
#include <string>

namespace fp8jit::testing {
namespace {

using ExportTableTest = DriverTest;

} // namespace

TEST_F(ExportTableTest, IdentifiesItself) {
  EXPECT_EQ(table.version, 2U);
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
  EXPECT_EQ(table.setAsyncMode(static_cast<EmulatorAsyncMode>(3), 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(table.setRaceChecking(2), CUDA_ERROR_INVALID_VALUE);
  EmulatorCounters counters{};
  EXPECT_EQ(table.readCounters(&counters, sizeof counters + 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportTableTest, WritesNoMoreCountersThanTheCallerHas) {
  EmulatorCounters counters{};
  counters.bulkLoadBytes = 77;

  EXPECT_EQ(table.lastCounters(&counters), CUDA_SUCCESS);
  EXPECT_EQ(counters.bulkLoadBytes, 77U) << "callers of version 1 have no such member";
  EXPECT_EQ(table.readCounters(&counters, sizeof counters), CUDA_SUCCESS);
  EXPECT_EQ(counters.bulkLoadBytes, 0U);
}

/// Starts the driver with `variable` set to `value` and ends the process with status 0.
static void startWith(const char *variable, const char *value) {
  ::setenv(variable, value, 1);
  driverFunctions().init(0);
  std::exit(0);
}

TEST(EnvironmentDeathTest, SaysWhatItCannotUnderstand) {
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // each case is a process of its own
  EXPECT_EXIT(startWith("FP8JIT_EMULATOR_MODE", "slow"), ::testing::ExitedWithCode(0),
              "FP8JIT_EMULATOR_MODE: found slow, expected eager, lazy or random:SEED");
  EXPECT_EXIT(startWith("FP8JIT_EMULATOR_THREADS", "many"), ::testing::ExitedWithCode(0),
              "FP8JIT_EMULATOR_THREADS: found many");
  EXPECT_EXIT(startWith("FP8JIT_EMULATOR_MODE", "random:17"), ::testing::ExitedWithCode(0), "^$");
}

} // namespace fp8jit::testing
