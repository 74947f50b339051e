// Several host threads on one device: each with its own stream, memory and launches.
#include "tests/emulator/abi/driver_under_test.h"

#include <thread>
#include <vector>

namespace fp8jit::testing {
namespace {

using ConcurrencyTest = DriverTest;

} // namespace

TEST_F(ConcurrencyTest, ThreadsLaunchSideBySide) {
  constexpr int kThreads = 4;
  constexpr unsigned kRounds = 50;
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  ASSERT_EQ(cu.libraryLoadData(&library, kTestPtx, nullptr, nullptr, 0, nullptr, nullptr, 0),
            CUDA_SUCCESS);
  ASSERT_EQ(cu.libraryGetKernel(&kernel, library, "store_at"), CUDA_SUCCESS);
  std::vector<unsigned> sums(kThreads);
  std::vector<std::thread> threads;

  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      CUstream stream = nullptr;
      CUdeviceptr buffer = 0;
      EXPECT_EQ(cu.ctxSetCurrent(context), CUDA_SUCCESS);
      EXPECT_EQ(cu.streamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
      for (unsigned round = 0; round < kRounds; ++round) {
        unsigned stored = 0;
        unsigned value = round * kThreads + static_cast<unsigned>(t);
        void *parameters[] = {&buffer, &value};
        EXPECT_EQ(cu.memAlloc(&buffer, 4), CUDA_SUCCESS);
        EXPECT_EQ(cu.launchKernel(reinterpret_cast<CUfunction>(kernel), 1, 1, 1, 1, 1, 1, 0, stream,
                                  parameters, nullptr),
                  CUDA_SUCCESS);
        EXPECT_EQ(cu.streamSynchronize(stream), CUDA_SUCCESS);
        EXPECT_EQ(cu.memcpyDtoH(&stored, buffer, 4), CUDA_SUCCESS);
        EXPECT_EQ(cu.memFree(buffer), CUDA_SUCCESS);
        sums[static_cast<std::size_t>(t)] += stored;
      }
      EXPECT_EQ(cu.streamDestroy(stream), CUDA_SUCCESS);
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }

  for (int t = 0; t < kThreads; ++t) {
    const unsigned expected =
        kThreads * kRounds * (kRounds - 1) / 2 + kRounds * static_cast<unsigned>(t);
    EXPECT_EQ(sums[static_cast<std::size_t>(t)], expected) << "thread " << t;
  }
}

} // namespace fp8jit::testing
