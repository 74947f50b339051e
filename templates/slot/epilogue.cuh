// Sample: how two results are rounded and stored.
#pragma once

#include "gemm/store_bf16_packed.cuh"
