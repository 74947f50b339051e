// What an engine does with a driver: on the fake one, which records every call.
#include "fp8jit/engine.h"
#include "tests/runtime/fake_engine.h"
#include "tests/support/matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace fp8jit {

using testing::at;
using testing::FakeDriver;
using testing::FakeEngine;
using testing::gemmBuffers;
using ::testing::HasSubstr;
using testing::quantBuffers;
using testing::smallGemm;
using testing::smallQuant;

TEST(EngineTest, LaunchesWithTheCallersBuffersAndStream) {
  FakeDriver &driver = FakeDriver::reset();
  FakeEngine fake;
  GemmBuffers buffers = gemmBuffers();
  buffers.alpha = 0.5F;

  ASSERT_OK(fake.engine.gemm(smallGemm(), buffers, at(0x5000)));

  ASSERT_EQ(driver.launches.size(), 1U);
  const testing::FakeLaunch &launch = driver.launches[0];
  const Config config = defaultConfig(smallGemm(), fake.engine.internals().profile());
  EXPECT_EQ(launch.entry, "fp8jit_gemm");
  EXPECT_EQ(launch.grid, gridBlocks(smallGemm(), config, 0));
  EXPECT_EQ(launch.block, static_cast<unsigned>(std::get<GemmConfig>(config).threads()));
  EXPECT_EQ(launch.smemBytes, static_cast<unsigned>(std::get<GemmConfig>(config).smemBytes()));
  EXPECT_EQ(launch.stream, at(0x5000));
  EXPECT_EQ(launch.gemm.a, buffers.a);
  EXPECT_EQ(launch.gemm.b, buffers.b);
  EXPECT_EQ(launch.gemm.sa, buffers.sa);
  EXPECT_EQ(launch.gemm.sb, buffers.sb);
  EXPECT_EQ(launch.gemm.d, buffers.d);
  EXPECT_EQ(launch.gemm.m, 64);
  EXPECT_EQ(launch.gemm.alpha, 0.5F);
}

TEST(EngineTest, WarmCallsCompileAndLoadNothing) {
  FakeDriver &driver = FakeDriver::reset();
  FakeEngine fake;

  for (const std::int64_t m : {64, 64, 33, 50}) { // one bucket
    GemmProblem problem = smallGemm();
    problem.m = m;
    ASSERT_OK(fake.engine.gemm(problem, gemmBuffers()));
  }

  EXPECT_EQ(fake.compiler->compilations, 1);
  EXPECT_EQ(driver.images.size(), 1U);
  EXPECT_EQ(driver.launches.size(), 4U);
  EXPECT_EQ(driver.launches[2].gemm.m, 33);
}

TEST(EngineTest, PrepareMakesTheFirstCallWarm) {
  FakeDriver &driver = FakeDriver::reset();
  FakeEngine fake;

  Result<Kernel> kernel = fake.engine.prepare(smallGemm());
  ASSERT_OK(kernel);
  driver.captureStatus = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  ASSERT_OK(fake.engine.gemm(smallGemm(), gemmBuffers()));
  ASSERT_OK(kernel->launch(gemmBuffers()));

  EXPECT_EQ(fake.compiler->compilations, 1);
  EXPECT_EQ(driver.launches.size(), 2U);
  EXPECT_EQ(kernel->info().cache, CacheSource::Compiled);
  EXPECT_EQ(kernel->info().compileMs, 1.5);
  EXPECT_EQ(fake.engine.prepare(smallGemm())->info().cache, CacheSource::Memory);
  EXPECT_EQ(fake.engine.prepare(smallGemm())->info().compileMs, 0);
}

TEST(EngineTest, QuantizationWithOneScaleRunsItsEntriesInOrder) {
  FakeDriver &driver = FakeDriver::reset();
  FakeEngine fake;

  ASSERT_OK(fake.engine.quantize(smallQuant(), quantBuffers(), at(0x5000)));

  ASSERT_EQ(driver.launches.size(), 3U);
  EXPECT_EQ(driver.launches[0].entry, "fp8jit_quantize_reset");
  EXPECT_EQ(driver.launches[1].entry, "fp8jit_quantize_amax");
  EXPECT_EQ(driver.launches[2].entry, "fp8jit_quantize_cast");
  for (const testing::FakeLaunch &launch : driver.launches) {
    EXPECT_EQ(launch.stream, at(0x5000));
    EXPECT_EQ(launch.quant.x, quantBuffers().x);
    EXPECT_NE(launch.quant.workspace, nullptr);
    EXPECT_EQ(launch.quant.workspace, driver.launches[0].quant.workspace);
  }
}

