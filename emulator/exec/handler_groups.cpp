// The table of one target's handler groups; compiled once per target.
#include "emulator/exec/convert_packed.h"
#include "emulator/exec/handlers.h"

namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET {

Handler selectMove(const Instruction &instruction);
Handler selectInteger(const Instruction &instruction);
Handler selectBits(const Instruction &instruction);
Handler selectNarrow(const Instruction &instruction);
Handler selectFloat(const Instruction &instruction);
Handler selectHalf(const Instruction &instruction);
Handler selectCompare(const Instruction &instruction);
Handler selectSelection(const Instruction &instruction);
Handler selectConvert(const Instruction &instruction);
Handler selectMemory(const Instruction &instruction);
Handler selectAtomic(const Instruction &instruction);
Handler selectAsyncCopy(const Instruction &instruction);
Handler selectMatrix(const Instruction &instruction);

HandlerGroups handlerGroups() {
  return {.selectMove = &selectMove,
          .selectInteger = &selectInteger,
          .selectBits = &selectBits,
          .selectNarrow = &selectNarrow,
          .selectFloat = &selectFloat,
          .selectHalf = &selectHalf,
          .selectCompare = &selectCompare,
          .selectSelection = &selectSelection,
          .selectConvert = &selectConvert,
          .selectMemory = &selectMemory,
          .selectAtomic = &selectAtomic,
          .selectAsyncCopy = &selectAsyncCopy,
          .selectMatrix = &selectMatrix};
}

} // namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET
