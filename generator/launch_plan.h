// How the entries of a source are launched; gridBlocks and workspaceBytes of generate.h live beside
// it.
#pragma once

#include "generator/generate.h"

namespace fp8jit {

/// The entries of the source of (problem, config), in launch order.
std::vector<KernelEntry> kernelEntries(const Problem &problem, const Config &config);

} // namespace fp8jit
