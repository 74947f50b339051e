// Runs of bytes that other threads may access at the same time: global memory and its marks, which
// concurrent launches and the host share. Relaxed atomics, in words where both sides are aligned.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fp8jit::emulator {

/// Copies `count` bytes out of global memory.
void copyFromGlobal(std::uint8_t *to, const std::uint8_t *from, std::size_t count);
/// Copies `count` bytes into global memory.
void copyToGlobal(std::uint8_t *to, const std::uint8_t *from, std::size_t count);
/// The first of `count` marks that is not set, or `count`.
std::size_t findUnwritten(const std::uint8_t *marks, std::size_t count);
/// Whether all `count` marks are set.
inline bool areWritten(const std::uint8_t *marks, std::size_t count) {
  return findUnwritten(marks, count) == count;
}
/// Sets `count` marks.
void markWritten(std::uint8_t *marks, std::size_t count);

} // namespace fp8jit::emulator
