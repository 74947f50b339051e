// Reductions of arrays in memory: cp.reduce.async.bulk with and without a tensor map. Main entry:
// selectReduction. Source: PTX ISA, "cp.reduce.async.bulk" and "cp.reduce.async.bulk.tensor".
#pragma once

#include "emulator/ptx/operation.h"

#include <cstddef>
#include <cstdint>

namespace fp8jit::emulator {

/// Reduces `count` elements at `source` into those at `destination`, each with one relaxed atomic
/// operation: other threads may update the same elements. `destination` is aligned to the element.
using ReduceFunction = void (*)(std::uint8_t *destination, const std::uint8_t *source,
                                std::size_t count);

/// The reduction of `type` (U32, S32, U64, S64, B32, B64, F16, BF16, F32, F64) by `operation`, or
/// null if PTX has none: add of the integers but S64 and of the floating types, min and max of the
/// integers, F16 and BF16, inc and dec of U32, and, or and xor of any integer. S64 adds as U64.
ReduceFunction selectReduction(AtomicOp operation, Type type);

} // namespace fp8jit::emulator
