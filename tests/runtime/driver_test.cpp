// Loading drivers: what is missing is said with its remedy, caused for real where possible.
#include "runtime/device_search.h"
#include "runtime/driver/driver.h"
#include "tests/runtime/fake_driver.h"
#include "tests/support/matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace fp8jit {

using testing::FakeDriver;
using ::testing::HasSubstr;

TEST(DriverTest, SaysWhichLibraryIsMissing) {
  const testing::Outcome outcome = testing::outcomeOf(Driver::load("/nowhere/libcuda.so.1"));

  EXPECT_EQ(outcome.code, ErrorCode::NoDevice);
  EXPECT_THAT(outcome.message, HasSubstr("/nowhere/libcuda.so.1"));
  EXPECT_THAT(outcome.message, HasSubstr("install the NVIDIA driver"));
}

TEST(DriverTest, RecognisesTheStubOfTheToolkit) {
  const std::string stub = std::string(FP8JIT_CUDA_PREFIX) + "/lib64/stubs/libcuda.so";
  if (!std::filesystem::exists(stub)) {
    GTEST_SKIP() << "no " << stub;
  }

  const testing::Outcome outcome = testing::outcomeOf(Driver::load(stub));

  EXPECT_EQ(outcome.code, ErrorCode::NoDevice);
  EXPECT_THAT(outcome.message, HasSubstr("(34)"));
  EXPECT_THAT(outcome.message, HasSubstr("stub"));
}

TEST(DriverTest, RefusesALibraryThatIsNoDriver) {
  const testing::Outcome outcome = testing::outcomeOf(Driver::load("libm.so.6"));

  EXPECT_EQ(outcome.code, ErrorCode::NoDevice);
  EXPECT_THAT(outcome.message, HasSubstr("cuGetProcAddress"));
  EXPECT_THAT(outcome.message, HasSubstr("update the NVIDIA driver"));
}

TEST(DriverTest, EachStateWithoutDeviceHasItsRemedy) {
  const std::pair<CUresult, const char *> cases[] = {
      {CUDA_ERROR_STUB_LIBRARY, "stub"},
      {CUDA_ERROR_NO_DEVICE, "CUDA_VISIBLE_DEVICES"},
      {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "reboot"},
      {CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, "cuda-compat"},
      {CUDA_ERROR_SYSTEM_NOT_READY, "fabricmanager"},
      {CUDA_ERROR_UNKNOWN, "nvidia-smi"},
  };
  for (const auto &[result, remedy] : cases) {
    SCOPED_TRACE(static_cast<int>(result));
    FakeDriver::reset().initResult = result;

    const testing::Outcome outcome =
        testing::outcomeOf(Driver::fromTable(FakeDriver::table(), "fake"));

    EXPECT_EQ(outcome.code, ErrorCode::NoDevice);
    EXPECT_THAT(outcome.message, HasSubstr(remedy));
  }
}

TEST(DriverTest, TellsTheEmulatorFromARealDriver) {
  FakeDriver &fake = FakeDriver::reset();

  llvm::Expected<std::shared_ptr<const Driver>> real =
      Driver::fromTable(FakeDriver::table(), "fake");
  fake.isEmulator = true;
  llvm::Expected<std::shared_ptr<const Driver>> emulator =
      Driver::fromTable(FakeDriver::table(), "fake");

  ASSERT_OK(real);
  ASSERT_OK(emulator);
  EXPECT_EQ((*real)->emulator(), nullptr);
  EXPECT_NE((*emulator)->emulator(), nullptr);
}

TEST(DriverTest, RefusesAnEmulatorOfAnOlderBuild) {
  FakeDriver &fake = FakeDriver::reset();
  fake.isEmulator = true;
  fake.emulatorTableBytes = sizeof(EmulatorTable) - 8;

  const testing::Outcome outcome =
      testing::outcomeOf(Driver::fromTable(FakeDriver::table(), "fake"));

  EXPECT_EQ(outcome.code, ErrorCode::NoDevice);
  EXPECT_THAT(outcome.message, HasSubstr("older than this build"));
}

TEST(DeviceNameTest, ReadsBothForms) {
  llvm::Expected<DeviceName> cuda = parseDeviceName("cuda:12");
  llvm::Expected<DeviceName> emulator = parseDeviceName("emulator:sm_89");
  llvm::Expected<DeviceName> none = parseDeviceName("");

  ASSERT_OK(cuda);
  ASSERT_OK(emulator);
  ASSERT_OK(none);
  EXPECT_EQ(cuda->ordinal, 12);
  EXPECT_FALSE(cuda->isEmulator);
  EXPECT_TRUE(emulator->isEmulator);
  EXPECT_EQ(emulator->arch, "sm_89");
  EXPECT_EQ(none->text, "cuda:0");
}

TEST(DeviceNameTest, RefusesOtherNames) {
  for (const char *name : {"cuda", "cuda:", "cuda:x", "cuda:-1", "cuda:0 ", "gpu:0", "emulator",
                           "emulator:", "emulator:89", "emulator:sm_", "CUDA:0"}) {
    SCOPED_TRACE(name);

    const testing::Outcome outcome = testing::outcomeOf(parseDeviceName(name));

    EXPECT_EQ(outcome.code, ErrorCode::NoDevice);
    EXPECT_THAT(outcome.message, HasSubstr(std::string("'") + name + "'"));
    EXPECT_THAT(outcome.message, HasSubstr("cuda:N or emulator:ARCH"));
  }
}

