// tensormap.replace: changes one field of a tensor map in place. Main entry: replaceField. Source:
// PTX ISA, "tensormap.replace".
#pragma once

#include "emulator/ptx/operation.h"
#include "emulator/tensor_map/tensor_map.h"

#include <cstdint>
#include <string>

namespace fp8jit::emulator {

/// Sets `field` (for fields with one value per dimension, that of `ordinal`) to `value` as PTX
/// numbers it: rank less one, element types in the order of PTX. Empty on success; else what is
/// wrong with ordinal or value, and the map is unchanged. Whether the fields fit together is not
/// checked: a program changes them one by one.
std::string replaceField(TensorMap &map, TensormapField field, unsigned ordinal,
                         std::uint64_t value);

/// The qualifier of a field, for reports: "global_address".
std::string_view fieldName(TensormapField field);

} // namespace fp8jit::emulator
