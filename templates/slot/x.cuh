// Sample: the element format of X.
#pragma once

#include "quant/x_bf16.cuh"
