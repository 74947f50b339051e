// Runs small PTX kernels on the interpreter. Main types: KernelRunner, LaneProgram.
#pragma once

#include "emulator/exec/global_memory.h"
#include "emulator/exec/launch.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace fp8jit::emulator::testing {

/// Wraps a kernel body (registers declared by it) with three pointer parameters a, b, out, which
/// are loaded into %pa, %pb, %po.
inline std::string kernelText(const std::string &body, const std::string &before = "") {
  return ".version 8.7\n.target sm_89\n.address_size 64\n" + before +
         ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2)\n{\n"
         ".reg .b64 %pa, %pb, %po;\n"
         "ld.param.u64 %pa, [p0];\nld.param.u64 %pb, [p1];\nld.param.u64 %po, [p2];\n" +
         body + "\nret;\n}\n";
}

/// One device memory and what is launched on it.
class KernelRunner {
public:
  GlobalMemory memory{std::uint64_t{1} << 30};
  LaunchRequest request; ///< options for the next run; module, kernel and params are set by run

  template <typename T>
  std::uint64_t upload(const std::vector<T> &values) {
    const std::uint64_t address = memory.allocate(values.size() * sizeof(T));
    EXPECT_TRUE(memory.copyIn(address, values.data(), values.size() * sizeof(T)));
    return address;
  }

  template <typename T>
  std::vector<T> download(std::uint64_t address, std::size_t count) {
    std::vector<T> values(count);
    EXPECT_TRUE(memory.copyOut(values.data(), address, count * sizeof(T)));
    return values;
  }

  /// Loads `text` and runs its first kernel with 64-bit arguments.
  LaunchResult run(const std::string &text, const std::vector<std::uint64_t> &arguments,
                   Dim3 block = {.x = 32}, Dim3 grid = {}) {
    Module module;
    PtxError error;
    if (!loadModule(text, "89", module, error)) {
      ADD_FAILURE() << "line " << error.line << ": " << error.message << "\n" << text;
      return {};
    }
    request.module = &module;
    request.kernel = &module.kernels.at(0);
    request.grid = grid;
    request.block = block;
    request.params.resize(arguments.size() * sizeof(std::uint64_t));
    std::memcpy(request.params.data(), arguments.data(), request.params.size());
    return runGrid(request, memory, *findProfileByArch("89"));
  }
};

} // namespace fp8jit::emulator::testing
