// Addresses of shared memory that one thread hands to an instruction. Main entry:
// readSharedAddress.
#pragma once

#include "emulator/exec/warp_state.h"

#include <cstdint>

namespace fp8jit::emulator {

/// An address operand: slot, width, displacement and space.
struct AddressOperand {
  std::uint32_t slot = kNoSlot;
  bool is64 = false;
  std::int64_t displacement = 0;
  Space space = Space::Shared;
};

/// Operand `index` among the addresses of `step` (0 or 1, with its displacement; 2 without), which
/// stands at source `source`.
AddressOperand addressOperand(const Step &step, unsigned index, unsigned source, Space space);

/// The address that lane `lane` names, 64 bits as the program has it. In spaces with 32-bit
/// addresses the sum wraps at 32 bits.
std::uint64_t readAddress(const Warp &warp, const AddressOperand &operand, unsigned lane);

/// The shared::cluster address that lane `lane` names. Stop, with a report, if a generic address is
/// none of shared memory, or the space is shared::cta and the address that of another block.
Outcome readSharedAddress(Warp &warp, const Step &step, const AddressOperand &operand,
                          unsigned lane, std::uint32_t &address);

} // namespace fp8jit::emulator
