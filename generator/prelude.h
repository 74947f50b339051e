// The parts of a source that the generator writes itself: banner and configuration prelude.
#pragma once

#include "generator/config.h"

#include <string>

namespace fp8jit {

/// The text of slot/config.cuh (GEMM) or slot/quant_config.cuh: problem constants and `config`, one
/// commented line per field.
std::string preludeText(const GemmProblem &problem, const GemmConfig &config);
std::string preludeText(const QuantProblem &problem, const QuantConfig &config);

/// Five comment lines: formula, problem with m's bucket, configuration, target and templates, and
/// the command that rebuilds the source by hand.
std::string bannerText(const Problem &problem, const Config &config, const GpuProfile &profile,
                       llvm::StringRef templatesHash);

} // namespace fp8jit
