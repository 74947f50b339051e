// Device memory with canaries on both sides. Main entry: GuardedBuffer.
#pragma once

#include "runtime/device.h"
#include "tests/support/matchers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace fp8jit::testing {

/// A buffer inside a larger allocation whose other bytes must never change. The front canary keeps
/// the buffer at a multiple of 256 bytes plus `shift`; the back canary starts at its very end.
class GuardedBuffer {
public:
  static constexpr std::size_t kGuardBytes = 512;
  static constexpr std::uint8_t kCanary = 0xA5;

  /// `contents`: the bytes that the buffer starts with.
  GuardedBuffer(Device &device, std::vector<std::uint8_t> contents, std::size_t shift = 0)
      : device_(device), before_(std::move(contents)), start_(kGuardBytes + shift) {
    std::vector<std::uint8_t> all(start_ + before_.size() + kGuardBytes, kCanary);
    std::copy(before_.begin(), before_.end(), all.begin() + static_cast<std::ptrdiff_t>(start_));
    llvm::Expected<DeviceBuffer> buffer = device.allocate(all.size());
    EXPECT_OK(buffer);
    if (buffer) {
      buffer_ = std::move(*buffer);
      EXPECT_OK(device.copyToDevice(buffer_.data(), all.data(), all.size()));
    }
  }

  /// An output of `sizeBytes` that starts full of canaries.
  static GuardedBuffer output(Device &device, std::size_t sizeBytes, std::size_t shift = 0) {
    return {device, std::vector<std::uint8_t>(sizeBytes, kCanary), shift};
  }

  template <typename T>
  static GuardedBuffer of(Device &device, const std::vector<T> &values, std::size_t shift = 0) {
    std::vector<std::uint8_t> bytes(values.size() * sizeof(T));
    if (!values.empty()) {
      std::memcpy(bytes.data(), values.data(), bytes.size());
    }
    return {device, std::move(bytes), shift};
  }

  void *data() const { return static_cast<std::uint8_t *>(buffer_.data()) + start_; }

  /// The buffer now, as Ts; fails the test if a canary has changed.
  template <typename T>
  std::vector<T> read(const char *name) const {
    std::vector<std::uint8_t> all(buffer_.sizeBytes());
    EXPECT_OK(device_.copyToHost(all.data(), buffer_.data(), all.size()));
    const std::size_t end = start_ + before_.size();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((i < start_ || i >= end) && all[i] != kCanary) {
        ADD_FAILURE() << "a canary of " << name << " changed, "
                      << (i < start_ ? static_cast<long long>(i) - static_cast<long long>(start_)
                                     : static_cast<long long>(i - end))
                      << " bytes from its " << (i < start_ ? "start" : "end");
        break;
      }
    }
    std::vector<T> values(before_.size() / sizeof(T));
    if (!values.empty()) {
      std::memcpy(values.data(), all.data() + start_, before_.size());
    }
    return values;
  }

  /// For inputs: neither the canaries nor the buffer itself may have changed.
  void expectUntouched(const char *name) const {
    EXPECT_EQ(read<std::uint8_t>(name), before_) << name << " was written";
  }

private:
  Device &device_;
  std::vector<std::uint8_t> before_;
  std::size_t start_;
  DeviceBuffer buffer_;
};

} // namespace fp8jit::testing
