// What the files of the tensor copies share. Main entry: selectTensormap.
#pragma once

#include "emulator/exec/warp_state.h"
#include "emulator/tensor_map/tensor_map.h"

namespace fp8jit::emulator {

/// The part of selectTensorCopy (handlers.h) that tensormap.cpp has: the handler of
/// TensormapReplace, TensormapCopy and the tensor-map fences; null for other instructions.
Handler selectTensormap(const Instruction &instruction);
/// The part of bulk_groups.cpp: the handler of BulkCommit and BulkWait; null for others.
Handler selectBulkGroup(const Instruction &instruction);

/// The PTX type as which reductions take the elements of a map; None for packed types.
Type reductionType(TensorElement element);

} // namespace fp8jit::emulator