TEST(EngineTest, WorkspaceIsPerStreamAndThreadAndAllocatedOnce) {
  FakeDriver &driver = FakeDriver::reset();
  FakeEngine fake;

  ASSERT_OK(fake.engine.quantize(smallQuant(), quantBuffers(), at(0x1)));
  ASSERT_OK(fake.engine.quantize(smallQuant(), quantBuffers(), at(0x2)));
  ASSERT_OK(fake.engine.quantize(smallQuant(), quantBuffers(), at(0x1)));
  std::thread([&] {
    EXPECT_OK(fake.engine.quantize(smallQuant(), quantBuffers(), at(0x1)));
  }).join();

  ASSERT_EQ(driver.launches.size(), 12U);
  EXPECT_EQ(driver.allocations, 1);
  EXPECT_NE(driver.launches[0].quant.workspace, driver.launches[3].quant.workspace);
  EXPECT_EQ(driver.launches[0].quant.workspace, driver.launches[6].quant.workspace);
  EXPECT_NE(driver.launches[0].quant.workspace, driver.launches[9].quant.workspace);
}

TEST(EngineTest, EmptyProblemsSucceedWithoutLaunchAndWithoutBuffers) {
  FakeDriver &driver = FakeDriver::reset();
  FakeEngine fake;
  GemmProblem gemm = smallGemm();
  QuantProblem quant = smallQuant();

  for (const bool isWarm : {false, true}) {
    SCOPED_TRACE(isWarm);
    for (auto [m, n] : {std::pair{0, 128}, std::pair{64, 0}, std::pair{0, 0}}) {
      gemm.m = quant.m = m;
      gemm.n = quant.n = n;
      EXPECT_OK(fake.engine.gemm(gemm, {}));
      EXPECT_OK(fake.engine.quantize(quant, {}));
      Result<Kernel> kernel = fake.engine.prepare(gemm);
      ASSERT_OK(kernel);
      EXPECT_OK(kernel->launch(GemmBuffers{}));
    }
    EXPECT_TRUE(driver.launches.empty());
    EXPECT_EQ(fake.compiler->compilations, 0);
    gemm.m = quant.m = 1; // the bucket that m = 0 belongs to becomes warm
    gemm.n = quant.n = 128;
    ASSERT_OK(fake.engine.gemm(gemm, gemmBuffers()));
    ASSERT_OK(fake.engine.quantize(quant, quantBuffers()));
    driver.launches.clear();
    fake.compiler->compilations = 0;
  }
}

TEST(EngineTest, ASumOfNothingNeedsNoOperands) {
  FakeDriver &driver = FakeDriver::reset();
  FakeEngine fake;
  GemmProblem problem = smallGemm();
  problem.k = 0;

  ASSERT_OK(fake.engine.gemm(problem, {.d = at(0x50000000)}));

  EXPECT_EQ(driver.launches.size(), 1U); // the kernel writes the zeros
}

TEST(EngineTest, UnalignedBuffersGetAKernelOfTheirOwn) {
  FakeDriver &driver = FakeDriver::reset();
  FakeEngine fake;
  GemmBuffers buffers = gemmBuffers();
  buffers.a = at(0x10000001);

  ASSERT_OK(fake.engine.gemm(smallGemm(), gemmBuffers()));
  ASSERT_OK(fake.engine.gemm(smallGemm(), buffers));
  ASSERT_OK(fake.engine.gemm(smallGemm(), buffers));

  EXPECT_EQ(fake.compiler->compilations, 2);
  EXPECT_EQ(driver.launches.size(), 3U);
}

TEST(EngineTest, ForcedConfigurationIsUsedAndReported) {
  FakeDriver::reset();
  FakeEngine fake;
  const std::string config =
      printConfig(candidateConfigs(smallGemm(), fake.engine.internals().profile()).back());

  Result<Kernel> kernel = fake.engine.prepare(smallGemm(), config);

  ASSERT_OK(kernel);
  EXPECT_EQ(kernel->info().config, config);
  EXPECT_EQ(kernel->info().configSource, ConfigSource::Forced);
}

TEST(EngineTest, CandidatesAreUnloadedWithTheirHandles) {
  FakeDriver &driver = FakeDriver::reset();
  FakeEngine fake;
  const std::string config =
      printConfig(candidateConfigs(smallGemm(), fake.engine.internals().profile()).back());
  {
    Result<Kernel> kernel = fake.engine.prepare(smallGemm(), config);
    ASSERT_OK(kernel);
    EXPECT_EQ(driver.liveLibraries, 1);
  }

  EXPECT_EQ(driver.liveLibraries, 0);
}

TEST(EngineTest, AKernelThatNobodyPreparedIsEmpty) {
  FakeDriver::reset();
  const Kernel kernel;

  EXPECT_FAILS(kernel.launch(quantBuffers()), ErrorCode::InvalidArgument);
  EXPECT_EQ(kernel.info().problem, "");
}

TEST(EngineTest, KernelsOutliveTheirEngine) {
  FakeDriver &driver = FakeDriver::reset();
  Kernel kernel;
  {
    FakeEngine fake;
    Result<Kernel> prepared = fake.engine.prepare(smallQuant());
    ASSERT_OK(prepared);
    kernel = *prepared;
  }

  EXPECT_OK(kernel.launch(quantBuffers()));
  EXPECT_EQ(driver.launches.size(), 3U);
}

