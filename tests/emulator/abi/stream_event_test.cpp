// Streams and events, and the clock they share.
#include "tests/emulator/abi/driver_under_test.h"

#include <vector>

namespace fp8jit::testing {
namespace {

class StreamEventTest : public DriverTest {
protected:
  /// Records an event on `stream` and returns its time since `origin_` in milliseconds.
  float timeOn(CUstream stream) {
    CUevent now = nullptr;
    float milliseconds = -1.0F;
    EXPECT_EQ(cu.eventCreate(&now, 0), CUDA_SUCCESS);
    EXPECT_EQ(cu.eventRecord(now, stream), CUDA_SUCCESS);
    EXPECT_EQ(cu.eventElapsedTime(&milliseconds, origin_, now), CUDA_SUCCESS);
    EXPECT_EQ(cu.eventDestroy(now), CUDA_SUCCESS);
    return milliseconds;
  }

  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_EQ(cu.eventCreate(&origin_, 0), CUDA_SUCCESS);
    ASSERT_EQ(cu.eventRecord(origin_, nullptr), CUDA_SUCCESS);
    ASSERT_EQ(cu.memAlloc(&buffer_, kBytes), CUDA_SUCCESS);
  }

  static constexpr size_t kBytes = 1 << 20;
  CUevent origin_ = nullptr;
  CUdeviceptr buffer_ = 0;
};

} // namespace

TEST_F(StreamEventTest, RefusesMisuse) {
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUevent untimed = nullptr;
  float milliseconds = 0;
  ASSERT_EQ(cu.streamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cu.eventCreate(&event, 0), CUDA_SUCCESS);
  ASSERT_EQ(cu.eventCreate(&untimed, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);

  EXPECT_EQ(cu.streamCreate(&stream, 0x100), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu.eventElapsedTime(&milliseconds, origin_, event), CUDA_ERROR_INVALID_HANDLE)
      << "never recorded";
  EXPECT_EQ(cu.eventRecord(untimed, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cu.eventElapsedTime(&milliseconds, origin_, untimed), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cu.eventDestroy(event), CUDA_SUCCESS);
  EXPECT_EQ(cu.eventDestroy(event), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cu.eventRecord(event, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cu.streamDestroy(stream), CUDA_SUCCESS);
  EXPECT_EQ(cu.streamDestroy(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cu.streamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(StreamEventTest, NeverCaptures) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  CUstream stream = nullptr;
  ASSERT_EQ(cu.streamCreate(&stream, 0), CUDA_SUCCESS);

  EXPECT_EQ(cu.streamIsCapturing(stream, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_EQ(cu.streamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(StreamEventTest, TransfersTakeModelledTime) {
  const std::vector<char> bytes(kBytes);

  EXPECT_EQ(timeOn(nullptr), 0.0F);
  EXPECT_EQ(cu.memcpyHtoD(buffer_, bytes.data(), kBytes), CUDA_SUCCESS);
  const float first = timeOn(nullptr);
  EXPECT_EQ(cu.memcpyHtoD(buffer_, bytes.data(), kBytes), CUDA_SUCCESS);

  EXPECT_FLOAT_EQ(first, kBytes / 25.0F * 1e-6F); // 25 bytes per ns over PCI Express 4.0
  EXPECT_FLOAT_EQ(timeOn(nullptr), 2 * first);
}

TEST_F(StreamEventTest, OrdersTheLegacyStreamWithBlockingStreamsOnly) {
  const std::vector<char> bytes(kBytes);
  CUstream blocking = nullptr;
  CUstream independent = nullptr;
  ASSERT_EQ(cu.streamCreate(&blocking, 0), CUDA_SUCCESS);
  ASSERT_EQ(cu.streamCreate(&independent, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);

  EXPECT_EQ(cu.memcpyHtoDAsync(buffer_, bytes.data(), kBytes, blocking), CUDA_SUCCESS);
  const float one = timeOn(blocking);

  EXPECT_GT(one, 0.0F);
  EXPECT_EQ(timeOn(independent), 0.0F);
  EXPECT_EQ(timeOn(nullptr), one);
  EXPECT_EQ(cu.memcpyHtoDAsync(buffer_, bytes.data(), kBytes, independent), CUDA_SUCCESS);
  EXPECT_EQ(timeOn(independent), one);
  EXPECT_EQ(timeOn(nullptr), one);
}

TEST_F(StreamEventTest, AWaitingStreamContinuesAfterTheEvent) {
  const std::vector<char> bytes(kBytes);
  CUstream first = nullptr;
  CUstream second = nullptr;
  CUevent done = nullptr;
  ASSERT_EQ(cu.streamCreate(&first, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cu.streamCreate(&second, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cu.eventCreate(&done, 0), CUDA_SUCCESS);
  ASSERT_EQ(cu.memcpyHtoDAsync(buffer_, bytes.data(), kBytes, first), CUDA_SUCCESS);
  ASSERT_EQ(cu.eventRecord(done, first), CUDA_SUCCESS);

  EXPECT_EQ(timeOn(second), 0.0F);
  EXPECT_EQ(cu.streamWaitEvent(second, done, 0), CUDA_SUCCESS);

  EXPECT_EQ(timeOn(second), timeOn(first));
}

} // namespace fp8jit::testing
