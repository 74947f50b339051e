// The loader under libFuzzer: any text must load or be refused with a line and a message. The first
// byte chooses the device. Built only with clang (FP8JIT_FUZZ); a corpus are the .ptx files of the
// tests.
#include "emulator/ptx/program.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  constexpr std::string_view kDevices[] = {"90a", "89", "120a"};
  if (size == 0) {
    return 0;
  }
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  fp8jit::emulator::Module module;
  fp8jit::emulator::PtxError error;
  const bool isLoaded = fp8jit::emulator::loadModule(text, kDevices[data[0] % 3], module, error);
  if (!isLoaded && (error.line == 0 || error.message.empty())) {
    std::abort();
  }
  return 0;
}
