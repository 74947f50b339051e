// Opening engines on the emulator when the surroundings are not as they should be.
#include "fp8jit/engine.h"
#include "runtime/engine_internals.h"
#include "tests/runtime/guarded_buffer.h"
#include "tests/support/environment_scope.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fp8jit {

using testing::EnvironmentScope;
using testing::GuardedBuffer;
using ::testing::HasSubstr;

/// Quantizes two zeros with one scale.
static Result<void> quantizeSomething(Engine &engine) {
  Device &device = engine.internals().device();
  const GuardedBuffer x(device, std::vector<std::uint8_t>(4));
  const GuardedBuffer q = GuardedBuffer::output(device, 2);
  const GuardedBuffer s = GuardedBuffer::output(device, 4);
  QuantProblem problem;
  problem.m = 1;
  problem.n = 2;
  return engine.quantize(problem, {.x = x.data(), .q = q.data(), .s = s.data()});
}

TEST(EngineOpenEmuTest, AnUnusableCacheCostsOneWarning) {
  const testing::TemporaryFolder folder;
  const std::string file = folder.write("taken", "a file where the folder should be");
  std::vector<std::string> warnings;

  Result<Engine> engine = Engine::open(
      {.device = "emulator:sm_89", .cacheDirectory = file, .onWarning = [&](std::string_view text) {
         warnings.emplace_back(text);
       }});

  ASSERT_OK(engine);
  EXPECT_OK(quantizeSomething(*engine));
  EXPECT_OK(quantizeSomething(*engine));
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings[0], HasSubstr(file));
}

TEST(EngineOpenEmuTest, AMissingCompilerIsToldAtTheFirstCompilation) {
  const EnvironmentScope nvrtc("FP8JIT_NVRTC", "/nowhere/libnvrtc.so.13");
  Result<Engine> engine = Engine::open({.device = "emulator:sm_89", .cacheDirectory = "none"});
  ASSERT_OK(engine);

  const Result<void> result = quantizeSomething(*engine);

  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::NvrtcNotFound);
  EXPECT_THAT(result.error().message, HasSubstr("/nowhere/libnvrtc.so.13"));
}

TEST(EngineOpenEmuTest, AMissingEmulatorIsToldWithItsPath) {
  const EnvironmentScope emulator("FP8JIT_EMULATOR", "/nowhere/libfp8jit-emulator.so");

  const Result<Engine> engine = Engine::open({.device = "emulator:sm_89"});

  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().code, ErrorCode::NoDevice);
  EXPECT_THAT(engine.error().message, HasSubstr("/nowhere/libfp8jit-emulator.so"));
  EXPECT_THAT(engine.error().message, HasSubstr("set FP8JIT_EMULATOR"));
}

TEST(EngineOpenEmuTest, AnUnknownEmulatedDeviceIsToldWithThoseThatExist) {
  const Result<Engine> engine = Engine::open({.device = "emulator:sm_75"});

  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().code, ErrorCode::NoDevice);
  EXPECT_THAT(engine.error().message, HasSubstr("emulator:sm_89"));
}

TEST(EngineOpenEmuTest, TheEmulatorIsNeverTakenUnasked) {
  for (const DeviceListing &row : listDevices()) {
    EXPECT_FALSE(row.isEmulated && llvm::StringRef(row.name).startswith("cuda")) << row.name;
  }
  const Result<Engine> engine = Engine::open({.cacheDirectory = "none"});

  EXPECT_TRUE(!engine.ok() || !engine->isEmulated());
}

TEST(EngineOpenEmuTest, AFaultIsReportedWithTheEmulatorsWords) {
  Result<Engine> engine = Engine::open({.device = "emulator:sm_89", .cacheDirectory = "none"});
  ASSERT_OK(engine);
  QuantProblem problem;
  problem.m = 1;
  problem.n = 4096;
  problem.s = ScaleUnit::Row;
  Device &device = engine->internals().device();
  const GuardedBuffer x(device, std::vector<std::uint8_t>(16)); // far too small
  const GuardedBuffer q = GuardedBuffer::output(device, 4096);
  const GuardedBuffer s = GuardedBuffer::output(device, 4);

  Result<void> result = engine->quantize(problem, {.x = x.data(), .q = q.data(), .s = s.data()});
  if (result.ok()) {
    llvm::Error error = device.synchronize(); // where the driver reports it asynchronously
    const bool hasFailed = static_cast<bool>(error);
    const FailureInfo failure = takeFailure(std::move(error));
    ASSERT_TRUE(hasFailed);
    result = Error{failure.code(), failure.text(), failure.details()};
  }

  EXPECT_EQ(result.error().code, ErrorCode::DriverError);
  EXPECT_THAT(result.error().message, HasSubstr("restart the process"));
  EXPECT_THAT(result.error().details, HasSubstr("fp8jit_quantize"));
}

} // namespace fp8jit
