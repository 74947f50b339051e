// Problems that between them reach every template and rule of this build.
#pragma once

#include "generator/generate.h"
#include "generator/problem_text.h"

#include <string>
#include <vector>

namespace fp8jit::testing {

inline const GpuProfile &adaProfile() {
  return *findProfileByArch("89");
}

/// The problem of a valid line.
inline Problem problemOf(const std::string &line) {
  llvm::Expected<Problem> problem = parseProblem(line);
  return problem ? *problem
                 : (llvm::consumeError(problem.takeError()), Problem()); // valid by contract
}

/// GEMMs of every scale pair, output, load and store part, from one row to many.
inline std::vector<std::string> gemmLines() {
  std::vector<std::string> lines;
  for (const char *scales : {"", " sa=row sb=row", " sa=1x128 sb=128x128"}) {
    for (const char *output : {" d=bf16", " d=f32"}) {
      for (const char *shape : {"gemm m=4096 n=4096 k=4096", "gemm m=100 n=384 k=300",
                                "gemm m=17 n=255 k=127", "gemm m=1 n=1 k=1"}) {
        lines.push_back(std::string(shape) + output + scales);
      }
    }
  }
  return lines;
}

/// Quantizations of every unit, source, input format and vector width.
inline std::vector<std::string> quantLines() {
  std::vector<std::string> lines;
  for (const char *unit : {"tensor", "row", "1x128", "128x128"}) {
    for (const char *source : {"amax", "given"}) {
      for (const char *format : {"bf16", "f32"}) {
        for (const char *columns : {"4096", "300", "130", "17"}) {
          lines.push_back(std::string("quant m=1000 n=") + columns + " x=" + format + " s=" + unit +
                          " sc=" + source);
        }
      }
    }
  }
  return lines;
}

inline std::vector<std::string> allLines() {
  std::vector<std::string> lines = gemmLines();
  const std::vector<std::string> quants = quantLines();
  lines.insert(lines.end(), quants.begin(), quants.end());
  return lines;
}

} // namespace fp8jit::testing
