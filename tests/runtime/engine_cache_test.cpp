// What an engine takes from a store and what it leaves there, on the fake driver.
#include "tests/runtime/fake_engine.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace fp8jit {

using testing::FakeDriver;
using testing::FakeEngine;
using testing::gemmBuffers;
using testing::smallGemm;

static std::shared_ptr<Store> openStore(const testing::TemporaryFolder &folder) {
  llvm::Expected<std::unique_ptr<Store>> store =
      Store::open({.directory = folder.path(), .readOnly = false, .onWarning = nullptr});
  EXPECT_OK(store);
  return store ? std::shared_ptr<Store>(std::move(*store)) : nullptr;
}

/// The last candidate, which is not the default.
static Config otherConfig(const GpuProfile &profile) {
  const std::vector<Config> candidates = candidateConfigs(smallGemm(), profile);
  const Config standard = defaultConfig(smallGemm(), profile);
  return candidates.back() == standard ? candidates.front() : candidates.back();
}

/// Compiles `config` for smallGemm and stores it as winner under `target` (empty: the device).
static void storeWinner(Store &store, FakeEngine &fake, const Config &config,
                        const std::string &target = {}) {
  const std::string text = printConfig(config);
  const Result<Kernel> kernel = fake.engine.prepare(smallGemm(), text);
  ASSERT_OK(kernel);
  llvm::Expected<WinnerKey> key = fake.engine.internals().winnerKey(smallGemm());
  ASSERT_OK(key);
  key->target = target.empty() ? key->target : target;
  Winner winner;
  winner.config = text;
  winner.provenance = "measured";
  winner.kernelKey = kernel->info().kernelKey;
  winner.timeNs = 1000;
  ASSERT_OK(store.putWinner(*key, winner));
}

TEST(EngineCacheTest, ASecondEngineLoadsFromDisk) {
  FakeDriver::reset();
  const testing::TemporaryFolder folder;
  {
    FakeEngine first(OnMiss::UseDefault, nullptr, openStore(folder));
    ASSERT_OK(first.engine.gemm(smallGemm(), gemmBuffers()));
  }
  FakeEngine second(OnMiss::UseDefault, nullptr, openStore(folder));

  const Result<Kernel> kernel = second.engine.prepare(smallGemm());

  ASSERT_OK(kernel);
  EXPECT_EQ(kernel->info().cache, CacheSource::Disk);
  EXPECT_EQ(second.compiler->compilations, 0);
}

TEST(EngineCacheTest, UsesTheWinnerOfTheBucket) {
  FakeDriver::reset();
  const testing::TemporaryFolder folder;
  const std::shared_ptr<Store> store = openStore(folder);
  FakeEngine tuning(OnMiss::UseDefault, nullptr, store);
  const Config config = otherConfig(tuning.engine.internals().profile());
  storeWinner(*store, tuning, config);
  FakeEngine fake(OnMiss::Fail, nullptr, store);
  GemmProblem problem = smallGemm();
  problem.m = 40; // of the same bucket

  const Result<Kernel> kernel = fake.engine.prepare(problem);

  ASSERT_OK(kernel);
  EXPECT_EQ(kernel->info().config, printConfig(config));
  EXPECT_EQ(kernel->info().configSource, ConfigSource::Winner);
  EXPECT_EQ(kernel->info().provenance, Provenance::Measured);
  EXPECT_EQ(kernel->info().cache, CacheSource::Disk);
}

TEST(EngineCacheTest, AWinnerServesWithoutAnyCompiler) {
  FakeDriver &driver = FakeDriver::reset();
  const testing::TemporaryFolder folder;
  const std::shared_ptr<Store> store = openStore(folder);
  FakeEngine tuning(OnMiss::UseDefault, nullptr, store);
  storeWinner(*store, tuning, otherConfig(tuning.engine.internals().profile()));
  FakeEngine fake(OnMiss::Fail, nullptr, store);
  fake.compiler->isMissing = true;

  EXPECT_OK(fake.engine.gemm(smallGemm(), gemmBuffers()));

  EXPECT_EQ(driver.launches.size(), 1U);
}

TEST(EngineCacheTest, WinnersOfTheDeviceComeBeforeThoseOfItsArchitecture) {
  FakeDriver::reset();
  const testing::TemporaryFolder folder;
  const std::shared_ptr<Store> store = openStore(folder);
  FakeEngine tuning(OnMiss::UseDefault, nullptr, store);
  const GpuProfile &profile = tuning.engine.internals().profile();
  storeWinner(*store, tuning, defaultConfig(smallGemm(), profile), "sm_89");
  FakeEngine prewarmed(OnMiss::Fail, nullptr, store);
  const Result<Kernel> byArchitecture = prewarmed.engine.prepare(smallGemm());
  storeWinner(*store, tuning, otherConfig(profile));
  FakeEngine tuned(OnMiss::Fail, nullptr, store);
  const Result<Kernel> byDevice = tuned.engine.prepare(smallGemm());

  ASSERT_OK(byArchitecture);
  ASSERT_OK(byDevice);
  EXPECT_EQ(byArchitecture->info().config, printConfig(defaultConfig(smallGemm(), profile)));
  EXPECT_EQ(byDevice->info().config, printConfig(otherConfig(profile)));
}

TEST(EngineCacheTest, WinnersOfTheEmulatorNeverServeARealDevice) {
  FakeDriver &driver = FakeDriver::reset();
  const testing::TemporaryFolder folder;
  const std::shared_ptr<Store> store = openStore(folder);
  driver.isEmulator = true;
  {
    FakeEngine emulated(OnMiss::UseDefault, nullptr, store);
    storeWinner(*store, emulated, otherConfig(emulated.engine.internals().profile()));
  }
  driver.isEmulator = false;
  FakeEngine real(OnMiss::Fail, nullptr, store);

  EXPECT_FAILS(real.engine.gemm(smallGemm(), gemmBuffers()), ErrorCode::NotFound);
}

TEST(EngineCacheTest, AWinnerThatDoesNotFitIsAMiss) {
  FakeDriver::reset();
  const testing::TemporaryFolder folder;
  const std::shared_ptr<Store> store = openStore(folder);
  FakeEngine fake(OnMiss::UseDefault, nullptr, store);
  llvm::Expected<WinnerKey> key = fake.engine.internals().winnerKey(smallGemm());
  ASSERT_OK(key);
  Winner winner;
  winner.config = "mma tile=7x7x7 of another version";
  winner.provenance = "measured";
  winner.kernelKey = std::string(64, 'a');
  winner.timeNs = 1;
  ASSERT_OK(store->putWinner(*key, winner));

  const Result<Kernel> kernel = fake.engine.prepare(smallGemm());

  ASSERT_OK(kernel);
  EXPECT_EQ(kernel->info().configSource, ConfigSource::Default);
}

TEST(EngineCacheTest, FailedCompilationsLeaveNothingBehind) {
  FakeDriver::reset();
  const testing::TemporaryFolder folder;
  const std::shared_ptr<Store> store = openStore(folder);
  FakeEngine fake(OnMiss::UseDefault, nullptr, store);
  fake.compiler->doesRefuse = true;

  EXPECT_FAILS(fake.engine.gemm(smallGemm(), gemmBuffers()), ErrorCode::CompileError);

  EXPECT_EQ(store->stats().binaries, 0);
}

} // namespace fp8jit
