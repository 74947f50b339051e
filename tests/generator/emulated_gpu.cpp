// See emulated_gpu.h.
#include "tests/generator/emulated_gpu.h"

#include "runtime/engine_internals.h"
#include "tests/support/matchers.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace fp8jit::testing {

static constexpr std::size_t kGuard = 256;
static constexpr std::uint8_t kCanary = 0xA5;

GuardedBuffer::GuardedBuffer(Device &device, std::span<const std::uint8_t> bytes, std::size_t shift)
    : device_(&device), count_(bytes.size()), shift_(shift) {
  std::vector<std::uint8_t> image(kGuard + shift + bytes.size() + kGuard, kCanary);
  std::copy(bytes.begin(), bytes.end(),
            image.begin() + static_cast<std::ptrdiff_t>(kGuard + shift));
  llvm::Expected<DeviceBuffer> buffer = device.allocate(image.size());
  EXPECT_OK(buffer);
  buffer_ = std::move(*buffer);
  EXPECT_OK(device.copyToDevice(buffer_.data(), image.data(), image.size()));
}

void *GuardedBuffer::data() const {
  return static_cast<std::uint8_t *>(buffer_.data()) + kGuard + shift_;
}

std::vector<std::uint8_t> GuardedBuffer::read() const {
  std::vector<std::uint8_t> image(buffer_.sizeBytes());
  EXPECT_OK(device_->copyToHost(image.data(), buffer_.data(), image.size()));
  const auto begin = image.begin() + static_cast<std::ptrdiff_t>(kGuard + shift_);
  const auto end = begin + static_cast<std::ptrdiff_t>(count_);
  const auto isIntact = [](std::uint8_t byte) { return byte == kCanary; };
  EXPECT_TRUE(std::all_of(image.begin(), begin, isIntact)) << "written in front of the buffer";
  EXPECT_TRUE(std::all_of(end, image.end(), isIntact)) << "written behind the buffer";
  return {begin, end};
}

EmulatedGpu::EmulatedGpu() {
  EngineOptions options;
  options.device = "emulator:sm_89";
  options.cacheDirectory = "none";
  Result<Engine> engine = Engine::open(std::move(options));
  EXPECT_OK(engine);
  engine_.emplace(std::move(engine).value());
}

Device &EmulatedGpu::device() {
  return engine_->internals().device();
}

} // namespace fp8jit::testing
