#include "tests/emulator/ptx/ptx_support.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace fp8jit::emulator::testing {

const std::vector<std::string> &realPtxFiles() {
  static const std::vector<std::string> kFiles = {"scalar.ptx", "collectives.ptx",
                                                  "tensor_tile.ptx", "calls.ptx"};
  return kFiles;
}

std::string readPtxFile(const std::string &name) {
  std::ifstream file(std::string(FP8JIT_PTX_DATA_DIR) + "/" + name, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << name;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string moduleWith(const std::string &body, const std::string &target) {
  return ".version 9.0\n.target " + target +
         "\n.address_size 64\n"
         ".global .align 4 .b8 table[16] = {1, 2, 3};\n"
         ".extern .shared .align 128 .b8 dynamicBytes[];\n"
         ".visible .entry k(.param .u64 k_0, .param .u32 k_1, .param .align 8 .b8 k_2[24])\n"
         "{ .reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<10>; .reg .f32 %f<10>;\n"
         ".reg .b64 %rd<10>; .reg .f64 %d<10>; .shared .align 16 .b8 tile[64];\n" +
         body + "\n}\n";
}

Kernel decodeKernel(const std::string &body, const std::string &target) {
  Module module;
  PtxError error;
  const bool isLoaded =
      loadModule(moduleWith(body, target), target.substr(3), {.shareSlots = false}, module, error);
  if (!isLoaded) {
    std::fprintf(stderr, "%s\nline %u: %s\n", body.c_str(), error.line, error.message.c_str());
    std::abort();
  }
  return module.kernels.at(0);
}

PtxError loadError(const std::string &text, const std::string &arch) {
  Module module;
  PtxError error;
  EXPECT_FALSE(loadModule(text, arch, module, error)) << text;
  return error;
}

PtxError bodyError(const std::string &body, const std::string &target) {
  return loadError(moduleWith(body, target), target.substr(3));
}

std::uint64_t constantIn(const Kernel &kernel, std::uint32_t slot) {
  for (const ConstantSlot &constant : kernel.constants) {
    if (constant.slot == slot) {
      return constant.bits;
    }
  }
  ADD_FAILURE() << "slot " << slot << " holds no constant";
  return 0;
}

std::uint32_t sharedOffsetIn(const Kernel &kernel, std::uint32_t slot) {
  for (const SharedSlot &shared : kernel.sharedSymbols) {
    if (shared.slot == slot) {
      return shared.offset;
    }
  }
  ADD_FAILURE() << "slot " << slot << " holds no shared address";
  return 0;
}

std::uint32_t operandOf(const Kernel &kernel, const Instruction &instruction, std::uint32_t index) {
  return kernel.operands.at(instruction.operands + index);
}

} // namespace fp8jit::emulator::testing