TEST(FindOrdinalTest, NamesTheDevicesThatExist) {
  FakeDriver::reset().deviceCount = 2;
  llvm::Expected<std::shared_ptr<const Driver>> driver =
      Driver::fromTable(FakeDriver::table(), "fake");
  ASSERT_OK(driver);

  llvm::Expected<int> second = findOrdinal(**driver, {.text = "cuda:1", .ordinal = 1, .arch = ""});
  const testing::Outcome third =
      testing::outcomeOf(findOrdinal(**driver, {.text = "cuda:2", .ordinal = 2, .arch = ""}));

  ASSERT_OK(second);
  EXPECT_EQ(*second, 1);
  EXPECT_EQ(third.code, ErrorCode::NoDevice);
  EXPECT_THAT(third.message, HasSubstr("found cuda:0, cuda:1"));
}

TEST(FindOrdinalTest, NeverServesTheEmulatorAsCuda) {
  FakeDriver::reset().isEmulator = true;
  llvm::Expected<std::shared_ptr<const Driver>> driver =
      Driver::fromTable(FakeDriver::table(), "fake");
  ASSERT_OK(driver);

  const testing::Outcome cuda =
      testing::outcomeOf(findOrdinal(**driver, {.text = "cuda:0", .arch = ""}));
  llvm::Expected<int> emulated =
      findOrdinal(**driver, {.text = "emulator:sm_89", .isEmulator = true, .arch = "sm_89"});

  EXPECT_EQ(cuda.code, ErrorCode::NoDevice);
  EXPECT_THAT(cuda.message, HasSubstr("is the emulator, which is never a CUDA device"));
  ASSERT_OK(emulated);
  EXPECT_EQ(*emulated, 0);
}

TEST(ListDevicesTest, GivesReasonsWhereNothingIsFound) {
  const std::vector<DeviceListing> rows = listDevices(
      {.cudaLibrary = "/nowhere/libcuda.so.1", .emulatorLibrary = "/nowhere/libemulator.so"});

  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].name, "cuda");
  EXPECT_FALSE(rows[0].isAvailable);
  EXPECT_THAT(rows[0].reason, HasSubstr("/nowhere/libcuda.so.1"));
  EXPECT_EQ(rows[1].name, "emulator");
  EXPECT_TRUE(rows[1].isEmulated);
  EXPECT_THAT(rows[1].reason, HasSubstr("/nowhere/libemulator.so"));
}

TEST(DeviceTest, DescribesItselfAndItsTarget) {
  FakeDriver &fake = FakeDriver::reset();
  const std::shared_ptr<Device> real = FakeDriver::openDevice();
  fake.isEmulator = true;
  fake.deviceName = "NVIDIA L40S (emulated)";
  const std::shared_ptr<Device> emulated = FakeDriver::openDevice();

  ASSERT_NE(real, nullptr);
  ASSERT_NE(emulated, nullptr);
  EXPECT_EQ(real->arch(), "sm_89");
  EXPECT_EQ(real->profile().arch, "89");
  EXPECT_EQ(real->profile().clockMhz, 2300); // from the table
  EXPECT_EQ(real->targetText(), "NVIDIA L40S sm_89 sms=142 l2=100663296 smem=101376");
  EXPECT_EQ(emulated->targetText(),
            "NVIDIA L40S (emulated) sm_89 sms=142 l2=100663296 smem=101376 emulated");
  EXPECT_TRUE(emulated->isEmulated());
}

TEST(DeviceTest, TargetsOfNewerGenerationsAreArchitectureSpecific) {
  const std::pair<std::pair<int, int>, const char *> cases[] = {
      {{8, 6}, "sm_86"}, {{9, 0}, "sm_90a"}, {{10, 0}, "sm_100a"}, {{12, 0}, "sm_120a"}};
  for (const auto &[capability, arch] : cases) {
    FakeDriver &fake = FakeDriver::reset();
    fake.computeMajor = capability.first;
    fake.computeMinor = capability.second;

    const std::shared_ptr<Device> device = FakeDriver::openDevice();

    ASSERT_NE(device, nullptr);
    EXPECT_EQ(device->arch(), arch);
  }
}

TEST(DeviceTest, FaultsSayWhatToDoAndCarryTheReport) {
  FakeDriver &fake = FakeDriver::reset();
  fake.isEmulator = true;
  fake.emulatorReport = "kernel gemm, block 3, thread 7: read past the end";
  const std::shared_ptr<Device> device = FakeDriver::openDevice();
  ASSERT_NE(device, nullptr);

  const FailureInfo failure =
      takeFailure(device->driverFailure("cuLaunchKernel", CUDA_ERROR_ILLEGAL_ADDRESS));

  EXPECT_EQ(failure.code(), ErrorCode::DriverError);
  EXPECT_THAT(failure.text(), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
  EXPECT_THAT(failure.text(), HasSubstr("restart the process"));
  EXPECT_EQ(failure.details(), fake.emulatorReport);
  EXPECT_EQ(takeFailure(device->driverFailure("cuMemAlloc", CUDA_ERROR_OUT_OF_MEMORY)).details(),
            ""); // the report is that of the fault, not of this
}

TEST(DeviceTest, MovesBuffersWithoutFreeingTwice) {
  FakeDriver &fake = FakeDriver::reset();
  const std::shared_ptr<Device> device = FakeDriver::openDevice();
  ASSERT_NE(device, nullptr);

  llvm::Expected<DeviceBuffer> buffer = device->allocate(64);
  ASSERT_OK(buffer);
  DeviceBuffer moved = std::move(*buffer);
  llvm::Expected<DeviceBuffer> empty = device->allocate(0);
  ASSERT_OK(empty);

  EXPECT_NE(moved.data(), nullptr);
  EXPECT_EQ(empty->data(), nullptr);
  EXPECT_EQ(fake.allocations, 1);
}

} // namespace fp8jit
