// Which handler executes an instruction. Main entry: selectHandler.
#pragma once

#include "emulator/exec/warp_state.h"

namespace fp8jit::emulator {

/// The handlers of the files that are compiled per target. Each function returns null for an
/// instruction that is not of its group or whose form it does not know.
struct HandlerGroups {
  Handler (*selectMove)(const Instruction &);
  Handler (*selectInteger)(const Instruction &);
  Handler (*selectBits)(const Instruction &);
  Handler (*selectNarrow)(const Instruction &);
  Handler (*selectFloat)(const Instruction &);
  Handler (*selectHalf)(const Instruction &);
  Handler (*selectCompare)(const Instruction &);
  Handler (*selectSelection)(const Instruction &);
  Handler (*selectConvert)(const Instruction &);
  Handler (*selectMemory)(const Instruction &);
  Handler (*selectAtomic)(const Instruction &);
  Handler (*selectAsyncCopy)(const Instruction &);
  Handler (*selectMatrix)(const Instruction &);
};

namespace portable {
HandlerGroups handlerGroups();
}
namespace avx2 {
/// Only for processors with AVX2, FMA and F16C.
HandlerGroups handlerGroups();
} // namespace avx2

Handler selectControl(const Instruction &instruction);
Handler selectCollective(const Instruction &instruction);
Handler selectBarrier(const Instruction &instruction);
Handler selectClusterBarrier(const Instruction &instruction);
Handler selectWarpgroup(const Instruction &instruction);
Handler selectBulkCopy(const Instruction &instruction);
Handler selectClusterOperation(const Instruction &instruction);
Handler selectMbarrier(const Instruction &instruction);
Handler selectGridDependency(const Instruction &instruction);
Handler selectTensorCopy(const Instruction &instruction);

/// The handler of `instruction` with the widest vectors that this processor has, or null if no
/// group knows its form. Thread safe.
Handler selectHandler(const Instruction &instruction);

/// The same from the portable handlers, for comparison in tests.
Handler selectPortableHandler(const Instruction &instruction);

} // namespace fp8jit::emulator
