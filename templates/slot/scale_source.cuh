// Sample: where a unit's scale comes from.
#pragma once

#include "quant/source_amax.cuh"
