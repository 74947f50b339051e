// Address operands of instructions that act for single threads.
#include "emulator/exec/shared_address.h"

#include "emulator/exec/cluster.h"

#include <cinttypes>
#include <cstdio>

namespace fp8jit::emulator {

AddressOperand addressOperand(const Step &step, unsigned index, unsigned source, Space space) {
  const Instruction &instruction = *step.instruction;
  return {.slot = step.operands[instruction.numDst + source],
          .is64 = ((instruction.addressBits >> index) & 1U) != 0,
          .displacement = index == 0   ? instruction.immediate
                          : index == 1 ? instruction.immediate2
                                       : 0,
          .space = space};
}

std::uint64_t readAddress(const Warp &warp, const AddressOperand &operand, unsigned lane) {
  const auto added = static_cast<std::uint64_t>(operand.displacement);
  if (operand.is64) {
    return warp.lanes<const std::uint64_t>(operand.slot)[lane] + added;
  }
  return static_cast<std::uint32_t>(warp.lanes<const std::uint32_t>(operand.slot)[lane] + added);
}

Outcome readSharedAddress(Warp &warp, const Step &step, const AddressOperand &operand,
                          unsigned lane, std::uint32_t &address) {
  const std::uint64_t named = readAddress(warp, operand, lane);
  address = static_cast<std::uint32_t>(named);
  const Block &block = *warp.block;
  const bool isGeneric = operand.space == Space::Generic;
  char text[96];
  if (isGeneric ? (named & kWindowMask) != kSharedWindow : named >> 32 != 0) {
    std::snprintf(text, sizeof(text), "needs an address of shared memory, found 0x%" PRIx64, named);
  } else if (operand.space == Space::Shared && address >> SharedMemory::kRankShift != block.rank) {
    std::snprintf(text, sizeof(text),
                  "needs an address of its own block's shared memory, found 0x%08x", address);
  } else {
    return Outcome::Next;
  }
  return block.launch->findings.add(warp, *step.instruction, LaneMask{1} << lane,
                                    Fault::IllegalAddress, Severity::HardwareFault, text);
}

} // namespace fp8jit::emulator
