// Turning CUDA source into PTX and cubin, as an interface that tests can fake. The real one is
// runtime/nvrtc_compiler.h.
#pragma once

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace fp8jit {

struct CompileRequest {
  std::string source;
  std::vector<std::string> options; ///< as compileOptions gives them, one string each
};

/// PTX and cubin come from one call, so they belong together.
struct CompiledProgram {
  std::string ptx;
  std::string cubin; ///< empty if the options name a virtual architecture
  std::string log;   ///< compiler and ptxas output
  double compileMs = 0;
};

/// Implementations are thread safe: several threads may compile at once.
class Compiler {
public:
  virtual ~Compiler() = default;

  /// What distinguishes this compiler from others that print the same version; part of every key.
  /// Cheap: does not load the compiler where that can be avoided. Errors: NvrtcNotFound.
  virtual llvm::Expected<std::string> identity() = 0;

  /// Errors: NvrtcNotFound; CompileError with log and source in the details.
  virtual llvm::Expected<CompiledProgram> compile(const CompileRequest &request) = 0;
};

} // namespace fp8jit
