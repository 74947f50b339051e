// The order of operands. Main entry: arrangeOperands.
#pragma once

#include "emulator/ptx/forms.h"

#include <cstdint>
#include <vector>

namespace fp8jit::emulator {

/// Brings the operands of `instruction`, which are the last ones of `operands` in the order of the
/// text, into the order of operation.h, and appends kNoSlot for those that are absent.
void arrangeOperands(const Form &form, Instruction &instruction,
                     std::vector<std::uint32_t> &operands);

} // namespace fp8jit::emulator
