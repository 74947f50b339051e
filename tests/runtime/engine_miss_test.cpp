// What an engine does on a miss: the default, a tuner, a refusal.
#include "fp8jit/engine.h"
#include "tests/runtime/fake_engine.h"
#include "tests/support/matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fp8jit {

using testing::FakeDriver;
using testing::FakeEngine;
using testing::gemmBuffers;
using ::testing::HasSubstr;
using testing::smallGemm;

namespace {

/// Answers what it is told to and counts.
class FakeTuner final : public TunerHook {
public:
  int calls = 0;
  Result<std::string> answer = std::string();
  Result<std::string> tune(Engine & /*engine*/, const Problem & /*problem*/) override {
    ++calls;
    return answer;
  }
};

} // namespace

TEST(EngineMissTest, OnMissFailNamesProblemAndTarget) {
  FakeDriver::reset();
  FakeEngine fake(OnMiss::Fail);

  const Result<void> result = fake.engine.gemm(smallGemm(), gemmBuffers());

  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::NotFound);
  EXPECT_THAT(result.error().message, HasSubstr("gemm m<=64 n=128 k=256"));
  EXPECT_THAT(result.error().message, HasSubstr("NVIDIA L40S sm_89"));
  EXPECT_EQ(fake.compiler->compilations, 0);
}

TEST(EngineMissTest, OnMissTuneAsksTheTunerOnce) {
  FakeDriver::reset();
  auto tuner = std::make_shared<FakeTuner>();
  FakeEngine fake(OnMiss::Tune, tuner);
  tuner->answer =
      printConfig(candidateConfigs(smallGemm(), fake.engine.internals().profile()).back());

  ASSERT_OK(fake.engine.describe(smallGemm()));
  EXPECT_EQ(tuner->calls, 0); // describing never tunes
  ASSERT_OK(fake.engine.gemm(smallGemm(), gemmBuffers()));
  ASSERT_OK(fake.engine.gemm(smallGemm(), gemmBuffers()));

  EXPECT_EQ(tuner->calls, 1);
}

TEST(EngineMissTest, AFailedTunerIsReported) {
  FakeDriver::reset();
  auto tuner = std::make_shared<FakeTuner>();
  tuner->answer = Error{ErrorCode::Cancelled, "stopped", ""};
  FakeEngine fake(OnMiss::Tune, tuner);

  const Result<void> result = fake.engine.gemm(smallGemm(), gemmBuffers());

  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::Cancelled);
  EXPECT_THAT(result.error().message, HasSubstr("stopped"));
}

TEST(EngineMissTest, ForgettingAChoiceAsksAgain) {
  FakeDriver::reset();
  auto tuner = std::make_shared<FakeTuner>();
  FakeEngine fake(OnMiss::Tune, tuner);
  tuner->answer = printConfig(defaultConfig(smallGemm(), fake.engine.internals().profile()));
  ASSERT_OK(fake.engine.gemm(smallGemm(), gemmBuffers()));

  fake.engine.internals().forgetChoice(smallGemm());
  ASSERT_OK(fake.engine.gemm(smallGemm(), gemmBuffers()));

  EXPECT_EQ(tuner->calls, 2);
}

} // namespace fp8jit
