// Word-wise loops over relaxed atomics.
#include "emulator/exec/global_bytes.h"

#include <algorithm>
#include <cstring>

namespace fp8jit::emulator {

static constexpr std::size_t kWord = sizeof(std::uint64_t);
static constexpr std::uint64_t kAllWritten = 0x0101010101010101ULL;

/// Bytes up to the next word of the side that others access.
static std::size_t untilWord(const std::uint8_t *shared, std::size_t count) {
  const std::size_t past = reinterpret_cast<std::uintptr_t>(shared) % kWord;
  return std::min(count, (kWord - past) % kWord);
}

static void loadBytes(std::uint8_t *to, const std::uint8_t *from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
  }
}

static void storeBytes(std::uint8_t *to, const std::uint8_t *from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    __atomic_store_n(to + i, from[i], __ATOMIC_RELAXED);
  }
}

void copyFromGlobal(std::uint8_t *to, const std::uint8_t *from, std::size_t count) {
  std::size_t i = untilWord(from, count);
  loadBytes(to, from, i);
  for (; count - i >= kWord; i += kWord) {
    const auto word = __atomic_load_n(reinterpret_cast<const std::uint64_t *>(from + i), //
                                      __ATOMIC_RELAXED);
    std::memcpy(to + i, &word, kWord);
  }
  loadBytes(to + i, from + i, count - i);
}

void copyToGlobal(std::uint8_t *to, const std::uint8_t *from, std::size_t count) {
  std::size_t i = untilWord(to, count);
  storeBytes(to, from, i);
  for (; count - i >= kWord; i += kWord) {
    std::uint64_t word = 0;
    std::memcpy(&word, from + i, kWord);
    __atomic_store_n(reinterpret_cast<std::uint64_t *>(to + i), word, __ATOMIC_RELAXED);
  }
  storeBytes(to + i, from + i, count - i);
}

std::size_t findUnwritten(const std::uint8_t *marks, std::size_t count) {
  std::size_t i = 0;
  while (i < count) {
    const bool isWord = untilWord(marks + i, count) == 0 && count - i >= kWord;
    if (isWord && __atomic_load_n(reinterpret_cast<const std::uint64_t *>(marks + i),
                                  __ATOMIC_RELAXED) == kAllWritten) {
      i += kWord;
    } else if (__atomic_load_n(marks + i, __ATOMIC_RELAXED) == 1) {
      ++i;
    } else {
      return i;
    }
  }
  return count;
}

void markWritten(std::uint8_t *marks, std::size_t count) {
  std::size_t i = untilWord(marks, count);
  for (std::size_t k = 0; k < i; ++k) {
    __atomic_store_n(marks + k, std::uint8_t{1}, __ATOMIC_RELAXED);
  }
  for (; count - i >= kWord; i += kWord) {
    __atomic_store_n(reinterpret_cast<std::uint64_t *>(marks + i), kAllWritten, __ATOMIC_RELAXED);
  }
  for (; i < count; ++i) {
    __atomic_store_n(marks + i, std::uint8_t{1}, __ATOMIC_RELAXED);
  }
}

} // namespace fp8jit::emulator
