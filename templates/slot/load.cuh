// Sample: how 16 bytes of an operand row reach shared memory.
#pragma once

#include "gemm/load_16.cuh"
