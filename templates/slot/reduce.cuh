// Sample: how threads that share a unit find its amax.
#pragma once

#include "quant/reduce_lanes.cuh"
