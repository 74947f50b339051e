// A compiler that compiles nothing: it counts, and fails when told to.
#pragma once

#include "runtime/compiler.h"
#include "support/error.h"

#include <atomic>
#include <functional>
#include <string>

namespace fp8jit::testing {

class FakeCompiler final : public Compiler {
public:
  std::atomic<int> compilations = 0;
  std::atomic<bool> isMissing = false;          ///< no NVRTC on this machine
  std::atomic<bool> doesRefuse = false;         ///< a compile error
  std::function<void()> whileCompiling = [] {}; ///< set before any thread compiles

  llvm::Expected<std::string> identity() override {
    if (isMissing) {
      return fail(ErrorCode::NvrtcNotFound, "no NVRTC on this fake machine");
    }
    return std::string("fake compiler 1");
  }

  llvm::Expected<CompiledProgram> compile(const CompileRequest &request) override {
    if (isMissing) {
      return fail(ErrorCode::NvrtcNotFound, "no NVRTC on this fake machine");
    }
    ++compilations;
    whileCompiling();
    if (doesRefuse) {
      return fail(ErrorCode::CompileError, "refused by the fake compiler",
                  "log\n" + request.source);
    }
    return CompiledProgram{
        .ptx = "//\n.version 9.0\n.target sm_89\n", .cubin = "cubin", .log = "", .compileMs = 1.5};
  }
};

} // namespace fp8jit::testing
