// Sample: where the scales enter.
#pragma once

#include "gemm/scale_block.cuh"
