// The demo's table as text. Main entry: printTable.
#pragma once

#include "tests/demo/layer_run.h"

#include <string>
#include <vector>

namespace fp8jit::demo {

/// One line per projection under a heading line, columns aligned.
std::string printTable(const std::vector<ProjectionResult> &results);

} // namespace fp8jit::demo
