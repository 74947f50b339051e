// Log buffers of just-in-time compilation.
#include "emulator/abi/jit_options.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace fp8jit::emulator {

static void **findValue(const JitOptions &options, CUjit_option wanted) {
  for (unsigned i = 0; i < options.count; ++i) {
    if (options.options[i] == wanted) {
      return &options.values[i];
    }
  }
  return nullptr;
}

/// Copies `log` with a terminator into the buffer of one pair of options.
static void writeLog(const JitOptions &options, CUjit_option bufferOption, CUjit_option sizeOption,
                     std::string_view log) {
  void **buffer = findValue(options, bufferOption);
  void **size = findValue(options, sizeOption);
  if (size == nullptr) {
    return;
  }
  // The size travels in the pointer itself, in its low 32 bits.
  const auto capacity = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(*size));
  std::size_t written = 0;
  if (buffer != nullptr && *buffer != nullptr && capacity > 0) {
    written = std::min<std::size_t>(log.size(), capacity - 1);
    std::memcpy(*buffer, log.data(), written);
    static_cast<char *>(*buffer)[written] = '\0';
  }
  *size = reinterpret_cast<void *>(written);
}

void writeLogs(const JitOptions &options, std::string_view errorLog) {
  writeLog(options, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, errorLog);
  writeLog(options, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, "");
}

} // namespace fp8jit::emulator