TEST(EngineTest, DescribeAndSourceCompileNothing) {
  FakeDriver &driver = FakeDriver::reset();
  FakeEngine fake;

  Result<KernelInfo> info = fake.engine.describe(smallGemm());
  Result<std::string> source = fake.engine.source(smallGemm());

  ASSERT_OK(info);
  ASSERT_OK(source);
  EXPECT_EQ(info->source, *source);
  EXPECT_THAT(*source, HasSubstr("fp8jit_gemm"));
  EXPECT_EQ(info->kernelKey, fake.engine.prepare(smallGemm())->info().kernelKey);
  EXPECT_EQ(info->configSource, ConfigSource::Default);
  EXPECT_TRUE(driver.launches.empty());
}

TEST(EngineTest, DescribeWorksWithoutACompiler) {
  FakeDriver::reset();
  FakeEngine fake;
  fake.compiler->isMissing = true;

  Result<KernelInfo> info = fake.engine.describe(smallGemm());

  ASSERT_OK(info);
  EXPECT_EQ(info->kernelKey, "");
  EXPECT_FAILS(fake.engine.prepare(smallGemm()), ErrorCode::NvrtcNotFound);
}

TEST(EngineTest, ColdCallUnderCaptureIsUnsupported) {
  FakeDriver &driver = FakeDriver::reset();
  FakeEngine fake;
  driver.captureStatus = CU_STREAM_CAPTURE_STATUS_ACTIVE;

  const Result<void> result = fake.engine.gemm(smallGemm(), gemmBuffers(), at(0x5000));

  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::Unsupported);
  EXPECT_THAT(result.error().message, HasSubstr("prepare"));
  EXPECT_EQ(fake.compiler->compilations, 0);
}

TEST(EngineTest, UsesTheCallersContextAndRestoresAForeignOne) {
  FakeDriver::reset();
  FakeEngine fake;
  struct Case {
    std::uintptr_t before, after;
  };
  // 0: none, then the primary one; 1: primary; 2: another of this device; 3: of another device.
  for (const Case &context : {Case{0, 1}, Case{1, 1}, Case{2, 2}, Case{3, 3}}) {
    FakeDriver::setCurrent(FakeDriver::context(context.before));

    EXPECT_OK(fake.engine.gemm(smallGemm(), gemmBuffers()));

    EXPECT_EQ(FakeDriver::current(), FakeDriver::context(context.after));
  }
}

TEST(EngineTest, PairsBinariesOnTheEmulatorOnly) {
  FakeDriver &driver = FakeDriver::reset();
  {
    FakeEngine real;
    ASSERT_OK(real.engine.prepare(smallGemm()));
    EXPECT_EQ(driver.pairedBinaries, 0);
  }
  driver.isEmulator = true;
  FakeEngine emulated;

  ASSERT_OK(emulated.engine.prepare(smallGemm()));

  EXPECT_EQ(driver.pairedBinaries, 1);
  EXPECT_TRUE(emulated.engine.isEmulated());
}

TEST(EngineTest, FallsBackFromCubinToPtxToOlderPtx) {
  struct Case {
    CUresult cubin, ptx;
    std::size_t images;
  };
  const Case cases[] = {
      {CUDA_SUCCESS, CUDA_SUCCESS, 1},
      {CUDA_ERROR_NO_BINARY_FOR_GPU, CUDA_SUCCESS, 2},
      {CUDA_ERROR_INVALID_IMAGE, CUDA_SUCCESS, 2},
      {CUDA_ERROR_NO_BINARY_FOR_GPU, CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 3},
  };
  for (const Case &expected : cases) {
    SCOPED_TRACE(expected.images);
    FakeDriver &driver = FakeDriver::reset();
    driver.driverVersion = 12040;
    driver.cubinResult = expected.cubin;
    driver.ptxResult = expected.ptx;
    FakeEngine fake;

    EXPECT_OK(fake.engine.prepare(smallGemm()));

    ASSERT_EQ(driver.images.size(), expected.images);
    if (expected.images == 3) {
      EXPECT_THAT(driver.images.back(), HasSubstr(".version 8.4"));
    }
  }
}

TEST(EngineTest, ADriverThatLoadsNothingIsToldWithBothVersions) {
  FakeDriver &driver = FakeDriver::reset();
  driver.driverVersion = 12020;
  driver.cubinResult = CUDA_ERROR_NO_BINARY_FOR_GPU;
  driver.ptxResult = driver.loweredPtxResult = CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  FakeEngine fake;

  const Result<Kernel> kernel = fake.engine.prepare(smallGemm());

  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.error().code, ErrorCode::DriverError);
  EXPECT_THAT(kernel.error().message, HasSubstr("CUDA 12.2"));
  EXPECT_THAT(kernel.error().message, HasSubstr("PTX 9.0"));
  EXPECT_EQ(driver.liveLibraries, 0);
}

TEST(EngineTest, ManyThreadsShareOneCompilation) {
  FakeDriver &driver = FakeDriver::reset();
  FakeEngine fake;
  std::vector<std::thread> threads;

  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int call = 0; call < 50; ++call) {
        EXPECT_OK(fake.engine.gemm(smallGemm(), gemmBuffers()));
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }

  EXPECT_EQ(driver.launches.size(), 400U);
  EXPECT_EQ(fake.compiler->compilations, 1);
}

} // namespace fp8jit
