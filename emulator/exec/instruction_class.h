// Facts about instructions that follow from their operation alone. Main entries: classify,
// isPredicateOperand, instructionName (findings.h).
#pragma once

#include "emulator/ptx/program.h"

#include <string_view>

namespace fp8jit::emulator {

/// What the counters tell apart.
enum class InstructionClass : std::uint8_t { Integer, Float, Other };

/// Integer: arithmetic, logic and comparison of integers, moves and address conversions. Float:
/// f16, f32 and f64 arithmetic and comparison, and every conversion from or to such a type.
InstructionClass classify(const Instruction &instruction);

/// Whether operand `index` (destinations first) is a predicate index and not a slot; follows the
/// list at the head of program.h.
bool isPredicateOperand(const Instruction &instruction, unsigned index);

/// Whether a split parked at this instruction needs the whole warp, so that a lane which leaves is
/// an error rather than one lane fewer to wait for.
bool isAlignedOperation(const Instruction &instruction);

/// The PTX mnemonic of an operation, for example "ld" or "cp.async".
std::string_view opName(Op op);

} // namespace fp8jit::emulator
