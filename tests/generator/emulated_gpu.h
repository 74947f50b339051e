// One engine on the emulated sm_89 device, and device buffers between canaries. Main entries:
// EmulatedGpu, GuardedBuffer.
#pragma once

#include "fp8jit/engine.h"
#include "runtime/device.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace fp8jit::testing {

/// `count` bytes on the device with 256 bytes of canary on either side. `shift` bytes move it off
/// its 256-byte alignment.
class GuardedBuffer {
public:
  GuardedBuffer() = default;
  GuardedBuffer(Device &device, std::span<const std::uint8_t> bytes, std::size_t shift = 0);

  void *data() const;
  /// The bytes now; fails the running test if a canary has changed.
  std::vector<std::uint8_t> read() const;

private:
  Device *device_ = nullptr;
  DeviceBuffer buffer_;
  std::size_t count_ = 0;
  std::size_t shift_ = 0;
};

/// Opened once per test program; no cache on disk.
class EmulatedGpu {
public:
  EmulatedGpu();
  Engine &engine() { return *engine_; }
  Device &device();

  /// `values` on the device.
  template <typename T>
  GuardedBuffer upload(const std::vector<T> &values, std::size_t shift = 0) {
    const auto *bytes = reinterpret_cast<const std::uint8_t *>(values.data());
    return GuardedBuffer(device(), {bytes, values.size() * sizeof(T)}, shift);
  }
  /// `count` bytes that hold a pattern no kernel writes by chance.
  GuardedBuffer output(std::size_t count, std::size_t shift = 0) {
    return GuardedBuffer(device(), std::vector<std::uint8_t>(count, 0x5A), shift);
  }

private:
  std::optional<Engine> engine_;
};

/// The bytes as values of T.
template <typename T>
std::vector<T> valuesOf(const std::vector<std::uint8_t> &bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::uint8_t *>(values.data()));
  return values;
}

} // namespace fp8jit::testing
