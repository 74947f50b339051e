// Sample of the prelude that the generator writes: the problem's constants and the configuration.
#pragma once

#include "shared/gemm_config.h"

namespace fp8jit {

constexpr int kN = 4096; // columns of D
constexpr int kK = 4096; // inner dimension

constexpr GemmConfig kConfig = {
    .tileM = 128, // rows of D per block
    .tileN = 128, // columns of D per block
    .tileK = 128, // k per pipeline stage
    .warpsM = 2,  // warps along m
    .warpsN = 4,  // warps along n
    .stages = 3,  // shared-memory stages of the cp.async pipeline
    .groupM = 8,  // block rows walked together
};

} // namespace fp8jit
